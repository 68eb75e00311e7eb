import * as z from 'zod/mini';
import { isEmail, urlProblem } from '../contract/address.ts';
import {
  ADDRESS,
  type Field,
  type Fields,
  field,
  type JsonSchema,
  named,
  shapeOf,
} from '../contract/field.ts';
import { type ServiceField, sentenceOf } from '../contract/request-fields.ts';
import { characters, shorten } from '../contract/text.ts';
import { type PostedFields, Unreadable } from './body.ts';

/** A message that a merchant or a customer posts. Unknown fields are ignored (observed: initiate-unknown-*). */
export function postedMessage<All extends Fields>(
  name: string,
  description: string,
  fields: All,
  example?: unknown,
) {
  return named({ name, description, fields, io: 'input', example }, z.object(shapeOf(fields)));
}

/**
 * The values of a request as Laravel passes them to its validation (TrimStrings and ConvertEmptyStringsToNull; chosen:
 * field-trimmed-*): without white space around texts, and without values that are null or empty.
 */
export function trimmed(fields: PostedFields['fields']): Record<string, unknown> {
  const values: [name: string, value: unknown][] = [];
  for (const [name, given] of Object.entries(fields)) {
    const value = typeof given === 'string' ? given.trim() : given;
    if (value !== null && value !== '') values.push([name, value]);
  }
  return Object.fromEntries(values);
}

/** The problem with a value; undefined if it is valid. */
type Problem = (value: string) => string | undefined;

/** A required text field without a `problem`. `otherType` is the problem with other types. */
export function required(
  problem: Problem,
  description: string,
  json: JsonSchema = {},
  otherType: (input: unknown) => string = () => 'must be text',
): Field<z.ZodMiniString> {
  const schema = z
    .string({
      error: ({ input }) => {
        if (input instanceof Unreadable) return input.problem;
        return input === undefined ? 'is required' : otherType(input);
      },
    })
    .check(({ value, issues }) => {
      const message = nulProblem(value) ?? problem(value);
      if (message) issues.push({ code: 'custom', input: value, message });
    });
  return field(schema, description, { minLength: 1, ...json });
}

function nulProblem(value: string): string | undefined {
  const at = value.indexOf('\0');
  return at === -1 ? undefined : `has a NUL byte (%00) at position ${at + 1}, which is not text`;
}

type TextFields<All extends Readonly<Record<string, { wire: string }>>> = {
  [Name in keyof All as All[Name]['wire']]: Field<z.ZodMiniString>;
};

/** The required texts of a request, by their names on the wire. @param loose accepts texts of any length */
export function textFields<All extends Readonly<Record<string, ServiceField>>>(fields: All, loose = false) {
  const texts = Object.values(fields).map((one) => [one.wire, textField(one, loose)]);
  return Object.fromEntries(texts) as TextFields<All>;
}

function textField(described: ServiceField, loose: boolean): Field<z.ZodMiniString> {
  const { kind, max = 0, example = described.fallback ?? '' } = described;
  if (kind === 'url') return address(sentenceOf(described), example);
  const problem: Problem = (value) => {
    const length = loose ? undefined : lengthProblem(value, max);
    if (length !== undefined || kind === undefined || isEmail(value)) return length;
    return `must be a valid e-mail address (got "${shorten(value)}")`;
  };
  return required(problem, sentenceOf(described), { maxLength: max, ...(kind && { format: kind }) });
}

/** A required absolute http(s) address. Its error shows `example`. */
export function address(description: string, example: string) {
  return required((value) => urlProblem(value, example), description, { maxLength: 2048, ...ADDRESS });
}

/** The JSON schema of an amount. A number is converted to its shortest decimal text. */
export function amountJson(pattern: string): JsonSchema {
  return { type: ['string', 'number'], pattern, exclusiveMinimum: 0 };
}

/** Why a text is too long; undefined if it is not. */
export function lengthProblem(value: string, max: number): string | undefined {
  const length = value.length > max ? characters(value) : 0;
  return length > max ? `must have at most ${max} characters (got ${length})` : undefined;
}
