import * as z from 'zod/mini';
import { shorten } from './address.ts';
import { DURATION_PATTERN, isDuration, parseDuration } from './duration.ts';
import { didYouMean, type ErrorCode, GatewayError, MAX_PROBLEMS } from './error.ts';
import { field, type JsonSchema } from './field.ts';

/*
 * Schemas of what comes in, and what is said of input that does not fit.
 */

/**
 * A value as the schema wants it.
 *
 * @param describe the problems that an issue stands for
 * @throws GatewayError of this code, naming every field that is wrong, unknown ones with the nearest known name
 */
export function parseInput<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  describe = (issue: z.core.$ZodIssue) => describeIssue(issue, knownAt(schema, issue.path)),
  code: ErrorCode = 'invalid_fields',
): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data as z.output<Schema>;
  const { problems, problemCount } = describeFirst(parsed.error.issues, describe);
  throw new GatewayError(code, problems[0] ?? 'the input is not valid', { problems, problemCount });
}

/** Only what an error names is put into words: the nearest name of each of 100,000 unknown fields takes long. */
function describeFirst(
  issues: readonly z.core.$ZodIssue[],
  describe: (issue: z.core.$ZodIssue) => readonly string[],
) {
  const problems: string[] = [];
  let problemCount = 0;
  for (const issue of issues) {
    const isMany = issue.code === 'unrecognized_keys';
    problemCount += isMany ? issue.keys.length : 1;
    if (problems.length >= MAX_PROBLEMS) continue;
    problems.push(...describe(isMany ? { ...issue, keys: issue.keys.slice(0, MAX_PROBLEMS) } : issue));
  }
  return { problems, problemCount: Math.max(problemCount, problems.length) };
}

/** The fields that a schema knows at the place of an issue, which may be inside a list. */
function knownAt(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  let here: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    if (here instanceof z.ZodMiniOptional) here = here._zod.def.innerType;
    if (here instanceof z.ZodMiniArray) here = here._zod.def.element;
    else if (here instanceof z.ZodMiniObject) here = here._zod.def.shape[String(step)];
  }
  return here instanceof z.ZodMiniObject ? Object.keys(here._zod.def.shape) : [];
}

/** How half of a character stands in JSON, alone or with the other half: no UTF-8 can hold one otherwise. */
export const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** The message of a schema that has none of its own. */
const UNSAID = 'Invalid input';

/**
 * What an issue says, in whole sentences.
 *
 * @param known the names of fields where it was found
 */
export function describeIssue(issue: z.core.$ZodIssue, known: readonly string[] = []): string[] {
  const path = issue.path.join('.') || 'the input';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const name = [...issue.path, key].join('.');
        return `unknown field ${name}${didYouMean(key, known, `; known: ${known.join(', ')}`)}`;
      });
    case 'invalid_value':
      return [`${path} must be ${describeChoice(issue.values, issue.input)}`];
    case 'invalid_type':
      if (issue.input === undefined) return [`${path} is required`];
      // A schema that says what it expects says it of another type, too.
      return [
        `${path} ${issue.message === UNSAID ? `must be of the type ${issue.expected}` : issue.message}`,
      ];
    case 'custom':
      return [issue.message.startsWith(path) ? issue.message : `${path} ${issue.message}`];
    default:
      return [`${path} is not valid${issue.message === UNSAID ? '' : `: ${issue.message}`}`];
  }
}

/** What is expected of a closed set, and what came. */
function describeChoice(values: readonly unknown[], got: unknown): string {
  const expected = `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
  if (got === undefined || (typeof got === 'object' && got !== null)) return expected;
  if (typeof got !== 'string') return `${expected} (got ${got})`;
  return `${expected} (got "${shorten(got)}")${didYouMean(shorten(got), values.map(String))}`;
}

/** Text that passes a check. */
export function textThat(isValid: (value: string) => boolean, expected: string) {
  return z.string({ error: expected }).check(z.refine(isValid, { error: expected }));
}

/** Text in which `problem` finds none. */
export function textWithout(problem: (value: string) => string | undefined) {
  return z.string().check((checked) => {
    const message = problem(checked.value);
    if (message) checked.issues.push({ code: 'custom', input: checked.value, message });
  });
}

/** A whole number in a query or a body, from `min` to `max`; text of digits is read as one. */
export function optionalNumber(min: number, max: number, description: string) {
  const error = `must be a whole number from ${min} to ${max}`;
  const isValid = (value: string | number) =>
    /^\d{1,10}$/.test(String(value)) && Number(value) >= min && Number(value) <= max;
  const schema = z.pipe(
    z.union([z.string(), z.number()]).check(z.refine(isValid, { error })),
    z.transform((value) => Number(value)),
  );
  return field(z.optional(schema), description, { type: 'integer', minimum: min, maximum: max });
}

/** A duration such as `500ms` or `2s`, at most `maxMs`. */
export function durationText(maxMs: number) {
  return textThat(
    (value) => isDuration(value, maxMs),
    `must be a duration such as 500ms, 2s, 1m or 1h, at most ${maxMs / 3_600_000}h`,
  );
}

/** A duration in a query or a body, as milliseconds. */
export function optionalDuration(maxMs: number, description: string) {
  const schema = z.pipe(
    durationText(maxMs),
    z.transform((value) => parseDuration(value) ?? 0),
  );
  return field(z.optional(schema), description, { pattern: DURATION_PATTERN });
}

/** `true`, `false`, `1` or `0` in a query. */
export const switchText = z.pipe(
  z.enum(['true', 'false', '1', '0']),
  z.transform((value) => value === 'true' || value === '1'),
);

/** What a list takes in its query beside its filters. */
export const PAGING = {
  limit: optionalNumber(1, 1_000, 'At most so many; default: 50.'),
  cursor: {
    ...optionalNumber(0, 2 ** 31, '`nextCursor` of the page before.'),
    json: { type: ['integer', 'string'] },
  },
} as const;

export function optionalText(description: string, json: JsonSchema = {}) {
  return field(z.optional(z.string()), description, json);
}
