// A plugin for Rolldown and for Vite, which runs the tests: imports a style sheet, the script of a page or any other
// file as text (`./page.css?text`).
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { runnerImport } from 'vite';

export const assets = {
  name: 'assets',
  enforce: 'pre',
  resolveId: (path, importer) => {
    const [, file] = /^(.+)\?text$/.exec(path) ?? [];
    // Not the path of the file, because Vite would process a style sheet.
    return file && `\0${resolve(dirname(importer), file)}:text`;
  },
  load: async (id) => {
    const [, file] = /^\0(.+):text$/.exec(id) ?? [];
    return file && `export default ${JSON.stringify(await textOf(file))};`;
  },
};

function textOf(file) {
  if (file.endsWith('.ts')) return scriptOf(file);
  return file.endsWith('.css') ? stylesOf(file) : readFileSync(file, 'utf8');
}

/** Without comments and indentation, because every checkout page contains its style sheet. */
function stylesOf(file) {
  return readFileSync(file, 'utf8')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s*([{};])\s*/g, '$1');
}

async function scriptOf(file) {
  const bundle = await rolldown({ input: file, transform: { target: 'es2022' } });
  const { output } = await bundle.generate({ format: 'iife', comments: false });
  return output[0].code;
}

/** Runs the sources that the scripts of this folder need. Node 20 runs no TypeScript. */
export async function importSources() {
  const config = { plugins: [assets], oxc: { target: 'node20' } };
  return (await runnerImport('./.config/sources.ts', config)).module;
}
