// Reduces the declarations that TypeScript emitted to those that the library's users need. Users have no zod, so the
// records, whose types are inferred from zod schemas, become interfaces made from their JSON schemas.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';
import { importSources } from './assets.mjs';

const FOLDER = 'dist/types';
const RECORDS = join(FOLDER, 'records.d.ts');

const { componentSchemas, querySchemas, librarySchema } = await importSources();
const schemas = { ...componentSchemas(), ...querySchemas(), StartOptions: librarySchema() };

/** The texts of the files that users need, by path. */
const files = new Map();
/** The declarations of the records by name, with the records that these use. */
const records = new Map();
keep(join(FOLDER, 'index.d.ts'));
files.set(RECORDS, [...records.values()].join('\n'));

rmSync(FOLDER, { recursive: true });
for (const [path, text] of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
// The same for `require`: the folder decides the kind of a declaration file.
cpSync(FOLDER, 'dist/types-commonjs', { recursive: true });
writeFileSync('dist/types-commonjs/package.json', '{ "type": "commonjs" }\n');

/** Keeps a file and all files that it imports. */
function keep(path) {
  if (files.has(path)) return;
  const text = readFileSync(path, 'utf8');
  files.set(path, text);
  for (const [, names = '', from] of text.matchAll(/port (?:type )?(?:\{(.*?)\}|\*) from '(\..*?)\.ts'/gs)) {
    const imported = join(dirname(path), `${from}.d.ts`);
    const recordNames = names.split(/[\s,]+/).filter((name) => name in schemas);
    recordNames.forEach(addRecord);
    if (recordNames.length === 0) keep(imported);
    else files.set(imported, `export type * from '${relative(dirname(imported), RECORDS)}';\n`);
  }
}

/** @returns the name */
function addRecord(name) {
  if (records.has(name)) return name;
  // Before its fields, which may refer to it.
  records.set(name, '');
  const schema = schemas[name];
  // Callers pass options, whose lists may be frozen.
  const array = name === 'StartOptions' ? 'ReadonlyArray' : 'Array';
  const declared = schema.properties ? `interface ${name} ` : `type ${name} = `;
  records.set(name, `${docOf(schema)}export ${declared}${typeOf(schema, array)}\n`);
  return name;
}

/** @param array the name of the type of arrays */
function typeOf(schema, array) {
  const inside = (part) => typeOf(part, array);
  const union = (parts) => [...new Set(parts)].join(' | ');
  const { $ref, enum: values, type, items, prefixItems, properties, additionalProperties } = schema;
  if ($ref) return addRecord($ref.split('/').at(-1));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values) return union(values.map((value) => JSON.stringify(value)));
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return union(parts.map(inside));
  if (Array.isArray(type)) return union(type.map((one) => inside({ ...schema, type: one })));
  if (type === 'integer') return 'number';
  if (prefixItems) return `[${prefixItems.map(inside).join(', ')}]`;
  if (type === 'array') return `${array}<${inside(items ?? {})}>`;
  if (properties) return object(schema, inside);
  if (type === 'object') return `Record<string, ${inside(additionalProperties ?? {})}>`;
  return type ?? 'unknown';
}

function object({ properties, required = [], additionalProperties }, typeOf) {
  const lines = Object.entries(properties).map(([name, part]) => {
    const member = /^\w+$/.test(name) ? name : `'${name}'`;
    const field = required.includes(name)
      ? `${member}: ${typeOf(part)}`
      : `${member}?: ${typeOf(part)} | undefined`;
    return `${docOf(part)}${field};`;
  });
  if (additionalProperties?.type) lines.push(`[name: string]: ${typeOf(additionalProperties)};`);
  return `{\n  ${lines.join('\n').replaceAll('\n', '\n  ')}\n}`;
}

function docOf({ description }) {
  return description ? `/** ${description} */\n` : '';
}
