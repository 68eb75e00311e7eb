import { type OptionSpec, START_OPTIONS } from '../../options.ts';
import { CONTROL_ANSWERS } from './answers.ts';
import { converted, type JsonSchema, SOURCES, uri } from './json-schema.ts';
import { NOTES, type Note } from './notes.ts';
import { REQUESTS } from './requests.ts';
import { SERVICE_ANSWERS } from './service-answers.ts';

/** The name of a schema in the document. */
export type SchemaName = keyof typeof CONTROL_ANSWERS | keyof typeof SERVICE_ANSWERS | keyof typeof REQUESTS;

/** A reference to a named schema. */
export function ref(name: SchemaName): JsonSchema {
  return { $ref: uri(name) };
}

/** Every named schema, with what is said of it and of its fields. */
export function schemas(): Record<string, JsonSchema> {
  const all = {
    ...converted({ ...CONTROL_ANSWERS, ...SERVICE_ANSWERS }, 'output'),
    ...converted(REQUESTS, 'input'),
    Options: optionsSchema(),
  };
  return Object.fromEntries(
    Object.entries(all)
      .sort(([a], [b]) => a.localeCompare(b, 'en'))
      .map(([name, schema]) => [name, annotated(name, schema)]),
  );
}

function annotated(name: string, schema: JsonSchema): JsonSchema {
  const notes = NOTES[name];
  if (!notes) return schema;
  return { ...marked(notes.about), ...withFields(schema, notes.fields ?? {}, '') };
}

function withFields(schema: JsonSchema, notes: Readonly<Record<string, Note>>, path: string): JsonSchema {
  const inside = (one: JsonSchema) => withFields(one, notes, path);
  const { anyOf, oneOf, items, properties } = schema;
  // A nullable object stands among alternatives.
  if (anyOf) return { ...schema, anyOf: anyOf.map(inside) };
  if (oneOf) return { ...schema, oneOf: oneOf.map(inside) };
  if (items) return { ...schema, items: inside(items) };
  if (!properties) return schema;
  const noted = Object.entries(properties).map(([name, field]) => {
    const here = path + name;
    return [name, withNote(withFields(field, notes, `${here}.`), notes[here])];
  });
  return { ...schema, properties: Object.fromEntries(noted) };
}

function withNote(schema: JsonSchema, note: Note | undefined): JsonSchema {
  if (note === undefined) return schema;
  const [text, refinement] = typeof note === 'string' ? [note, {}] : note;
  return { ...schema, ...refinement, ...marked(text) };
}

/** A text, and the source that a mark such as (documented) in it tells. */
function marked(text: string): JsonSchema {
  const source = SOURCES.find((one) => new RegExp(`\\(${one}\\b`).test(text));
  return { description: text, ...(source && { 'x-source': source }) };
}

/** Options as `status` shows them: what the table of options says of each. */
function optionsSchema(): JsonSchema {
  const properties = Object.entries<OptionSpec>(START_OPTIONS).map(([name, spec]) => {
    const isSecret = name === 'secretKey' || name === 'controlToken';
    const schema = isSecret ? { type: ['string', 'null'] } : OPTION_SCHEMAS[spec.kind](spec);
    return [name, { ...schema, description: spec.description }];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

const OPTION_SCHEMAS = {
  text: () => ({ type: 'string' }),
  secret: () => ({ type: 'string' }),
  url: () => ({ type: 'string' }),
  baseUrl: () => ({ type: 'string' }),
  integer: () => ({ type: 'integer' }),
  boolean: () => ({ type: 'boolean' }),
  duration: () => ({ type: 'integer' }),
  list: () => ({ type: 'array', items: { type: 'string' } }),
  choice: ({ choices = [] }) => ({ type: 'string', enum: choices }),
  structure: () => ({}),
} as const satisfies Record<OptionSpec['kind'], (spec: OptionSpec) => JsonSchema>;
