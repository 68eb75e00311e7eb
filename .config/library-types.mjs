// Writes the declarations of the library for both module systems: its functions as TypeScript emits them, and its
// records as interfaces generated from their schemas, so that neither a schema library nor internals appear.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { importSources } from './import-sources.mjs';

/** The sources of the library in src/, except the records. */
const EMITTED = ['index', 'library/api', 'contract/audit', 'contract/audit-options', 'contract/error'];
const EMITTED_NAMES = EMITTED.map((path) => basename(path));
/** The file of the records. It replaces every other source from which types are imported. */
const RECORDS = 'records';

/** The types of closed sets, by the constants of their values. */
const SETS = {
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

/** Records that callers pass to the library. Their arrays are read-only, because they may be frozen. */
const OPTIONS = ['StartOptions', 'AuditRequest'];

/** @returns the files that were written */
export async function writeTypes() {
  const texts = new Map(emitted());
  const wanted = [...texts.values()].flatMap((text) =>
    [...text.matchAll(/port type \{([^}]*)\} from '[^']*?([\w-]+)\.ts'/g)]
      .filter(([, , file]) => !EMITTED_NAMES.includes(file))
      .flatMap(([, names]) => names.split(',').map((name) => name.trim())),
  );
  texts.set(RECORDS, await recordsText(wanted));
  return [...texts].flatMap(([name, text]) => ['ts', 'cts'].map((kind) => write(name, text, kind)));
}

/** The declarations of each source by its name, as TypeScript emits them. */
function emitted() {
  const scratch = mkdtempSync(join(tmpdir(), 'gateway-sim-types-'));
  try {
    const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
    const tsc = join(dirname(manifest), 'bin', 'tsc');
    const flags = '--ignoreConfig --declaration --emitDeclarationOnly --noCheck --strict';
    const language =
      '--target esnext --module nodenext --allowImportingTsExtensions --resolveJsonModule --types node';
    const jsx = '--jsx react-jsx --jsxImportSource hono/jsx';
    const args = [...`${flags} ${language} ${jsx} --rootDir . --outDir`.split(' '), scratch, 'src/index.ts'];
    execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
    return EMITTED.map((path) => [
      basename(path),
      readFileSync(join(scratch, 'src', `${path}.d.ts`), 'utf8'),
    ]);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function write(name, text, kind) {
  const file = join('dist', `${name}.d.${kind}`);
  const extension = kind === 'ts' ? 'js' : 'cjs';
  const flat = text.replace(/from '\.[^']*?([\w-]+)\.ts'/g, (_, from) => {
    const to = [...EMITTED_NAMES, RECORDS].includes(from) ? from : RECORDS;
    return `from './${to}.${extension}'`;
  });
  // TypeScript 7 loads Node's types only on request, and its default libraries lack AsyncDisposable.
  const needs = /\bAsyncDisposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : '';
  writeFileSync(file, needs + flat);
  return file;
}

/** Every required record, and the records that it uses. */
async function recordsText(wanted) {
  const { vocabulary, componentSchemas, querySchemas, librarySchema } = await importSources(`
    import './src/contract/audit-report.ts';
    import './src/contract/emulator.ts';
    import './src/contract/event.ts';
    import './src/contract/state.ts';
    export * as vocabulary from './src/contract/vocabulary.ts';
    export { componentSchemas, querySchemas } from './src/contract/json-schema.ts';
    export { librarySchema } from './src/options/json-schema.ts';`);
  const schemas = { ...componentSchemas(), ...querySchemas(), StartOptions: librarySchema() };
  const sets = Object.entries(SETS).map(([constant, name]) => {
    const values = vocabulary[constant];
    return { name, values, sorted: String([...values].sort()) };
  });
  const written = new Map();
  for (const name of wanted) need(name);
  return `${[...written.values()].join('\n\n')}\n`;

  function need(name) {
    if (written.has(name)) return name;
    // Before its fields, which may refer to it.
    written.set(name, '');
    const set = sets.find((one) => one.name === name);
    if (set) written.set(name, `export type ${name} = ${set.values.map(literal).join(' | ')};`);
    else written.set(name, name === 'StateSnapshot' ? SNAPSHOT : declaration(name));
    return name;
  }

  function declaration(name) {
    const schema = schemas[name];
    if (!schema) throw new Error(`the library uses the type ${name}, which no contract defines`);
    const array = OPTIONS.includes(name) ? 'readonly ' : '';
    return schema.properties
      ? `${doc(schema.description)}export interface ${name} ${object(schema, array)}`
      : `${doc(schema.description)}export type ${name} = ${type(schema, array)};`;
  }

  /** @param array what precedes the type of an array */
  function object({ properties, required = [], additionalProperties }, array, indent = '') {
    const inner = `${indent}  `;
    const lines = Object.entries(properties).map(([name, part]) => {
      const member = /^\w+$/.test(name) ? name : literal(name);
      const value = type(part, array, inner);
      const field = required.includes(name) ? `${member}: ${value}` : `${member}?: ${value} | undefined`;
      return `${doc(part.description, inner)}${inner}${field};`;
    });
    if (additionalProperties?.type)
      lines.push(`${inner}[name: string]: ${type(additionalProperties, array)};`);
    return `{\n${lines.join('\n')}\n${indent}}`;
  }

  function type(schema, array, indent = '') {
    const inside = (part) => type(part, array, indent);
    if (schema.$ref) return need(schema.$ref.split('/').at(-1));
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.enum) {
      const set = sets.find(({ sorted }) => sorted === String([...schema.enum].sort()));
      return set ? need(set.name) : schema.enum.map(literal).join(' | ');
    }
    const parts = schema.anyOf ?? schema.oneOf;
    if (parts) return [...new Set(parts.map(inside))].join(' | ');
    if (Array.isArray(schema.type))
      return schema.type.map((one) => inside({ ...schema, type: one })).join(' | ');
    if (schema.type === 'integer') return 'number';
    if (schema.type === 'array') {
      if (schema.prefixItems) return `[${schema.prefixItems.map(inside).join(', ')}]`;
      const item = inside(schema.items ?? {});
      return `${array}${/^\w+$|^\{/.test(item) ? item : `(${item})`}[]`;
    }
    if (schema.type !== 'object') return schema.type ?? 'unknown';
    if (schema.properties) return object(schema, array, indent);
    return `Record<string, ${inside(schema.additionalProperties ?? {})}>`;
  }
}

function literal(value) {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function doc(description, indent = '') {
  return description ? `${indent}/** ${description} */\n` : '';
}
