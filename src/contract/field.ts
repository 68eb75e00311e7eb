import * as z from 'zod/mini';
import type { Source } from './vocabulary.ts';

/** A JSON schema, or a part of one: the keywords that are looked at here, and any other. */
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
  'x-source'?: Source;
  /** Lines of the manifest that show it. */
  'x-fidelity'?: readonly string[];
  [keyword: string]: unknown;
}

/** A field of a message: what it may hold, and the one sentence that is said of it wherever it is shown. */
export interface Field<Schema extends z.ZodMiniType = z.ZodMiniType> {
  schema: Schema;
  /** Unit and format where they matter. Marks in it are its source: see `readMarks`. */
  description: string;
  /** What its schema cannot say in JSON schema, because a function checks it. */
  json: JsonSchema;
}

/** The fields of a message by name, in the order in which they are read. */
export type Fields = Readonly<Record<string, Field>>;

type ShapeOf<All extends Fields> = { -readonly [Name in keyof All]: All[Name]['schema'] };

/** What is said of a message as a whole. */
export interface Message {
  /** Its name in the OpenAPI document and in the types of the library. */
  name: string;
  description: string;
  schema: z.ZodMiniType;
  /** None where its JSON schema is made elsewhere. */
  fields: Fields | null;
  /** Requests are described as they come in, everything else as it goes out. */
  io: 'input' | 'output';
  example?: unknown;
  /** What its schema cannot say as a whole. */
  json?: JsonSchema;
}

/** Every message of the modules that are loaded, by name. */
export const MESSAGES = new Map<string, Message>();
/** Every query of a route, of the modules that are loaded. */
export const QUERIES: typeof MESSAGES = new Map();
const BY_SCHEMA = new WeakMap<object, Message>();

export function field<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  json: JsonSchema = {},
): Field<Schema> {
  return { schema, description, json };
}

export function optional<Schema extends z.ZodMiniType>({ schema, ...said }: Field<Schema>) {
  return { ...said, schema: z.optional(schema) };
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

/** A message that goes out, or that is stored. */
export function record<All extends Fields>(name: string, description: string, fields: All) {
  return named({ name, description, fields, io: 'output' }, z.object(shapeOf(fields)));
}

/** A message that comes in: fields that it does not know are refused. */
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

/** The query of a route. Its name is for the types of the library: a document describes the parameters one by one. */
export function query<All extends Fields>(name: string, description: string, fields: All) {
  return named({ name, description, fields, io: 'input' }, z.strictObject(shapeOf(fields)), QUERIES);
}

/** Gives a schema its name and its sentence; both are found by the schema. */
export function named<Schema extends z.ZodMiniType>(
  said: Omit<Message, 'schema'>,
  schema: Schema,
  among = MESSAGES,
): Schema {
  if (among.has(said.name)) throw new Error(`two messages are called ${said.name}`);
  const message = { ...said, schema };
  among.set(said.name, message);
  BY_SCHEMA.set(schema, message);
  return schema;
}

/** What was said of a schema; undefined for one without a name. */
export function messageOf(schema: z.ZodMiniType): Message | undefined {
  return BY_SCHEMA.get(schema);
}

/** A page of a list, newest first. */
export function page<Item extends z.ZodMiniType>(name: string, item: Item, what: string) {
  return record(name, `A page of a list of ${what}.`, {
    ...wholeListFields(item, what, 'newest first'),
    nextCursor: field(nullableText, 'Hand it back as `cursor` to get the next page; null on the last one.'),
  });
}

/** A list that always comes whole, in the shape of a page. */
export function wholeList<Item extends z.ZodMiniType>(
  name: string,
  item: Item,
  what: string,
  order = 'newest first',
) {
  return record(name, `All ${what}.`, wholeListFields(item, what, order));
}

/** The fields of a list that always comes whole. */
export function wholeListFields<Item extends z.ZodMiniType>(item: Item, what: string, order: string) {
  return {
    data: field(z.array(item), `The ${what}, ${order}.`),
    nextCursor: field(z.null(), 'Always null: this list comes whole.'),
  };
}

/*
 * What fields are made of.
 */

export const text = z.string();
export const nullableText = z.nullable(text);
export const yesOrNo = z.boolean();
export const count = z.int().check(z.nonnegative());
/** Decimal text, negative too. */
export const money = z.string().check(z.regex(/^-?\d+(\.\d+)?$/));
/** ISO 8601 UTC. */
export const TIME: JsonSchema = { format: 'date-time' };
/** What merchants give may hold characters that a strict URI may not. */
export const ADDRESS: JsonSchema = { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' };
/** An address that we made. */
export const LINK: JsonSchema = { format: 'uri' };

/**
 * A moment as it is stored and shown: ISO 8601 UTC text, in years that a date can have. One without a day or a time
 * would break the pages that show it.
 */
export const momentText = z
  .string()
  .check(
    z.regex(
      /^(\d{4}|[+-]([01]\d|2[0-6])\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
      { error: 'no time such as 2026-05-01T09:30:00.000Z' },
    ),
  );

/** A time that something waits for: one that cannot be counted with would never come, or never stop coming. */
export const dueTime = momentText.check(
  z.refine((value) => !Number.isNaN(Date.parse(value)), { error: 'no time that can be counted with' }),
);

export function time(description: string): Field<typeof momentText> {
  return field(momentText, description, TIME);
}
