import type { MiddlewareHandler } from 'hono';
import * as z from 'zod/mini';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError, nearestName } from '../contract/error.ts';
import { readJsonBody } from './body.ts';
import type { AppEnvironment } from './environment.ts';

type Input<Target extends string, Schema extends z.ZodMiniType> = {
  in: { [Key in Target]: z.input<Schema> };
  out: { [Key in Target]: z.output<Schema> };
};

/** Reads and checks a JSON body; the handler gets it typed by `c.req.valid('json')`, and so does the typed client. */
export function jsonInput<Schema extends z.ZodMiniObject>(
  schema: Schema,
): MiddlewareHandler<AppEnvironment, string, Input<'json', Schema>> {
  return async (c, next) => {
    const { fields } = await readJsonBody(c);
    c.req.addValidatedData('json', parseInput(schema, fields) as object);
    await next();
  };
}

/** Like `jsonInput` for a request that may come without any body, which stands for an empty object. */
export function optionalJsonInput<Schema extends z.ZodMiniObject>(
  schema: Schema,
): MiddlewareHandler<AppEnvironment, string, Input<'json', Schema>> {
  return async (c, next) => {
    const signs = ['content-type', 'content-length', 'transfer-encoding'].map((name) => c.req.header(name));
    const hasBody = c.req.header('content-length') !== '0' && signs.some((value) => value !== undefined);
    const fields = hasBody ? (await readJsonBody(c)).fields : {};
    c.req.addValidatedData('json', parseInput(schema, fields) as object);
    await next();
  };
}

/** Checks the query; the handler gets it by `c.req.valid('query')`. Of a repeated parameter the last counts. */
export function queryInput<Schema extends z.ZodMiniObject>(
  schema: Schema,
): MiddlewareHandler<AppEnvironment, string, Input<'query', Schema>> {
  return async (c, next) => {
    const values = Object.entries(c.req.queries()).map(([name, list]) => [name, list.at(-1)]);
    c.req.addValidatedData('query', parseInput(schema, Object.fromEntries(values)) as object);
    await next();
  };
}

/**
 * A value as the schema wants it.
 *
 * @throws GatewayError `invalid_fields`, naming every field that is wrong, unknown ones with the nearest known name
 */
export function parseInput<Schema extends z.ZodMiniObject>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data as z.output<Schema>;
  const problems = parsed.error.issues.flatMap((issue) => inWords(issue, knownAt(schema, issue.path)));
  throw new GatewayError('invalid_fields', problems[0] ?? 'the input is not valid', { problems });
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

function inWords(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  const path = issue.path.join('.') || 'the input';
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const meant = nearestName(key, known);
        const name = [...issue.path, key].join('.');
        return `unknown field ${name}${meant ? `: did you mean ${meant}?` : `; known: ${known.join(', ')}`}`;
      });
    case 'invalid_value':
      return [`${path} must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`];
    case 'invalid_type':
      return [
        issue.input === undefined ? `${path} is required` : `${path} must be of the type ${issue.expected}`,
      ];
    case 'custom':
      return [issue.message.startsWith(path) ? issue.message : `${path} ${issue.message}`];
    default:
      return [`${path} is not valid${issue.message ? `: ${issue.message}` : ''}`];
  }
}

/** A whole number in the query or a body, from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  return z
    .pipe(
      z
        .union([z.string(), z.number()])
        .check(
          z.refine(
            (value) => /^\d{1,10}$/.test(String(value)) && Number(value) >= min && Number(value) <= max,
            { error: `must be a whole number from ${min} to ${max}` },
          ),
        ),
      z.transform((value) => Number(value)),
    )
    .register(z.globalRegistry, { type: 'integer', minimum: min, maximum: max });
}

/** A duration such as `500ms` or `2s`, at most `maxMs`, as milliseconds. */
export function durationText(maxMs: number) {
  return z.pipe(
    z.string().check(
      z.refine((text) => (parseDuration(text) ?? Number.POSITIVE_INFINITY) <= maxMs, {
        error: `must be a duration such as 500ms, 2s, 1m or 1h, at most ${maxMs / 3_600_000}h`,
      }),
    ),
    z.transform((text) => parseDuration(text) ?? 0),
  );
}

/** `true`, `false`, `1` or `0` in the query. */
export const flag = z.pipe(
  z.enum(['true', 'false', '1', '0']),
  z.transform((value) => value === 'true' || value === '1'),
);
