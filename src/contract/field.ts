import * as z from 'zod/mini';
import { type RequestField, sentenceOf } from './request-fields.ts';
import { namesOf } from './vocabulary.ts';

/** A JSON schema, or a part of one. Names only the keywords that this code reads. */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema | false;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  enum?: readonly unknown[];
  [keyword: string]: unknown;
}

/** A field of a message: its schema, and its only description. */
export interface Field<Schema extends z.ZodMiniType = z.ZodMiniType> {
  schema: Schema;
  /** Includes unit and format where they matter. Lines of the manifest name the fields of the service that they prove. */
  description: string;
  /** JSON schema for checks that zod cannot convert, because they are functions. */
  json: JsonSchema;
}

/** The fields of a message by name, in display order. */
export type Fields = Readonly<Record<string, Field>>;

type ShapeOf<All extends Fields> = { -readonly [Name in keyof All]: All[Name]['schema'] };

/** A message with its description. */
export interface Message {
  /** Its name in the OpenAPI document and in the types of the library. */
  name: string;
  description: string;
  schema: z.ZodMiniType;
  fields: Fields;
  /** `input` describes a request before parsing, `output` everything else. */
  io: 'input' | 'output';
  example?: unknown;
  /** JSON schema for what zod cannot convert. */
  json?: JsonSchema;
}

/** Every message of the loaded modules, by name. */
export const MESSAGES = new Map<string, Message>();
/** Every route query of the loaded modules. */
export const QUERIES: typeof MESSAGES = new Map();
const BY_SCHEMA = new WeakMap<object, Message>();

export function field<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  json: JsonSchema = {},
): Field<Schema> {
  return { schema, description, json };
}

export function optional<Schema extends z.ZodMiniType>({ schema, ...rest }: Field<Schema>) {
  return { ...rest, schema: z.optional(schema) };
}

export function omit<All extends Fields, Name extends keyof All>(
  fields: All,
  ...names: readonly Name[]
): Omit<All, Name> {
  const kept = { ...fields };
  for (const name of names) delete kept[name];
  return kept;
}

export function shapeOf<All extends Fields>(fields: All): ShapeOf<All> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as ShapeOf<All>;
}

/** The values of a record for which a schema has fields. */
export function project<Shape extends z.core.$ZodShape, Values extends object>(
  { shape }: z.ZodMiniObject<Shape>,
  record: Values,
): Pick<Values, keyof Values & keyof Shape> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name in shape)) as typeof record;
}

/** A response, an event or a stored record. */
export function record<All extends Fields>(
  name: string,
  description: string,
  fields: All,
  example?: unknown,
) {
  return named({ name, description, fields, io: 'output', example }, z.object(shapeOf(fields)));
}

/** A request. Unknown fields are rejected. */
export function request<All extends Fields>(
  name: string,
  description: string,
  fields: All,
  example?: unknown,
  ...checks: readonly z.core.CheckFn<z.output<z.ZodMiniObject<ShapeOf<All>>>>[]
) {
  const schema = z.strictObject(shapeOf(fields)).check(...checks);
  return named({ name, description, fields, io: 'input', example }, schema);
}

/** The query of a route. Only the library types use its name: OpenAPI describes the parameters one by one. */
export function query<All extends Fields>(name: string, description: string, fields: All) {
  return named({ name, description, fields, io: 'input' }, z.strictObject(shapeOf(fields)), QUERIES);
}

/** Registers the name and description of a schema. `messageOf` finds them by the schema. */
export function named<Schema extends z.ZodMiniType>(
  described: Omit<Message, 'schema'>,
  schema: Schema,
  among = MESSAGES,
): Schema {
  if (among.has(described.name)) throw new Error(`two messages are called ${described.name}`);
  const message = { ...described, schema };
  among.set(described.name, message);
  BY_SCHEMA.set(schema, message);
  return schema;
}

/** The message of a schema; undefined if it has no name. */
export function messageOf(schema: z.ZodMiniType): Message | undefined {
  return BY_SCHEMA.get(schema);
}

/** A page of a list, newest first. */
export function page<Item extends z.ZodMiniType>(name: string, item: Item, what: string) {
  return record(name, `A page of ${what}.`, {
    ...wholeListFields(item, what, 'newest first'),
    nextCursor: field(nullableText, 'Pass it as `cursor` to get the next page; null on the last page.'),
  });
}

/** A list without paging, in the shape of a page. */
export function wholeList<Item extends z.ZodMiniType>(
  name: string,
  item: Item,
  what: string,
  order = 'newest first',
) {
  return record(name, `All ${what}.`, wholeListFields(item, what, order));
}

/** The fields of a list without paging. */
export function wholeListFields<Item extends z.ZodMiniType>(item: Item, what: string, order: string) {
  return {
    data: field(z.array(item), `The ${what}, ${order}.`),
    nextCursor: field(z.null(), 'Always null: this list is not paginated.'),
  };
}

/*
 * The types of fields.
 */

export const text = z.string();
export const nullableText = z.nullable(text);
export const yesOrNo = z.boolean();
export const count = z.int().check(z.nonnegative());

/** The fields of a request as texts of a record. */
export function texts<Name extends string>(
  fields: Readonly<Record<Name, RequestField>>,
): Record<Name, Field<typeof text>> {
  const shown = namesOf(fields).map((name) => [name, field(text, sentenceOf(fields[name]))]);
  return Object.fromEntries(shown);
}

/** Decimal text, negative too. */
export const money = z.string().check(z.regex(/^-?\d+(\.\d+)?$/));
/** ISO 8601 UTC. */
export const TIME: JsonSchema = { format: 'date-time' };
/** Merchants' addresses may contain characters that are invalid in a strict URI. */
export const ADDRESS: JsonSchema = { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' };
/** An address that the emulator generates. */
export const LINK: JsonSchema = { format: 'uri' };

/**
 * A time as stored and shown: ISO 8601 UTC, in the years that JavaScript dates support. A text without a day or
 * a time would break pages.
 */
export const momentText = z
  .string()
  .check(
    z.regex(
      /^(\d{4}|[+-]([01]\d|2[0-6])\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
      { error: 'must be a time such as 2026-05-01T09:30:00.000Z' },
    ),
  );

/** The time of a scheduled event. An event with an invalid date would never fire, or fire forever. */
export const dueTime = momentText.check(
  z.refine((value) => !Number.isNaN(Date.parse(value)), { error: 'must be a valid date' }),
);

export function time(description: string): Field<typeof momentText> {
  return field(momentText, description, TIME);
}
