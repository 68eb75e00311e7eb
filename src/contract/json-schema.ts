import * as z from 'zod/mini';
import { type Field, type JsonSchema, MESSAGES, type Message, messageOf, QUERIES } from './field.ts';

/*
 * JSON schemas of messages: converted by zod, with the descriptions of messages and fields added.
 */

const PREFIX = '#/components/schemas/';

/** A reference to a message of the OpenAPI document. */
export function ref(schema: z.ZodMiniType): JsonSchema {
  return { $ref: PREFIX + (messageOf(schema)?.name ?? '') };
}

/** The JSON schemas of all messages, by name. The schemas reference each other. */
export function componentSchemas(): Record<string, JsonSchema> {
  const sorted = [...MESSAGES.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
  const converted = { input: convert(sorted, 'input'), output: convert(sorted, 'output') };
  return Object.fromEntries(
    sorted.map(({ name, io, description, schema }) => [
      name,
      { description, ...withoutDefaults(annotated(converted[io][name] ?? {}, schema)) },
    ]),
  );
}

/** Generators of types take a field with a default for one that is always there, so the description has the default. */
function withoutDefaults({ properties, ...schema }: JsonSchema): JsonSchema {
  if (!properties) return schema;
  const named = Object.entries(properties).map(([name, { default: value, ...json }]) => [
    name,
    value === undefined ? json : { ...json, description: `${json.description} Default: ${value}.` },
  ]);
  return { ...schema, properties: Object.fromEntries(named) };
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

/** A self-contained JSON schema with all descriptions. */
export function inlineSchema(schema: z.ZodMiniType): JsonSchema {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: tidy('input') });
  return annotated(bare(json), schema);
}

function bare({ $schema: _, $id: __, ...schema }: Record<string, unknown>): JsonSchema {
  return schema;
}

/** Removes useless keywords, and keywords that would stop clients from accepting fields of later versions. */
function tidy(io: Message['io']) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema['propertyNames'];
    // Generated for lists that callers may freeze. In OpenAPI it means that clients must not send the field.
    delete jsonSchema['readOnly'];
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    // Closes a list of fixed values, as its maximum length does. Generators of types expect a schema here.
    if (jsonSchema['items'] === false) delete jsonSchema['items'];
    if (io === 'input') return;
    if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties'];
    // A default is for records stored before the field existed. A response always has the field.
    delete jsonSchema['default'];
  };
}

/** Adds the descriptions of fields, recursively in parts without a name. */
function annotated(json: JsonSchema, schema: z.ZodMiniType): JsonSchema {
  const inner = unwrapped(schema);
  if (json.items) return { ...json, items: annotated(json.items, inner) };
  const { fields, json: more } = messageOf(inner) ?? {};
  if (!fields || json.$ref) return json;
  const { oneOf, properties } = json;
  const described = Object.entries(properties ?? {}).map(([name, part]) => [
    name,
    withField(part, fields[name]),
  ]);
  return {
    ...json,
    ...(properties && { properties: Object.fromEntries(described) }),
    ...(oneOf && { oneOf: oneOf.map((one) => annotated(one, inner)) }),
    ...more,
  };
}

function withField(part: JsonSchema, known: Field | undefined): JsonSchema {
  if (!known) return part;
  const json = annotated(part, known.schema);
  // If the field has its own alternatives or type, they replace the generated ones.
  const { anyOf, ...plain } = json;
  const isReplaced = known.json.anyOf !== undefined || known.json.type !== undefined;
  return { ...(isReplaced ? plain : json), ...known.json, description: known.description };
}

/** The schema inside lists and optional or nullable wrappers. */
function unwrapped(schema: z.ZodMiniType): z.ZodMiniType {
  if (messageOf(schema)) return schema;
  const { innerType, element } = schema._zod.def as { innerType?: z.ZodMiniType; element?: z.ZodMiniType };
  const inner = innerType ?? element;
  return inner ? unwrapped(inner) : schema;
}
