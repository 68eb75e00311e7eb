import * as z from 'zod/mini';

/** Where a behaviour comes from: the service interface, published clients and deployments, or us. */
export const SOURCES = ['documented', 'observed', 'chosen'] as const;
export type Source = (typeof SOURCES)[number];

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
  [keyword: string]: unknown;
}

/** Requests are described as they come in, answers as they go out. */
export type Direction = 'input' | 'output';

const PREFIX = '#/components/schemas/';

/** Where the schema of that name stands. */
export function uri(name: string): string {
  return PREFIX + name;
}

/** The name of the schema that stands there. */
export function nameAt(reference: string): string {
  return reference.slice(PREFIX.length);
}

/** The JSON schemas of named schemas, which refer to each other by name. */
export function converted(
  named: Readonly<Record<string, z.ZodMiniType>>,
  io: Direction,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id?: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const override = tidy(io);
  const { schemas } = z.toJSONSchema(registry, { uri, io, unrepresentable: 'any', override });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema as JsonSchema]),
  );
}

/** The JSON schema of a schema that has no name, such as a query. */
export function inline(schema: z.ZodMiniType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: tidy('input'),
  });
  return json as JsonSchema;
}

/** Takes away what zod writes and nobody needs, or what would bind those who read an answer to the fields of today. */
function tidy(io: Direction) {
  return ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
    delete jsonSchema['propertyNames'];
    if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
    if (io === 'output' && jsonSchema['additionalProperties'] === false)
      delete jsonSchema['additionalProperties'];
    // A number in the query comes as text: what the handler gets is said instead.
    if (jsonSchema['type'] === 'integer') delete jsonSchema['anyOf'];
  };
}
