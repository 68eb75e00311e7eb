import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Bundles and imports sources of src/, because Node 20 does not run TypeScript.
 *
 * @param contents a module that exports what is wanted from `./src/…`
 */
export async function importSources(contents, plugins = []) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'error',
    plugins,
  });
  const module = { exports: {} };
  new Function('module', 'require', outputFiles[0].text)(module, createRequire(`${ROOT}/`));
  return module.exports;
}
