import * as z from 'zod/mini';

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
  [keyword: string]: unknown;
}

/** A field of a message: what it may hold, and the one sentence that is said of it wherever it is shown. */
export interface Field<Schema extends z.ZodMiniType = z.ZodMiniType> {
  schema: Schema;
  /** Unit and format where they matter. A mark such as (documented) is its source. */
  description: string;
  /** What its schema cannot say in JSON schema, because a function checks it. */
  json: JsonSchema;
}

/** The fields of a message by name, in the order in which they are read. */
export type Fields = Readonly<Record<string, Field>>;

/** The shape that zod wants of fields. */
export type ShapeOf<All extends Fields> = { -readonly [Name in keyof All]: All[Name]['schema'] };

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
}

const MESSAGES = new Map<string, Message>();
const BY_SCHEMA = new WeakMap<object, Message>();

/** A field with its sentence. */
export function field<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  json: JsonSchema = {},
): Field<Schema> {
  return { schema, description, json };
}

/** A field that may be left out. */
export function optional<Schema extends z.ZodMiniType>({ schema, ...said }: Field<Schema>) {
  return { ...said, schema: z.optional(schema) };
}

/** Every one of some fields, each of which may be left out. */
export function partial<All extends Fields>(
  fields: All,
): { [Name in keyof All]: Field<z.ZodMiniOptional<All[Name]['schema']>> } {
  return Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, optional(one)])) as ReturnType<
    typeof partial<All>
  >;
}

/** Some fields without those named. */
export function omit<All extends Fields, Name extends keyof All>(
  fields: All,
  ...names: readonly Name[]
): Omit<All, Name> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name as Name))) as Omit<
    All,
    Name
  >;
}

/** The schemas of fields by name. */
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
) {
  return named({ name, description, fields, io: 'input', example }, z.strictObject(shapeOf(fields)));
}

/** Gives a schema its name and its sentence; whoever shows it finds both by the schema. */
export function named<Schema extends z.ZodMiniType>(said: Omit<Message, 'schema'>, schema: Schema): Schema {
  if (MESSAGES.has(said.name)) throw new Error(`two messages are called ${said.name}`);
  const message = { ...said, schema };
  MESSAGES.set(said.name, message);
  BY_SCHEMA.set(schema, message);
  return schema;
}

/** What was said of a schema; undefined for one without a name. */
export function messageOf(schema: z.ZodMiniType): Message | undefined {
  return BY_SCHEMA.get(schema);
}

/** Every message that has a name, of the modules that are loaded. */
export function messages(): readonly Message[] {
  return [...MESSAGES.values()];
}

/** A page of a list, newest first. */
export function page<Item extends z.ZodMiniType>(item: Item, what: string) {
  return list(
    item,
    `A page of a list of ${what}, newest first.`,
    z.nullable(text),
    'Hand it back as `cursor` to get the next page; null on the last one.',
  );
}

/** A list that always comes whole, in the shape of a page. */
export function wholeList<Item extends z.ZodMiniType>(item: Item, what: string) {
  return list(item, `All ${what}.`, z.null(), 'Always null: this list comes whole.');
}

function list<Item extends z.ZodMiniType, Cursor extends z.ZodMiniType>(
  item: Item,
  description: string,
  cursor: Cursor,
  aboutCursor: string,
) {
  const name = `${messageOf(item)?.name}List`;
  return record(name, description, {
    data: field(z.array(item), 'The records.'),
    nextCursor: field(cursor, aboutCursor),
  });
}

/*
 * What fields are made of.
 */

export const text = z.string();
export const flag = z.boolean();
export const count = z.int().check(z.nonnegative());
/** ISO 8601 UTC. */
export const TIME: JsonSchema = { format: 'date-time' };
/** What merchants give may hold characters that a strict URI may not. */
export const ADDRESS: JsonSchema = { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' };
/** An address that we made. */
export const LINK: JsonSchema = { format: 'uri' };

/** A moment as it is stored and shown: ISO 8601 UTC text. */
export function time(description: string): Field<z.ZodMiniString> {
  return field(text, description, TIME);
}

/** One of a closed set. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values);
}
