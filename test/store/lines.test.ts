import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chunksOf } from '../../src/store/lines.ts';
import { temporaryFolder } from '../helpers/folder.ts';

async function fileWith(text: string) {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, text);
  const file = await open(path);
  onTestFinished(() => file.close());
  return file;
}

test.each([
  [{ chunkBytes: 4 }, ['0123', '4567', '89']],
  [{ chunkBytes: 5 }, ['01234', '56789']],
  [{ chunkBytes: 100 }, ['0123456789']],
  [{ from: 3, to: 9, chunkBytes: 4 }, ['3456', '78']],
  [{ from: 3, to: 3 }, []],
])('a file is read in chunks %j', async (options, expected) => {
  const pieces: string[] = [];
  for await (const piece of chunksOf(await fileWith('0123456789'), options)) {
    await new Promise((resolve) => setImmediate(resolve));
    pieces.push(piece.toString());
  }
  expect(pieces).toEqual(expected);
});

test('a read error is thrown when its chunk is requested, and does not end the process before that', async () => {
  const file = await fileWith('0123456789');
  let reads = 0;
  const failing = new Proxy(file, {
    get: (_, name) =>
      name === 'read' && ++reads === 2
        ? () => Promise.reject(new Error('EIO'))
        : Reflect.get(file, name).bind(file),
  });
  const pieces = chunksOf(failing, { chunkBytes: 4 });
  expect((await pieces.next()).value?.toString()).toBe('0123');
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(pieces.next()).rejects.toThrow('EIO');
});

test('a reader that stops early gets no errors from later chunks', async () => {
  const pieces = chunksOf(await fileWith('0123456789'), { chunkBytes: 4 });
  for await (const piece of pieces) {
    expect(piece.toString()).toBe('0123');
    break;
  }
  expect((await pieces.next()).done).toBe(true);
});
