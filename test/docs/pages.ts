import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCS = 'src/docs';

/** Every page of the documentation by its path in the repository. */
export const PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'README.md',
    'CHANGELOG.md',
    '.github/CONTRIBUTING.md',
    'test/bench/README.md',
    'test/long/README.md',
    ...readdirSync(join(ROOT, DOCS), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${DOCS}/${file}`)
      .sort(),
  ].map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);

/** A page by the name that tests use: `time.md`, `reference/files.md`, `README.md`. */
export function page(name: string): string {
  const text = PAGES[name] ?? PAGES[`${DOCS}/${name}`];
  if (text === undefined) throw new Error(`there is no page ${name}`);
  return text;
}

/** Whether `npm run docs` generates the page. Another test compares such pages as a whole. */
export function isGenerated(text: string): boolean {
  return text.startsWith('<!-- Made by "npm run docs"');
}

export interface Fence {
  /** Its page and the heading above it, such as `time.md: Time`. */
  place: string;
  language: string;
  code: string;
}

/** Every code block of the handwritten pages, in order. */
export const FENCES: readonly Fence[] = Object.entries(PAGES)
  .filter(([, text]) => !isGenerated(text))
  .flatMap(([path, text]) => {
    let heading = '';
    const blocks = text.matchAll(/^#+ (.+)$|^```(\w*)\n([\s\S]*?\n)```$/gm);
    return [...blocks].flatMap(([, title, language = '', code = '']) => {
      if (title === undefined)
        return [{ place: `${path.replace(`${DOCS}/`, '')}: ${heading}`, language, code }];
      heading = title;
      return [];
    });
  });

/** The n-th code block (from 0) of a language at a place. */
export function fence(place: string, language: string, number = 0): string {
  const found = FENCES.filter((one) => one.place === place && one.language === language)[number];
  if (!found) throw new Error(`there is no ${language} block ${number} at "${place}"`);
  return found.code;
}
