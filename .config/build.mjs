// Makes dist/: the command, the library in both module systems, and its types. No package is needed at run time.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { assets } from './assets.mjs';
import { writeTypes } from './library-types.mjs';

/** hono does not say that its JSX may be taken in part; it may: none of its modules does anything when it is loaded. */
const partOfJsx = {
  name: 'part of hono/jsx',
  setup(build) {
    build.onResolve({ filter: /^(hono\/jsx|\.)/ }, async ({ path, pluginData, ...from }) => {
      const isJsx = path === 'hono/jsx' || /\/hono\/dist\/jsx\//.test(from.importer);
      if (!isJsx || pluginData === partOfJsx) return undefined;
      const { importer, namespace, resolveDir, kind } = from;
      const found = await build.resolve(path, {
        importer,
        namespace,
        resolveDir,
        kind,
        pluginData: partOfJsx,
      });
      return { ...found, sideEffects: false };
    });
  },
};

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
  plugins: [assets, partOfJsx],
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
const made = [...results.flatMap(({ metafile }) => Object.keys(metafile.outputs)), ...(await writeTypes())];
// Only now, so that a build that fails leaves what works, and one under way disturbs nobody.
for (const file of readdirSync('dist', { recursive: true, withFileTypes: true })) {
  const path = join(file.parentPath, file.name);
  if (file.isFile() && !made.includes(path)) rmSync(path);
}
