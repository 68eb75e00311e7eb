// Bundles the command and the library, with all packages that they use, as CommonJS: it loads in half the time of
// modules. Users' stack traces show this code, so it is not minified. Then it bundles the declarations of the library.
import { dts } from 'rolldown-plugin-dts';
import { createRollupLicensePlugin } from 'rollup-license-plugin';
import { assets } from './assets.mjs';
import { records } from './records.mjs';

/** The bundled packages must be distributed with their licences. */
const licences = createRollupLicensePlugin({
  outputFilename: 'licenses.json',
  // In the script of the dashboard, which is bundled on its own.
  includePackages: () => ['node_modules/idiomorph'],
});

/** The server of Hono also knows HTTP/2, which nothing here speaks. Node takes as long to load it as `node:http`. */
const withoutHttp2 = {
  name: 'without-http2',
  resolveId: (id) => (id === 'node:http2' ? '\0http2' : undefined),
  load: (id) =>
    id === '\0http2' ? 'export class Http2ServerRequest {} export const constants = {}' : undefined,
};

export default [
  {
    input: { main: 'src/cli/main.ts', library: 'src/index.ts', thread: 'src/library/thread.ts' },
    platform: 'node',
    plugins: [assets, withoutHttp2, licences],
    transform: { target: 'node20' },
    // Otherwise the code that renders pages in a browser would be in every start.
    treeshake: { moduleSideEffects: [{ test: /node_modules/, sideEffects: false }] },
    output: {
      dir: 'dist',
      cleanDir: true,
      format: 'cjs',
      comments: false,
      // Jest does not support import() in CommonJS.
      dynamicImportInCjs: false,
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
    },
  },
  {
    input: { index: 'src/index.ts' },
    checks: { pluginTimings: false },
    plugins: [
      records,
      ...dts({
        emitDtsOnly: true,
        tsconfig: 'src/tsconfig.types.json',
        tsgo: { path: 'node_modules/.bin/tsc' },
      }),
    ],
    // TypeScript decides by the ending of the file whether it is for `import` or `require`.
    output: ['[name].js', '[name].cjs'].map((entryFileNames) => ({
      dir: 'dist',
      entryFileNames,
      // For `await using`, whatever `lib` the user's project has. The plugin drops the line from the source.
      postBanner: '/// <reference lib="esnext.disposable" />',
    })),
  },
];
