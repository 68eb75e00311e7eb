import { readdir, readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

/**
 * The allowed imports. A layer is a folder of src/ or a file directly in it. `layers` are other layers, whole or by file;
 * `types` may be imported for their types only; `packages` and `node` are external modules, with '*' for any.
 */
interface Doors {
  layers: readonly string[];
  types?: readonly string[];
  packages?: readonly string[];
  node?: readonly string[];
}

/** The lowest layer is first. A layer imports only layers that are listed before it. */
const ALLOWED: Record<string, Doors> = {
  contract: { layers: [], packages: ['zod/mini'] },
  options: { layers: ['contract'], node: ['node:fs', 'node:path'] },
  system: {
    layers: ['contract', '../package.json'],
    packages: ['tinyqueue'],
    node: [
      'node:child_process',
      'node:crypto',
      'node:events',
      'node:fs',
      'node:fs/promises',
      'node:http',
      'node:net',
      'node:os',
      'node:path',
      'node:timers',
      'node:timers/promises',
      'node:url',
      'node:vm',
    ],
  },
  domain: { layers: ['contract', 'system/secret.ts'], types: ['system'], packages: ['big.js', 'zod/mini'] },
  service: { layers: ['contract', 'domain'], packages: ['zod/mini'], node: ['node:buffer', 'node:crypto'] },
  store: {
    layers: ['contract', 'domain', 'system/files.ts', '../fixtures/default.json'],
    packages: ['lowdb', 'zod/mini'],
    node: [
      'node:buffer',
      'node:fs',
      'node:fs/promises',
      'node:os',
      'node:path',
      'node:crypto',
      'node:timers/promises',
      'node:zlib',
    ],
  },
  delivery: {
    layers: ['contract', 'domain', 'system'],
    types: ['store'],
    node: ['*'],
  },
  'interpret-options': { layers: ['contract', 'domain'], types: ['delivery', 'options'] },
  database: {
    layers: [
      'contract',
      'system/open-process.ts',
      'system/real-time.ts',
      'system/run-process.ts',
      'system/temporary-folder.ts',
    ],
    node: ['node:fs/promises', 'node:path'],
  },
  /** Why an IPN failed. */
  diagnosis: {
    layers: ['contract', 'database/changes.ts', 'database/relevance.ts', 'domain', 'service'],
    types: ['delivery', 'store'],
    node: ['node:crypto', 'node:timers/promises'],
  },
  usecases: {
    layers: ['contract', 'delivery', 'diagnosis', 'domain', 'service', 'store', 'system/random.ts'],
    types: ['system'],
    node: ['node:timers/promises'],
  },
  http: {
    layers: ['contract', 'options', 'usecases', 'diagnosis', 'service', 'system'],
    types: ['domain'],
    packages: ['*'],
    node: ['*'],
  },
  tls: {
    layers: ['contract', 'options', 'system/files.ts', 'system/temporary-folder.ts'],
    packages: ['node-forge', 'node-forge/lib/asn1.js', 'node-forge/lib/util.js'],
    node: ['*'],
  },
  server: {
    layers: [
      'contract',
      'options',
      'tls',
      'diagnosis',
      'domain',
      'system',
      'service',
      'store',
      'delivery',
      'interpret-options',
      'usecases',
      'http',
      'database',
      'shop/order-probe.ts',
    ],
    packages: ['*'],
    node: ['*'],
  },
  /** What the merchant's shop shows: an address, a command, its database. */
  shop: {
    layers: ['contract', 'database', 'delivery', 'system'],
    node: ['*'],
  },
  /** A guest: only its command and the library know it. */
  audit: {
    layers: ['contract', 'database', 'delivery', 'diagnosis', 'domain/money.ts', 'service', 'shop', 'system'],
    packages: ['zod/mini'],
    node: ['*'],
  },
  conform: {
    layers: ['contract', 'delivery', 'domain/card.ts', 'service', 'system'],
    packages: ['zod/mini'],
    node: ['*'],
  },
  library: {
    layers: ['contract', 'options', 'audit', 'delivery', 'diagnosis', 'service', 'system'],
    types: ['http'],
    node: ['node:dns', 'node:http', 'node:https'],
  },
  cli: {
    layers: [
      'contract',
      'options',
      'audit',
      'conform',
      'delivery',
      'diagnosis',
      'library',
      'service',
      'store',
      'system',
      'usecases/fire-ipn.ts',
    ],
    packages: ['*'],
    node: ['*'],
  },
  index: {
    layers: [
      'contract',
      'diagnosis/verify.ts',
      'options',
      'audit/artifacts.ts',
      'library',
      'store/server-file.ts',
      'system/disposal.ts',
      'service',
    ],
    node: ['node:url'],
  },
};

/** Files with more permissions than their layer. */
const EXCEPTIONS: Record<string, Doors> = {
  'cli/start-emulator.ts': { layers: ['server'] },
  'library/start.ts': { layers: [], types: ['server'], node: ['node:worker_threads'] },
  'library/thread.ts': { layers: ['server'], node: ['node:worker_threads'] },
};

interface Import {
  /** As in the source: a package, `node:…` or a relative path. */
  from: string;
  typesOnly: boolean;
  /** Whether it is an `import()`. */
  isLate?: boolean;
}

/** Matches statements with `from`, imports for side effects, and `import()`. */
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?([^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function importsOf(source: string): Import[] {
  return [...source.matchAll(IMPORT)].map(([, type, names = '', from, dynamic]) => ({
    from: from ?? dynamic ?? '',
    typesOnly: type !== undefined || /^\{(\s*type\s+\w+(\s+as\s+\w+)?\s*,?)+\s*\}/.test(names),
    ...(dynamic !== undefined && { isLate: true }),
  }));
}

/** `domain/ipn.ts` → `domain`, `server.ts` → `server`. */
function layerOf(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.tsx?$/, '');
}

/** Resolves a relative import to a path below src/, such as `domain/ipn.ts`. */
function target(file: string, from: string): string {
  return relative(SRC, resolve(SRC, dirname(file), from.replace(/\?\w+$/, '')));
}

function isNode(from: string): boolean {
  return from.startsWith('node:') || builtinModules.includes(from);
}

const lists = (list: readonly string[] = [], name: string) => list.includes(name) || list.includes('*');

/** The problem with an import, or undefined. */
function problem(file: string, { from, typesOnly }: Import): string | undefined {
  const layer = layerOf(file);
  const allowed = ALLOWED[layer];
  if (!allowed) return `${file}: the layer "${layer}" is not in the table of this test`;
  if (from.startsWith('.')) {
    const to = target(file, from);
    const open = (list: readonly string[] = []) => list.includes(layerOf(to)) || list.includes(to);
    if (layerOf(to) === layer || open(allowed.layers) || open(EXCEPTIONS[file]?.layers)) return undefined;
    return typesOnly && (open(allowed.types) || open(EXCEPTIONS[file]?.types))
      ? undefined
      : `${file} imports ${typesOnly ? 'types of ' : ''}${to}`;
  }
  const external = isNode(from)
    ? [...(allowed.node ?? []), ...(EXCEPTIONS[file]?.node ?? [])]
    : allowed.packages;
  return lists(external, from) ? undefined : `${file} imports ${from}`;
}

/** The transitive imports of a file. @param withLate whether `import()` counts */
function reachedFrom(start: string, withLate = true): { files: string[]; packages: string[] } {
  const reached = new Set([start]);
  const packages = new Set<string>();
  for (const file of reached) {
    for (const { from, typesOnly, isLate } of imports.get(file) ?? []) {
      if (typesOnly || (isLate && !withLate)) continue;
      if (from.startsWith('.')) reached.add(target(file, from));
      else if (!isNode(from)) packages.add(from);
    }
  }
  return { files: [...reached], packages: [...packages] };
}

/** A cycle in a graph, or undefined. */
function cycle(graph: ReadonlyMap<string, Iterable<string>>): string[] | undefined {
  const done = new Set<string>();
  const walk = (node: string, path: string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const found = walk(next, [...path, node]);
      if (found) return found;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const found = walk(node, []);
    if (found) return found;
  }
  return undefined;
}

const files = (await readdir(SRC, { recursive: true })).filter((name) => /\.tsx?$/.test(name)).sort();
const imports = new Map<string, Import[]>();
for (const file of files) imports.set(file, importsOf(await readFile(join(SRC, file), 'utf8')));

describe('the layers of src/', () => {
  it('import each other only as the table allows', () => {
    const problems = [...imports].flatMap(([file, list]) => list.map((one) => problem(file, one)));
    expect(problems.filter((one) => one !== undefined)).toEqual([]);
  });

  it('have no import cycle between files, types included', () => {
    const graph = new Map(
      [...imports].map(([file, list]) => [
        file,
        list.filter(({ from }) => from.startsWith('.')).map(({ from }) => target(file, from)),
      ]),
    );
    expect(cycle(graph)).toBeUndefined();
  });

  it('have no import cycle with each other, types included', () => {
    const graph = new Map<string, Set<string>>();
    for (const [file, list] of imports) {
      const to = graph.get(layerOf(file)) ?? new Set();
      graph.set(layerOf(file), to);
      for (const { from } of list) if (from.startsWith('.')) to.add(layerOf(target(file, from)));
      to.delete(layerOf(file));
    }
    expect(cycle(graph)).toBeUndefined();
  });

  it('start listening without loading the HTTP framework', () => {
    const { packages } = reachedFrom('http/listener.ts');
    expect(packages.filter((name) => /hono/.test(name))).toEqual([]);
  });

  it('load the code of the dashboard on request, not at startup', () => {
    const late = /^http\/pages\/(assets\/live|dashboard\/(?!(paths|text)\.))/;
    const { files } = reachedFrom('http/app.ts', false);
    expect(files.filter((file) => late.test(file))).toEqual([]);
    expect(reachedFrom('http/app.ts').files.some((file) => late.test(file))).toBe(true);
  });

  it('send requests only through the client with the egress guard', async () => {
    const opens =
      /(?<![.\w])fetch\(|\b(?:https?|http2|net|tls|client)\.(?:request|get|connect|createConnection)\(|\{[^}]*\b(?:request|get|connect|createConnection)\b[^}]*\} from 'node:(?:https?|http2|net|tls)'/;
    const ofBrowsers = /^http\/pages\/assets\//;
    const senders: string[] = [];
    for (const file of files.filter((name) => !ofBrowsers.test(name)))
      if (opens.test(await readFile(join(SRC, file), 'utf8'))) senders.push(file);
    expect(senders).toEqual(['delivery/sender.ts']);
  });

  it('query a running emulator without loading a schema', () => {
    for (const file of [
      'library/client.ts',
      'cli/run.ts',
      ...files.filter((name) => name.startsWith('cli/commands/')),
    ])
      expect([file, reachedFrom(file, false).packages.filter((name) => /zod/.test(name))]).toEqual([
        file,
        [],
      ]);
  });

  it('have no barrels and no meaningless file names', () => {
    const nameless = files.filter((file) =>
      /(^|\/)(utils?|helpers?|types|common|misc|shared)\.tsx?$/.test(file),
    );
    const barrels = files.filter((file) => /(^|\/)index\.tsx?$/.test(file) && file !== 'index.ts');
    expect({ nameless, barrels }).toEqual({ nameless: [], barrels: [] });
  });

  it('keep time, randomness, processes and output out of the rules', async () => {
    const forbidden =
      /\b(Date\.now|Math\.random|new Date\(\)|performance\.now|setTimeout|setInterval|process\.|console\.)/;
    const found: string[] = [];
    for (const file of files.filter((name) => layerOf(name) === 'domain')) {
      const source = (await readFile(join(SRC, file), 'utf8')).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
      const match = forbidden.exec(source);
      if (match) found.push(`${file}: ${match[0]}`);
    }
    expect(found).toEqual([]);
  });
});

/** Test files about more than one file of src/. */
const CROSS_CUTTING = [
  'architecture',
  'diagnosis/searched-signatures',
  'http/pages/page-facts',
  'http/pages/page-numbers',
  'http/secrets',
  'library/alias-hosts',
  'library/test-environment',
  'marks',
  'package',
  'usecases/verbs',
];
/** Folders of tests of whole programs, which have other names. */
const OF_PROGRAMS = /^(audit|browser|cli|docs|long|recipes)\//;

it('a test file has the name of the file of src/ that it tests', async () => {
  const tests = (await readdir(join(ROOT, 'test'), { recursive: true })).filter((name) =>
    name.endsWith('.test.ts'),
  );
  const sources = files.map((file) => file.replace(/\.tsx?$/, ''));
  const homeless = tests
    .map((file) => file.replace('.test.ts', ''))
    .filter((name) => ![...sources, ...CROSS_CUTTING].includes(name) && !OF_PROGRAMS.test(name));
  expect(homeless).toEqual([]);
});
