// Makes dist/: the command, the library in both module systems, and its types. No package is needed at run time.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { assets } from './assets.mjs';

const common = {
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  // Node prints the line of an error that nobody caught.
  lineLimit: 160,
  platform: 'node',
  target: 'node20',
  jsx: 'automatic',
  jsxImportSource: 'hono/jsx',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  inject: ['.config/real-time.mjs'],
  plugins: [assets],
};

// Some of the bundled packages are CommonJS and ask for Node's own modules.
const requireForBundled = {
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
};

const results = await Promise.all([
  build({
    ...common,
    entryPoints: ['src/cli/main.ts'],
    outdir: 'dist',
    entryNames: '[name]',
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    splitting: true,
    ...requireForBundled,
  }),
  // Apart from the command: what they shared would be cut into many small files, each of which a start has to open.
  build({
    ...common,
    entryPoints: ['src/index.ts'],
    outfile: 'dist/index.js',
    format: 'esm',
    ...requireForBundled,
  }),
  build({
    ...common,
    entryPoints: ['src/index.ts'],
    outfile: 'dist/index.cjs',
    format: 'cjs',
    define: { 'import.meta.url': '__moduleUrl' },
    banner: { js: "const __moduleUrl=require('node:url').pathToFileURL(__filename).href;" },
  }),
]);
const made = [...results.flatMap(({ metafile }) => Object.keys(metafile.outputs)), ...writeTypes()];
// Only now, so that a build that fails leaves what works, and one under way disturbs nobody.
for (const file of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (file.isFile() && !made.includes(path)) rmSync(path);
}

/** Writes the declarations of the library alone, for both module systems, and tells which files they are. */
function writeTypes() {
  const PUBLIC = ['index', 'api', 'domain/error'];
  const all = mkdtempSync(join(tmpdir(), 'gateway-sim-types-'));
  try {
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    const flags = '--ignoreConfig --declaration --emitDeclarationOnly --noCheck --strict';
    const language =
      '--target esnext --module nodenext --allowImportingTsExtensions --resolveJsonModule --types node';
    const jsx = '--jsx react-jsx --jsxImportSource hono/jsx';
    const args = [
      ...`${flags} ${language} ${jsx}`.split(' '),
      '--rootDir',
      '.',
      '--outDir',
      all,
      'src/index.ts',
    ];
    execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
    return PUBLIC.flatMap((name) => {
      const text = readFileSync(join(all, 'src', `${name}.d.ts`), 'utf8').replace('./domain/', './');
      // TypeScript 7 loads no types of Node unasked, and AsyncDisposable is in none of its own defaults.
      const needs = /\bAsyncDisposable\b/.test(text) ? '/// <reference lib="esnext.disposable" />\n' : '';
      return ['ts', 'cts'].map((kind) => {
        const file = join('dist', `${name.split('/').at(-1)}.d.${kind}`);
        writeFileSync(
          file,
          needs + text.replace(/(from '\.\/\w+)\.ts'/g, `$1.${kind === 'ts' ? 'js' : 'cjs'}'`),
        );
        return file;
      });
    });
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}
