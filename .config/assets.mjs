// Style sheets and scripts of pages become texts of the program: `import text from './page.css?text'`.
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';

const ASSET = /\.(css|ts)\?text$/;

/** The file that an import of an asset means. */
const fileOf = (path, folder) => resolve(folder, path.replace(/\?text$/, ''));

/** A style sheet with all that it imports, or a script, as one minified text. */
async function bundled(file) {
  const isScript = file.endsWith('.ts');
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    // Rules of a sheet stay as they are written: shorter ones may need newer browsers.
    ...(isScript ? { minify: true, format: 'iife', target: 'es2022' } : { minifyWhitespace: true }),
  });
  return outputFiles[0].text.trim();
}

/** For Rolldown and Vitest. Its id does not end like a style sheet, which Vite would take for its own. */
export const viteAssets = {
  name: 'assets',
  enforce: 'pre',
  resolveId: (path, importer) =>
    ASSET.test(path) && importer ? `\0asset:${fileOf(path, dirname(importer))}.text` : undefined,
  load: async (id) =>
    id.startsWith('\0asset:')
      ? `export default ${JSON.stringify(await bundled(id.slice('\0asset:'.length, -'.text'.length)))}`
      : undefined,
};
