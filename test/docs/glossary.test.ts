import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { page, ROOT } from './pages.ts';

/** The words that writers replace. */
function replacedWords(): string[] {
  const [, table = ''] = page('.github/CONTRIBUTING.md').split(
    /\| Not \| But \|\n\|---\|---\|\n|\n\n## Trials/,
  );
  const cells = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.split(', '));
}

/** All text that people read: pages, and sources with their comments and messages. */
function texts(): [file: string, text: string][] {
  const under = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|md|css|php|py|jsonl)$/.test(file))
      .map((file) => join(folder, file));
  const files = ['README.md', 'CHANGELOG.md', ...under('src'), ...under('bin'), ...under('fixtures')];
  return files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]);
}

test('no text has a word that CONTRIBUTING.md replaces', () => {
  const words = replacedWords();
  expect(words.length).toBeGreaterThan(20);
  const pattern = new RegExp(`\\b(?:${words.join('|').replaceAll(' ', '\\s+(?:\\* |// )?')})\\b`, 'gi');
  const found = texts().flatMap(([file, text]) =>
    [...text.matchAll(pattern)].map(([word]) => `${file}: ${word}`),
  );
  expect(found).toEqual([]);
});
