import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptySnapshot, type Snapshot } from '../../src/store/snapshot.ts';
import { readSnapshotFile, SnapshotFile, snapshotText } from '../../src/store/snapshot-file.ts';
import { character } from '../helpers/characters.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

const dbIn = async () => join(await temporaryFolder(), 'db.json');
const read = (path: string) => new SnapshotFile(path).read([]);
const ALONE = { isSynced: false, announce: async () => {}, assertOurs: () => {}, onEdit: () => {} };
const textOf = (snapshot: Snapshot) => [...snapshotText(snapshot)].join('');

/** Reads a file as one that gateway-sim wrote. */
async function readOwn(path: string): Promise<Snapshot | undefined> {
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return new SnapshotFile(path).read([sha256]);
}

describe('the text of a snapshot', () => {
  it.each([0, 1, 249, 250, 251, 1_000])(
    'with %i records is written in slices that form valid JSON',
    (count) => {
      const wallets = Array.from({ length: count }, (_, index) => wallet({ id: `w${index}` }));
      const slices = [...snapshotText({ ...emptySnapshot(), wallets })];
      expect(JSON.parse(slices.join('')).wallets).toEqual(wallets);
      expect(slices).toHaveLength(Math.floor(count / 250) + 1);
    },
  );
});

describe('a snapshot file', () => {
  it('that does not exist is read as nothing', async () => {
    const path = await dbIn();
    expect([await read(path), await readSnapshotFile(path)]).toEqual([undefined, undefined]);
  });

  it('that cannot be read is reported as damaged, not read as an empty state', async () => {
    const folder = await temporaryFolder({ file: '' });
    await expect(readSnapshotFile(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${folder} cannot be read: it is a folder, not a file`,
    });
    for (const path of [join(folder, 'file'), join(folder, 'file', 'db.json')])
      await expect(readSnapshotFile(path)).rejects.toMatchObject({ code: 'state_damaged' });
  });

  it.each([
    ['as written', (text: string) => text],
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
    const path = await dbIn();
    await writeFile(path, format(textOf(fullSnapshot())));
    expect(await readSnapshotFile(path)).toEqual(fullSnapshot());
    expect(await read(path)).toEqual(fullSnapshot());
  });

  it('that is too large for one string, and not from gateway-sim, is rejected', async () => {
    const path = await dbIn();
    await writeFile(path, '{\n');
    // A sparse file, which uses no disk space.
    await truncate(path, 2 ** 29);
    await expect(readSnapshotFile(path)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${path} is too large: an edited state may have up to 512 MiB`,
    });
  });
});

describe('a file that gateway-sim wrote', () => {
  it('is read line by line, with the same result as JSON.parse', async () => {
    const path = await dbIn();
    // Characters that could be mistaken for the end of a line or a record.
    const holder = fc.oneof(
      fc.string({ unit: character }),
      fc.constantFrom('\n', '\r\n', '\u2028', '"},', ']'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(holder), async (holders) => {
        const wallets = holders.map((one, index) => wallet({ id: `w${index}`, holder: one }));
        const snapshot = { ...fullSnapshot(), wallets };
        await new SnapshotFile(path).write(snapshot, ALONE);
        expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ ...snapshot, id: expect.any(String) });
        expect(await readOwn(path)).toEqual(snapshot);
      }),
    );
  });

  it('needs no schema, but any other file does', async () => {
    const path = await dbIn();
    const odd = { ...fullSnapshot(), wallets: [{ ...wallet(), balance: 7 } as never] };
    await writeFile(path, textOf(odd));
    expect(await readOwn(path)).toEqual(odd);
    await expect(read(path)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${path} is damaged: wallets.0.balance must be of the type string`,
    });
  });

  it('is known by its bytes, not its content', async () => {
    const path = await dbIn();
    const file = new SnapshotFile(path);
    await file.write(fullSnapshot(), ALONE);
    const text = await readFile(path, 'utf8');
    expect(file.size).toBe(Buffer.byteLength(text));
    const again = () => new SnapshotFile(path).read([file.sha256 ?? '']);
    // As a change that only a schema finds.
    const odd = text.replace('"balance":"1000"', '"balance":1000');
    expect(odd).not.toBe(text);
    await writeFile(path, odd);
    await expect(again()).rejects.toMatchObject({ code: 'state_damaged' });
    await writeFile(path, text);
    expect(await again()).toEqual(fullSnapshot());
  });
});
