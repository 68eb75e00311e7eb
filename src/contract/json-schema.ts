import * as z from 'zod/mini';
import { type Field, type JsonSchema, MESSAGES, type Message, messageOf, QUERIES } from './field.ts';
import { readMarks } from './mark.ts';

/*
 * JSON schemas of messages: what zod makes of their schemas, with what is said of them and of their fields.
 */

const PREFIX = '#/components/schemas/';

/** A reference to a message of the OpenAPI document. */
export function ref(schema: z.ZodMiniType): JsonSchema {
  return { $ref: PREFIX + (messageOf(schema)?.name ?? '') };
}

/** Every message that has a name, by name; they refer to each other. */
export function componentSchemas(): Record<string, JsonSchema> {
  const sorted = [...MESSAGES.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const converted = { input: convert(sorted, 'input'), output: convert(sorted, 'output') };
  return Object.fromEntries(
    sorted.map(({ name, io, description, schema }) => [
      name,
      { ...marked(description), ...annotated(converted[io][name] ?? {}, schema) },
    ]),
  );
}

/** The queries of routes by name, for the types of the library. */
export function querySchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(
    [...QUERIES.values()].map(({ name, description, schema }) => [
      name,
      { ...inlineSchema(schema), description },
    ]),
  );
}

function convert(all: readonly Message[], io: Message['io']): Record<string, JsonSchema> {
  const registry = z.registry<{ id?: string }>();
  for (const { name, schema } of all) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (name) => PREFIX + name,
    io,
    unrepresentable: 'any',
    override: tidy(io),
  });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bare(schema)]));
}

/** A schema whole, with what is inside it and all that is said of it, for readers of a single file. */
export function inlineSchema(schema: z.ZodMiniType): JsonSchema {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: tidy('input') });
  return annotated(bare(json), schema);
}

function bare({ $schema: _, $id: __, ...schema }: Record<string, unknown>): JsonSchema {
  return schema;
}

/** Takes away what zod writes and nobody needs, or what would bind those who read a response to the fields of today. */
function tidy(io: Message['io']) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema['propertyNames'];
    // Of a list that callers may freeze; in a document it would mean that it is not to be sent.
    delete jsonSchema['readOnly'];
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    if (io === 'input') return;
    if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
    // Of what was stored before there was such a field; a response has it.
    delete jsonSchema['default'];
  };
}

/** A schema with what is said of its fields, and inside the parts that have no name of their own. */
function annotated(json: JsonSchema, schema: z.ZodMiniType): JsonSchema {
  const inner = unwrapped(schema);
  if (json.items) return { ...json, items: annotated(json.items, inner) };
  const { fields, json: more } = messageOf(inner) ?? {};
  if (!fields || json.$ref) return json;
  const { oneOf, properties } = json;
  const said = Object.entries(properties ?? {}).map(([name, part]) => [name, withField(part, fields[name])]);
  return {
    ...json,
    ...(properties && { properties: Object.fromEntries(said) }),
    ...(oneOf && { oneOf: oneOf.map((one) => annotated(one, inner)) }),
    ...more,
  };
}

function withField(part: JsonSchema, said: Field | undefined): JsonSchema {
  if (!said) return part;
  const json = annotated(part, said.schema);
  // Alternatives or a type that a field names take the place of what zod made of its check.
  const { anyOf, ...plain } = json;
  const isReplaced = said.json.anyOf !== undefined || said.json.type !== undefined;
  return { ...(isReplaced ? plain : json), ...said.json, ...marked(said.description) };
}

/** What is inside lists, and inside what may be left out or null. */
function unwrapped(schema: z.ZodMiniType): z.ZodMiniType {
  if (messageOf(schema)) return schema;
  const { innerType, element } = schema._zod.def as { innerType?: z.ZodMiniType; element?: z.ZodMiniType };
  const inner = innerType ?? element;
  return inner ? unwrapped(inner) : schema;
}

/** A text for people, with what the marks in it say: the source, and the lines that show it. */
export function marked(description: string): JsonSchema {
  const { text, source, lines } = readMarks(description);
  return {
    description: text,
    ...(source && { 'x-source': source }),
    ...(lines.length > 0 && { 'x-fidelity': lines }),
  };
}
