import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chunksOf, linesOf } from '../../src/store/read-lines.ts';
import { temporaryFolder } from '../helpers/folder.ts';

async function fileWith(text: string) {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, text);
  const file = await open(path);
  onTestFinished(() => file.close());
  return file;
}

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string[]> {
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(piece.toString());
  return texts;
}

/** The size of a chunk. */
const CHUNK = 2 ** 20;

test.each([
  ['an empty file', ''],
  ['only a newline', '\n'],
  ['no newline', 'a'],
  ['an incomplete last line', 'a\n\nbc\nd'],
  ['a line that ends with a chunk', `${'a'.repeat(CHUNK - 1)}\nb\n`],
  ['a line that ends after a chunk', `${'a'.repeat(CHUNK)}\nb\n`],
  ['a line of several chunks', `a\n${'b'.repeat(3 * CHUNK)}\nc`],
  ['characters across chunks', `a${'😀€\n'.repeat(CHUNK / 4)}é`],
])('a file is read line by line: %s', async (_, text) => {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '');
  expect((await textOf(linesOf(await fileWith(text)))).every((line, index) => line === lines[index])).toBe(
    true,
  );
  expect(await textOf(linesOf(await fileWith(text)))).toHaveLength(lines.length);
});

test.each([
  [{}, '0123456789'],
  [{ from: 3 }, '3456789'],
  [{ from: 3, to: 9 }, '345678'],
  [{ from: 3, to: 3 }, ''],
  [{ to: 100 }, '0123456789'],
])('a part of a file is read: %j', async (part, expected) => {
  expect((await textOf(chunksOf(await fileWith('0123456789'), part))).join('')).toBe(expected);
});
