// Bundles the command and the library, with all packages that they use, as CommonJS: it loads in half the time of
// modules. Users' stack traces show this code, so it is not minified.
import { defineConfig } from 'rolldown';
import { assets } from './assets.mjs';
import { thirdParty } from './third-party.mjs';

/** Only this file is read before the version of Node is known. */
const COMMON_JS = `const { problem } = require('../bin/node-version.js');
if (problem) throw new Error(problem);
module.exports = require('./library.cjs');
`;

/** For `import`, the same code as for `require`: a program that uses both has one instance. */
const moduleOf = (names) => `import { createRequire } from 'node:module';
const library = createRequire(import.meta.url)('./index.cjs');
export const { ${names.join(', ')} } = library;
`;

const entryPoints = {
  name: 'entry-points',
  generateBundle(_, bundle) {
    this.emitFile({ type: 'asset', fileName: 'index.cjs', source: COMMON_JS });
    this.emitFile({ type: 'asset', fileName: 'index.js', source: moduleOf(bundle['library.cjs'].exports) });
  },
};

export default defineConfig({
  input: { main: 'src/cli/main.ts', library: 'src/index.ts', thread: 'src/library/thread.ts' },
  platform: 'node',
  plugins: [assets, entryPoints, thirdParty],
  transform: {
    target: 'node20',
    // Test environments such as jsdom replace these by classes without, for example, `URL.canParse`.
    inject: {
      URL: ['node:url', 'URL'],
      URLSearchParams: ['node:url', 'URLSearchParams'],
      TextDecoder: ['node:util', 'TextDecoder'],
      TextEncoder: ['node:util', 'TextEncoder'],
    },
  },
  // Otherwise the code that renders pages in a browser would be in every start.
  treeshake: { moduleSideEffects: [{ test: /node_modules/, sideEffects: false }] },
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'cjs',
    strict: true,
    comments: false,
    // Jest does not support import() in CommonJS.
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
  },
});
