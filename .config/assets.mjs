// A plugin for Rolldown and for Vite, which runs the tests: imports a style sheet or the script of a page as text
// (`./page.css?text`).
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { build } from 'rolldown';
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
    if (file === undefined) return undefined;
    const text = file.endsWith('.ts') ? await scriptOf(file) : stylesOf(file);
    return `export default ${JSON.stringify(text)};`;
  },
};

/** Without comments and indentation, because every checkout page contains its style sheet. */
const stylesOf = (file) => readFileSync(file, 'utf8').replace(/\s*(?:\/\*.*?\*\/|([{};]))\s*/gs, '$1');

async function scriptOf(file) {
  const output = { format: 'iife', comments: false };
  const built = await build({ input: file, write: false, transform: { target: 'es2022' }, output });
  return built.output[0].code;
}

/** Runs the sources that the scripts of this folder need. Node 20 runs no TypeScript. */
export async function importSources() {
  const config = { plugins: [assets], oxc: { target: 'node20' } };
  return (await runnerImport('.config/sources.ts', config)).module;
}
