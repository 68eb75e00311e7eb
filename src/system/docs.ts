import { readdir, readFile } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { packaged } from './package-info.ts';

interface DocPage {
  /** Its name without folder and extension; no two pages share one. */
  topic: string;
  /** Its path in the documentation, with slashes. Links in the page are relative to it. */
  file: string;
  title: string;
  text: string;
}

/** The documentation that the package contains, sorted by file. */
export async function docPages(): Promise<DocPage[]> {
  const folder = packaged('src/docs');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.md')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8');
      const title = /^# (.+)$/m.exec(text)?.[1] ?? '';
      return { topic: basename(file, '.md'), file: file.replaceAll(sep, '/'), title, text };
    }),
  );
}
