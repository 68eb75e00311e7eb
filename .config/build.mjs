// Makes dist/: the command, the library in both module systems, and its types. No package is needed at run time.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const common = {
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  platform: 'node',
  target: 'node20',
  jsx: 'automatic',
  jsxImportSource: 'hono/jsx',
  legalComments: 'none',
  logLevel: 'warning',
};

rmSync('dist', { recursive: true, force: true });
await Promise.all([
  build({
    ...common,
    entryPoints: ['src/cli/program.ts', 'src/index.ts'],
    outdir: 'dist',
    entryNames: '[name]',
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    splitting: true,
    // Some of the bundled packages are CommonJS and ask for Node's own modules.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
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
writeTypes();

/** The declarations of the library alone, for both module systems. */
function writeTypes() {
  const PUBLIC = ['index', 'api', 'domain/error'];
  const all = mkdtempSync(join(tmpdir(), 'gateway-sim-types-'));
  try {
    const tsc = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    );
    const flags =
      '--ignoreConfig --declaration --emitDeclarationOnly --noCheck --strict';
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
    for (const name of PUBLIC) {
      const file = `${name.split('/').at(-1)}.d`;
      const text = readFileSync(join(all, 'src', `${name}.d.ts`), 'utf8').replace('./domain/', './');
      writeFileSync(`dist/${file}.ts`, text.replace(/(from '\.\/\w+)\.ts'/g, "$1.js'"));
      writeFileSync(`dist/${file}.cts`, text.replace(/(from '\.\/\w+)\.ts'/g, "$1.cjs'"));
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}
