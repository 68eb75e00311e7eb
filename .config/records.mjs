// A plugin for Rolldown: users have no zod, so in the declarations the records, whose types are inferred from zod schemas,
// become interfaces made from their JSON schemas, with the descriptions of their fields.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { importSources } from './assets.mjs';

const RECORDS = resolve('src/records.d.ts');

export const records = {
  name: 'records',
  resolveId: {
    order: 'pre',
    handler: (path, importer = '') =>
      importer.endsWith('.d.ts') && declaresRecords(join(dirname(importer), path)) ? RECORDS : undefined,
  },
  load: (id) => (id === RECORDS ? interfaces() : undefined),
};

function declaresRecords(path) {
  if (path.endsWith('start-options.ts')) return true;
  return /\/(contract|audit)\//.test(path) && readFileSync(path, 'utf8').includes("from 'zod/mini'");
}

async function interfaces() {
  const { componentSchemas, querySchemas, ...sources } = await importSources();
  const schemas = { ...componentSchemas(), ...querySchemas(), StartOptions: startOptions(sources) };
  const definitions = JSON.parse(JSON.stringify(schemas), compilable);
  const properties = Object.fromEntries(
    Object.keys(schemas).map((name) => [name, { $ref: `#/definitions/${name}` }]),
  );
  const options = { additionalProperties: false, bannerComment: '', format: false };
  const text = await compile({ type: 'object', properties, definitions }, 'Records', options);
  // For users who pass undefined and compile with `exactOptionalPropertyTypes`.
  return text.replace(/^( *\w+\?: )/gm, '$1undefined | ');
}

/** The options of the library: those of the configuration file that are not about the process of `start`. */
function startOptions({ configurationSchema, EMULATOR_OPTIONS }) {
  const { properties } = configurationSchema();
  const described = ({ description, ...schema }) => {
    const sentence = description.replace(/^\w/, (letter) => letter.toUpperCase());
    const fallback = schema.default === undefined ? '' : ` Default: ${JSON.stringify(schema.default)}.`;
    return { ...schema, description: `${sentence}.${fallback}` };
  };
  return {
    description:
      'The options of `gateway-sim start`. Environment variables and the configuration file are ignored.',
    properties: Object.fromEntries(EMULATOR_OPTIONS.map((name) => [name, described(properties[name])])),
  };
}

/** What the compiler does not know of JSON schemas, in its own terms. */
function compilable(key, value) {
  if (key === '$ref') return value.replace('components/schemas', 'definitions');
  const { $ref, description, prefixItems, anyOf: _, ...others } = value ?? {};
  // Otherwise it makes a second interface with this description.
  if ($ref && description) return { description, allOf: [{ $ref }] };
  const length = prefixItems?.length;
  if (prefixItems) return { type: 'array', items: prefixItems, minItems: length, maxItems: length };
  // The alternatives only say which fields are required together.
  return others.properties ? { description, ...others } : value;
}
