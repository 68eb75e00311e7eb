import * as z from 'zod/mini';
import { isEmail, urlProblem } from '../contract/address.ts';
import {
  ADDRESS,
  type Field,
  type Fields,
  field,
  type JsonSchema,
  named,
  optional,
  shapeOf,
} from '../contract/field.ts';
import { characters, shorten } from '../contract/text.ts';

/** A message that a merchant or a customer posts. Unknown fields are ignored (observed: initiate-unknown-*). */
export function postedMessage<All extends Fields>(
  name: string,
  description: string,
  fields: All,
  example?: unknown,
) {
  return named({ name, description, fields, io: 'input', example }, z.object(shapeOf(fields)));
}

/** The problem with a value; undefined if it is valid. */
type Problem = (value: string) => string | undefined;

/** A field with a check that is ten times as fast as its schema. */
export interface PostedField<Schema extends z.ZodMiniType = z.ZodMiniType> extends Field<Schema> {
  /** The problem that the schema would report, without the field's name; undefined if the value is valid. */
  check: (value: unknown) => string | undefined;
  isOptional: boolean;
}

/** A required text field: present, not empty, and without a `problem`. */
export function required(
  problem: Problem,
  description: string,
  json: JsonSchema = {},
): PostedField<z.ZodMiniString> {
  const check = (value: unknown) => {
    if (value === undefined || value === '') return 'is required';
    return typeof value === 'string' ? problem(value) : 'must be text';
  };
  const schema = z.string({ error: ({ input }) => check(input) }).check((given) => {
    const message = check(given.value);
    if (message) given.issues.push({ code: 'custom', input: given.value, message });
  });
  return { ...field(schema, description, { minLength: 1, ...json }), check, isOptional: false };
}

/** A required text from a list of values. */
export function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
  description: string,
  json: JsonSchema = {},
) {
  const message = `must be ${values.join(' or ')}`;
  return {
    ...field(z.enum(values, { error: message }), description, json),
    check: (value: unknown) => (values.some((one) => one === value) ? undefined : message),
    isOptional: false,
  };
}

/** An optional field. */
export function maybe<Schema extends z.ZodMiniType>(posted: PostedField<Schema>) {
  return {
    ...optional(posted),
    check: (value: unknown) => (value === undefined ? undefined : posted.check(value)),
    isOptional: true,
  };
}

/** A required text of at most `max` characters. `loose` accepts any length. */
export function text(max: number, description: string, loose = false) {
  return required(atMost(max, loose), description, { maxLength: max });
}

/** A required e-mail address of at most `max` characters. */
export function email(max: number, description: string, loose = false) {
  const length = atMost(max, loose);
  const problem: Problem = (value) =>
    length(value) ??
    (isEmail(value) ? undefined : `must be a valid e-mail address (got "${shorten(value)}")`);
  return required(problem, description, { maxLength: max, format: 'email' });
}

/** A required absolute http(s) address. */
export function address(description: string) {
  return required(urlProblem, description, { maxLength: 2048, ...ADDRESS });
}

/** The JSON schema of an amount. A number is converted to its shortest decimal text. */
export function amountJson(pattern: string): JsonSchema {
  return { type: ['string', 'number'], pattern, exclusiveMinimum: 0 };
}

function atMost(max: number, loose: boolean): Problem {
  return (value) => {
    if (loose || value.length <= max) return undefined;
    const length = characters(value);
    return length > max ? `must have at most ${max} characters (got ${length})` : undefined;
  };
}
