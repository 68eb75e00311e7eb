import * as z from 'zod/mini';
import { didYouMean, type ErrorCode, GatewayError, MAX_PROBLEMS } from './error.ts';
import { field, type JsonSchema } from './field.ts';
import { PAGING_FIELDS, type RequestField, sentenceOf, sentencesOf } from './request-fields.ts';
import { shorten } from './text.ts';
import { DURATION_PATTERN, isDuration, parseDuration } from './time.ts';
import { namesOf } from './vocabulary.ts';

/*
 * Schemas of input, and error messages for invalid input.
 */

/**
 * Parses a value with a schema.
 *
 * @param describe converts an issue to problems
 * @throws GatewayError with this code, naming every invalid field, and the nearest known name for each unknown one
 */
export function parseInput<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  describe = (issue: z.core.$ZodIssue) => describeIssue(issue, knownAt(schema, issue.path)),
  code: ErrorCode = 'invalid_fields',
): z.output<Schema> {
  const parsed = check(schema, value);
  if (parsed.success) return parsed.data;
  const { problems, problemCount } = describeFirst(parsed.error.issues, describe);
  throw new GatewayError(code, problems[0] ?? 'the input is not valid', { problems, problemCount });
}

/**
 * Parses a value with a schema. Issues include the input. Schemas without their own message use one of these, because
 * an application that also uses zod can change zod's messages.
 */
export function check<Schema extends z.ZodMiniType>(schema: Schema, value: unknown) {
  return z.safeParse(schema, value, {
    reportInput: true,
    error: ({ code, expected }) =>
      code === 'invalid_type' ? `must be of the type ${expected}` : 'is not valid',
  });
}

/** Describes only the problems that the error lists: finding the nearest names of 100,000 unknown fields is slow. */
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

/** The fields that a schema has at the path of an issue. */
function knownAt(schema: z.ZodMiniType, path: readonly PropertyKey[]): string[] {
  let here: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    if (here instanceof z.ZodMiniArray) here = here._zod.def.element;
    else if (here instanceof z.ZodMiniObject) here = here._zod.def.shape[String(step)];
    if (here instanceof z.ZodMiniOptional) here = here._zod.def.innerType;
  }
  return here instanceof z.ZodMiniObject ? Object.keys(here._zod.def.shape) : [];
}

/** Describes an issue in full sentences. @param known the field names at its path */
export function describeIssue(issue: z.core.$ZodIssue, known: readonly string[] = []): string[] {
  const path = issue.path.join('.') || 'the input';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const name = [...issue.path, key].join('.');
        const others = known.length ? `; known: ${known.join(', ')}` : ': no fields are accepted here';
        return `unknown field ${name}${didYouMean(key, known, others)}`;
      });
    case 'invalid_value':
      return [`${path} must be ${describeChoice(issue.values, issue.input)}`];
    case 'invalid_type':
      return [`${path} ${issue.input === undefined ? 'is required' : issue.message}`];
    default:
      return [`${path} ${issue.message}`];
  }
}

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

/** Text that is valid unless `problem` returns a message. */
export function textWithout(problem: (value: string) => string | undefined) {
  return z.string().check((checked) => {
    const message = problem(checked.value);
    if (message) checked.issues.push({ code: 'custom', input: checked.value, message });
  });
}

/** A whole number from `min` to `max` in a query or a body. Digits as text are accepted. */
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

/** The paging parameters of a list. */
export const PAGING = {
  limit: optionalNumber(1, 1_000, sentencesOf(PAGING_FIELDS.limit)),
  cursor: {
    ...optionalNumber(0, 2 ** 31, sentenceOf(PAGING_FIELDS.cursor)),
    json: { type: ['integer', 'string'] },
  },
} as const;

export function optionalText(description: string, json: JsonSchema = {}) {
  return field(z.optional(z.string()), description, json);
}

export function optionalTexts<Name extends string>(
  fields: Readonly<Record<Name, RequestField>>,
): Record<Name, ReturnType<typeof optionalText>> {
  const texts = namesOf(fields).map((name) => [name, optionalText(sentencesOf(fields[name]))]);
  return Object.fromEntries(texts);
}
