// Style sheets and scripts of pages become strings in the program: `import text from './page.css?text'`. Only the
// counts or the sources of a manifest are imported: `import scores from './manifest.jsonl?score'`.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';

const ASSET = /\.(css|ts)\?text$/;
const MANIFEST = /\.jsonl\?(score|lines)$/;

/** The path of an imported asset. */
const fileOf = (path, folder) => resolve(folder, path.replace(/\?text$/, ''));

/** A style sheet with all of its imports, or a script, as a minified text. */
async function bundled(file) {
  const isScript = file.endsWith('.ts');
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    // CSS rules are not merged, because shorter forms may need newer browsers.
    ...(isScript ? { minify: true, format: 'iife', target: 'es2022' } : { minifyWhitespace: true }),
  });
  return outputFiles[0].text.trim();
}

export const linesOf = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text));

/** The importable parts of a manifest, by the word after the question mark. */
const PARTS = {
  score: (file) => scoreOf(linesOf(file)),
  lines: (file) => linesOf(file).map(({ id, source, proves = [] }) => ({ id, source: source.kind, proves })),
};

/** The number of manifest lines of each profile, by source. */
export function scoreOf(lines) {
  const scores = {};
  for (const { profiles, source } of lines) {
    for (const profile of profiles) {
      scores[profile] ??= { lines: 0, documented: 0, observed: 0, chosen: 0 };
      scores[profile].lines++;
      scores[profile][source.kind]++;
    }
  }
  return scores;
}

/** A plugin for Rolldown and Vitest. Its ids have no style sheet extension, because Vite would process such files. */
export const viteAssets = {
  name: 'assets',
  enforce: 'pre',
  resolveId: (path, importer) => {
    if (!importer) return undefined;
    if (MANIFEST.test(path)) return `\0manifest:${resolve(dirname(importer), path)}`;
    return ASSET.test(path) ? `\0asset:${fileOf(path, dirname(importer))}.text` : undefined;
  },
  load: async (id) => {
    if (id.startsWith('\0manifest:')) {
      const [file, part] = id.slice('\0manifest:'.length).split('?');
      return `export default ${JSON.stringify(PARTS[part](file))}`;
    }
    return id.startsWith('\0asset:')
      ? `export default ${JSON.stringify(await bundled(id.slice('\0asset:'.length, -'.text'.length)))}`
      : undefined;
  },
};
