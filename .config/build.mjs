// Builds dist/: the command, the library for both module systems, and its types. None of these needs a package at run
// time.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { transform } from 'esbuild';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { viteAssets } from './assets.mjs';
import { STAMP, stampOfSources } from './build-if-stale.mjs';
import { writeTypes } from './library-types.mjs';
import * as realTime from './real-time.mjs';

/** Keeps function names and line breaks, because Node prints the line of an uncaught error. */
const MANGLE = { toplevel: false, keepNames: { function: true, class: true } };

async function shortened(text) {
  const { code } = await transform(minifySync('.js', text, { mangle: MANGLE }).code, {
    minifyWhitespace: true,
    lineLimit: 160,
    target: 'node20',
    legalComments: 'none',
  });
  return code;
}

const REAL_TIME = Object.fromEntries(
  Object.keys(realTime).map((name) => [name, [resolve('.config/real-time.mjs'), name]]),
);

/** Commander can run subcommands as other programs. We have none, and loading node:child_process takes 2 ms. */
const NO_PROGRAMS = {
  name: 'no-programs',
  resolveId: (id, importer = '') =>
    id === 'node:child_process' && /[\\/]commander[\\/]/.test(importer) ? '\0no-programs' : null,
  load: (id) => (id === '\0no-programs' ? 'export {};' : null),
};

/** Before the sources are read: later changes are picked up by the next build. */
const sources = stampOfSources();

/** All bundled modules. */
const modules = [];

async function bundle(input, output) {
  const bundled = await rolldown({
    input,
    platform: 'node',
    tsconfig: false,
    plugins: [viteAssets, NO_PROGRAMS],
    // Hono does not declare that its JSX modules have no side effects, but none of them has any.
    treeshake: { moduleSideEffects: [{ test: /hono[\\/]dist[\\/]jsx[\\/]/, sideEffects: false }] },
    transform: {
      target: 'node20',
      jsx: { runtime: 'automatic', importSource: 'hono/jsx' },
      inject: REAL_TIME,
    },
    checks: { ineffectiveDynamicImport: false },
  });
  const { output: files } = await bundled.generate({
    minify: false,
    // Jest does not support import() in CommonJS.
    dynamicImportInCjs: false,
    ...output,
  });
  await bundled.close();
  mkdirSync('dist/chunks', { recursive: true });
  for (const { fileName, code, moduleIds } of files) {
    modules.push(...moduleIds);
    writeFileSync(join('dist', fileName), await shortened(code));
  }
  return files.map(({ fileName }) => join('dist', fileName));
}

/**
 * The library as a module: the same code as for CommonJS, so that a program that loads both has one instance. It uses
 * require, because Node scans imported files for export names before it compiles them, which doubles the time.
 */
function writeModule(path, commonJs) {
  const names = Object.keys(createRequire(resolve(path))(commonJs));
  const loaded = `createRequire(import.meta.url)('${commonJs}')`;
  writeFileSync(
    path,
    `import { createRequire } from 'node:module';\nexport const { ${names.join(', ')} } = ${loaded};\n`,
  );
  return path;
}

/**
 * Every file costs time to open, so modules that are loaded together are one file. Each file also contains the modules
 * that these import, unless a parent file contains them.
 */
const FILES = [
  // Loaded before the compile cache, so they must be small.
  ['version', /(src[\\/]system[\\/]package-info\.ts|real-time\.mjs)$/],
  // Declaring a command must not load the server.
  ['client', /src[\\/](library[\\/]control-client|system[\\/]secret)\.ts$/],
  // Loaded by start and by the commands that query a running emulator.
  ['command', /src[\\/]cli[\\/](run|banner|commands[\\/](?!exec|audit|conform|init|completion)\w+)\.ts$/],
  ['server', /src[\\/]cli[\\/]start-emulator\.ts$/],
  ['routes', /src[\\/]http[\\/]app\.ts$/],
  // Loaded by the package and by the commands that audit a shop.
  ['library', /src[\\/]library[\\/]client\.ts$/],
];

/** The licences of the bundled packages, which must be distributed with their code. */
function licensesOf() {
  const folders = new Set(modules.filter((path) => path.includes('node_modules')).map(packageFolder));
  return [...folders]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n`);
}

/** The nearest package.json with a name: some only set the module type of a folder. */
function packageFolder(path) {
  const folder = dirname(path);
  const file = join(folder, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version ? folder : packageFolder(folder);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

const made = [
  ...(await bundle(['src/cli/main.ts', 'src/index.ts'], {
    // CommonJS loads in half the time of modules.
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      groups: FILES.map(([name, test], index) => ({ name, test, priority: FILES.length - index })),
    },
  })),
  writeModule('dist/index.js', './index.cjs'),
  ...(await writeTypes()),
  join('dist', 'licenses.txt'),
  relative('.', STAMP),
];
writeFileSync(join('dist', 'licenses.txt'), licensesOf());
// Replaced at the end, so that a running or failed build does not affect the existing one.
for (const file of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (file.isFile() && !made.includes(path)) rmSync(path);
}
writeFileSync(STAMP, sources);
