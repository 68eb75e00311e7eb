// Writes the declarations of the library for both module systems: its functions as TypeScript emits them, and its
// records as interfaces generated from their schemas, so that neither a schema library nor internals appear.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The sources of the library in src/, except the records. */
const EMITTED = [
  'index',
  'library/api',
  'contract/audit',
  'contract/audit-options',
  'contract/error',
  'contract/hint',
];
/** The file of the records. It replaces every contract from which records are imported. */
const RECORDS = 'records';

/** @returns the files that were written */
export async function writeTypes() {
  const scratch = mkdtempSync(join(tmpdir(), 'gateway-sim-types-'));
  try {
    emit(scratch);
    const texts = new Map(
      EMITTED.map((name) => [basename(name), readFileSync(join(scratch, 'src', `${name}.d.ts`), 'utf8')]),
    );
    const wanted = [...texts.values()].flatMap(importedRecords);
    texts.set(RECORDS, recordsText(await contract(scratch), new Set(wanted)));
    return [...texts].flatMap(([name, text]) => ['ts', 'cts'].map((kind) => write(name, text, kind)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function emit(outDir) {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), 'bin', 'tsc');
  const flags = '--ignoreConfig --declaration --emitDeclarationOnly --noCheck --strict';
  const language =
    '--target esnext --module nodenext --allowImportingTsExtensions --resolveJsonModule --types node';
  const jsx = '--jsx react-jsx --jsxImportSource hono/jsx';
  const args = [...`${flags} ${language} ${jsx} --rootDir . --outDir`.split(' '), outDir, 'src/index.ts'];
  execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
}

const RECORD_IMPORT =
  /(im|ex)port type \{([^}]*)\} from '\.\.?\/(?:contract\/(?!(?:audit|audit-options|error|hint)\.)[\w-]+|audit-report|options[\w/-]*)\.ts';/g;

function importedRecords(text) {
  return [...text.matchAll(RECORD_IMPORT)].flatMap(([, , names]) =>
    names.split(',').map((name) => name.trim()),
  );
}

function write(name, text, kind) {
  const file = join('dist', `${name}.d.${kind}`);
  const extension = kind === 'ts' ? 'js' : 'cjs';
  const flat = text
    .replace(RECORD_IMPORT, `$1port type {$2} from './${RECORDS}.ts';`)
    .replace(/(from '\.\.?\/)(?:[\w-]+\/)*([\w-]+)\.ts'/g, `from './$2.${extension}'`);
  // TypeScript 7 loads Node's types only on request, and its default libraries lack AsyncDisposable.
  const needs = /\bAsyncDisposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : '';
  writeFileSync(file, needs + flat);
  return file;
}

/** The schemas of messages and options, and the closed sets of values. */
async function contract(scratch) {
  const outfile = join(scratch, 'contract.mjs');
  await build({
    stdin: {
      contents: `
        import './src/contract/audit-report.ts';
        import './src/contract/emulator.ts';
        import './src/contract/event.ts';
        import './src/contract/state.ts';
        export * as vocabulary from './src/contract/vocabulary.ts';
        export * as outcomes from './src/contract/outcomes.ts';
        export { componentSchemas, querySchemas } from './src/contract/json-schema.ts';
        export { librarySchema } from './src/options/json-schema.ts';`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'warning',
  });
  return import(pathToFileURL(outfile).href);
}

/** Every required record, and the records that it uses. */
function recordsText({ vocabulary, outcomes, componentSchemas, querySchemas, librarySchema }, wanted) {
  const closedSets = Object.entries({ ...vocabulary, ...outcomes });
  const schemas = { ...componentSchemas(), ...querySchemas(), StartOptions: librarySchema() };
  const sets = new Map(
    closedSets
      .filter(([name]) => SET_NAMES[name])
      .map(([name, values]) => [JSON.stringify([...values].sort()), SET_NAMES[name]]),
  );
  const unions = new Map(closedSets.map(([name, values]) => [SET_NAMES[name], values]));
  const written = new Map();
  const need = (name) => {
    if (written.has(name)) return;
    written.set(name, '');
    const values = unions.get(name);
    const text = values
      ? `export type ${name} = ${values.map(literal).join(' | ')};`
      : name === 'StateSnapshot'
        ? SNAPSHOT
        : declaration(name, schemas[name], { sets, need, isOptions: OPTIONS.includes(name) });
    written.set(name, text);
  };
  for (const name of wanted) need(name);
  return `${[...written.values()].join('\n\n')}\n`;
}

/** Records that callers pass to the library. */
const OPTIONS = ['StartOptions', 'AuditRequest'];

/** The names of the types of closed sets, by their values. */
const SET_NAMES = {
  MODES: 'Mode',
  PAYMENT_STATUSES: 'PaymentStatus',
  OUTCOMES: 'PaymentOutcome',
  DELIVERY_ORDERS: 'DeliveryOrder',
  DELIVERY_STATES: 'DeliveryState',
  CHECKOUT_THEMES: 'CheckoutTheme',
};

const SNAPSHOT = `/** The whole state, as \`snapshot\` returns and \`restore\` accepts it. Its structure may change between versions. */
export interface StateSnapshot {
  version: number;
  [collection: string]: unknown;
}`;

function declaration(name, schema, context) {
  if (!schema) throw new Error(`the library uses the type ${name}, which no contract defines`);
  if (schema.properties)
    return `${doc(schema.description)}export interface ${name} ${object(schema, context)}`;
  return `${doc(schema.description)}export type ${name} = ${type(schema, context)};`;
}

function object({ properties, required = [], additionalProperties }, context, indent = '') {
  const lines = Object.entries(properties).map(([name, part]) => {
    const isRequired = required.includes(name);
    const member = /^\w+$/.test(name) ? name : literal(name);
    const members = `${member}${isRequired ? '' : '?'}: ${type(part, context, `${indent}  `)}`;
    return `${doc(part.description, `${indent}  `)}${indent}  ${members}${isRequired ? '' : ' | undefined'};`;
  });
  if (additionalProperties?.type)
    lines.push(`${indent}  [name: string]: ${type(additionalProperties, context)};`);
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function type(schema, context, indent = '') {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1);
    context.need(name);
    return name;
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return union(schema.enum, context);
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map((part) => type(part, context, indent)))].join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((one) => type({ ...schema, type: one }, context, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'integer':
      return 'number';
    case 'array':
      return schema.prefixItems
        ? `[${schema.prefixItems.map((part) => type(part, context, indent)).join(', ')}]`
        : list(type(schema.items ?? {}, context, indent), context);
    case 'object':
      return schema.properties
        ? object(schema, context, indent)
        : `Record<string, ${type(schema.additionalProperties ?? {}, context, indent)}>`;
    default:
      return schema.type ?? 'unknown';
  }
}

function union(values, { sets, need }) {
  const name = sets.get(JSON.stringify([...values].sort()));
  if (name) need(name);
  return name ?? values.map(literal).join(' | ');
}

/** Arrays from callers are read-only, because they may be frozen. */
function list(item, { isOptions }) {
  return `${isOptions ? 'readonly ' : ''}${/^\w+$|^\{/.test(item) ? item : `(${item})`}[]`;
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function doc(description, indent = '') {
  return description ? `${indent}/** ${description} */\n` : '';
}
