import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/store/lines.ts';
import { emptySnapshot } from '../../src/store/snapshot.ts';
import {
  readSnapshotFile,
  SnapshotFile,
  SnapshotLines,
  snapshotText,
} from '../../src/store/snapshot-file.ts';
import { character } from '../helpers/characters.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

/** Characters of one to four bytes, and characters that could be mistaken for a line break. */
const holder = fc.oneof(
  fc.string({ unit: character }),
  fc.constantFrom('Zoë 😀', '\n', '\r\n', '\u2028', '"},'),
);

function splitInto(pieces: readonly Buffer[]) {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line.toString()));
  for (const piece of pieces) splitter.push(piece);
  return { lines, rest: splitter.rest.toString() };
}

/** Reads a text line by line. @returns undefined if it has another format */
function readByLines(text: string) {
  const reader = new SnapshotLines();
  const splitter = new LineSplitter((line) => reader.push(line));
  splitter.push(Buffer.from(text));
  return reader.end(splitter.rest);
}

describe('lines', () => {
  it('do not depend on the chunks', () => {
    fc.assert(
      fc.property(fc.array(holder), fc.array(fc.nat({ max: 40 })), (texts, cuts) => {
        const bytes = Buffer.from(texts.join('\n'));
        const pieces: Buffer[] = [];
        let from = 0;
        for (const length of cuts) {
          pieces.push(bytes.subarray(from, from + length));
          from += length;
        }
        pieces.push(bytes.subarray(from));
        const all = bytes.toString().split('\n');
        expect(splitInto(pieces)).toEqual({ lines: all.slice(0, -1), rest: all.at(-1) });
      }),
    );
  });
});

describe('a snapshot that is read line by line', () => {
  it('equals the result of JSON.parse', () => {
    fc.assert(
      fc.property(fc.array(holder), (holders) => {
        const wallets = holders.map((one, index) => wallet({ id: `w${index}`, holder: one }));
        const text = [...snapshotText({ ...fullSnapshot(), wallets })].join('');
        expect(readByLines(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('equals the result of JSON.parse or falls back to it if lines were dropped, repeated or changed', () => {
    const lines = [...snapshotText(fullSnapshot())].join('').split('\n');
    const other = fc.constantFrom(
      '',
      ',',
      '{',
      '}',
      '},',
      '{}',
      '{},',
      ']',
      '],',
      '7',
      '"wallets":[],',
      '"x":[',
      '{"a":\t1}',
    );
    const line = fc.nat({ max: lines.length - 1 });
    const change = fc.oneof(
      fc.record({
        at: line,
        drop: fc.constantFrom(0, 1),
        add: fc.array(fc.oneof(other, fc.constantFrom(...lines)), { maxLength: 2 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const edited = [...lines];
        for (const { at, drop, add } of changes) edited.splice(at, drop, ...add);
        const read = readByLines(edited.join('\n'));
        if (read !== undefined) expect(read).toEqual(JSON.parse(edited.join('\n')));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([1, 2, 3, 7, 64, 4_096])('can be read in chunks of %i bytes', async (chunkBytes) => {
    const path = join(await temporaryFolder(), 'db.json');
    const wallets = ['é', '😀', 'Zoë\u2028'].map((one, index) =>
      wallet({ id: `w${index}`, holder: one.repeat(index + 5) }),
    );
    const snapshot = { ...fullSnapshot(), wallets };
    await new SnapshotFile(path).adapter().write(snapshot);
    expect((await readSnapshotFile(path, { chunkBytes }))?.snapshot).toEqual(snapshot);
  });

  it.each([
    ['pretty-printed', (text: string) => JSON.stringify(JSON.parse(text), null, 2)],
    ['on one line', (text: string) => JSON.stringify(JSON.parse(text))],
    ['with Windows line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['with a byte order mark', (text: string) => `\uFEFF${text}`],
    ['without its last newline', (text: string) => text.trimEnd()],
    [
      'with its collections in another order',
      (text: string) => {
        const { version, ...rest } = JSON.parse(text);
        return JSON.stringify({ ...Object.fromEntries(Object.entries(rest).reverse()), version });
      },
    ],
  ])('can be reformatted: %s', async (_, format) => {
    const path = join(await temporaryFolder(), 'db.json');
    const text = [...snapshotText(fullSnapshot())].join('');
    await writeFile(path, format(text));
    expect((await readSnapshotFile(path))?.snapshot).toEqual(fullSnapshot());
  });

  it('has a hash that depends on its bytes, not its content', async () => {
    const path = join(await temporaryFolder(), 'db.json');
    await new SnapshotFile(path).adapter().write(emptySnapshot());
    const first = await readSnapshotFile(path);
    await writeFile(path, `${await readFile(path, 'utf8')} `);
    const second = await readSnapshotFile(path);
    expect(second?.snapshot).toEqual(first?.snapshot);
    expect(second?.sha256).not.toBe(first?.sha256);
  });

  it('that was reformatted and is too large for one string is rejected', async () => {
    const path = join(await temporaryFolder(), 'db.json');
    await writeFile(path, '{\n');
    // A sparse file, which uses no disk space.
    await truncate(path, 2 ** 28 + 1);
    expect((await stat(path)).size).toBeGreaterThan(2 ** 28);
    await expect(readSnapshotFile(path)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${path} is too large: above 256 MiB, it must have one record per line`,
    });
  });
});
