import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PAGES, page, ROOT } from './pages.ts';

/** The words that the glossary replaces. */
function replacedWords(): string[] {
  const [, table = ''] = page('glossary.md').split('| Not | But |\n|---|---|\n');
  const cells = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => cell.split(', '));
}

/** All text that people read: pages, and sources with their comments and messages. */
function texts(): [file: string, text: string][] {
  const under = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|md|css|php|py|jsonl)$/.test(file) && !file.endsWith('glossary.md'))
      .map((file) => join(folder, file));
  const files = ['README.md', 'CHANGELOG.md', ...under('src'), ...under('bin'), ...under('fixtures')];
  return files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]);
}

test('no text has a word that the glossary replaces', () => {
  const words = replacedWords();
  expect(words.length).toBeGreaterThan(20);
  const pattern = new RegExp(`\\b(?:${words.join('|').replaceAll(' ', '\\s+(?:\\* |// )?')})\\b`, 'gi');
  const found = texts().flatMap(([file, text]) =>
    [...text.matchAll(pattern)].map(([word]) => `${file}: ${word}`),
  );
  expect(found).toEqual([]);
});

test('no passive sentence names the actor', () => {
  const passive =
    /\b(?:is|are|was|were|be|been|being)\s+\w+(?:ed|en|wn|nt) by (?:the|an?|your|our|its|this|gateway-sim)\b/g;
  const found = texts().flatMap(([file, text]) =>
    [...text.matchAll(passive)].map(([words]) => `${file}: ${words}`),
  );
  expect(found).toEqual([]);
});

const MOST_WORDS = 25;

/** The sentences of a page, without code; each table cell on its own. */
function sentencesOf(markdown: string): string[] {
  return markdown
    .replaceAll(/^```[\s\S]*?^```/gm, '\n')
    .replaceAll(/`[^`]*`/g, 'X')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n|\n(?=\s*[-*|#>]|\s*\d+\. )|\||(?<=[.!?:;])(?:\*\*)?\s+/);
}

/** The comments and the texts of a source file, code examples excluded. */
function sentencesIn(source: string): string[] {
  const comments = source.matchAll(/\/\*\*?([\s\S]*?)\*\/|^\s*\/\/(.*)$/gm);
  const texts = source.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g);
  return [...comments, ...texts]
    .map(([, one, other = '']) => (one ?? other).replaceAll(/\n\s*\*/g, ' ').replaceAll(/\$\{[^}]*\}/g, 'X'))
    .flatMap((text) => text.split(/(?<=[.!?:;])\s+|\n\s*\n|\n {2}|@\w+/))
    .filter((sentence) => !/[{}<>]/.test(sentence));
}

test(`no sentence of the documentation, help, messages or comments has more than ${MOST_WORDS} words`, () => {
  const sentences = [
    ...Object.entries(PAGES).map(([path, text]) => [path, sentencesOf(text)] as const),
    ...texts()
      .filter(([path]) => /\.tsx?$/.test(path))
      .map(([path, text]) => [path, sentencesIn(text)] as const),
  ].flatMap(([path, all]) => all.map((sentence) => `${path}: ${sentence}`));
  expect(sentences.length).toBeGreaterThan(30_000);
  const long = sentences.filter((sentence) => (sentence.match(/\S*\w\S*/g) ?? []).length > MOST_WORDS + 1);
  expect(long).toEqual([]);
});
