import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { COLLECTION_NAMES } from '../../src/contract/state.ts';
import { unwritable } from '../../src/store/files.ts';
import { emptySnapshot, parseChange, parseSnapshot } from '../../src/store/snapshot.ts';
import { readSnapshotFile, SnapshotFile, snapshotText } from '../../src/store/snapshot-file.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

const paid = () => fullSnapshot().payments[0];
const due = () => fullSnapshot().deliveries[0];
const tried = () => fullSnapshot().attempts[0];

describe('a snapshot', () => {
  it.each([0, 1, 249, 250, 251, 1_000])(
    'of %i records is written in slices that form valid JSON',
    (count) => {
      const wallets = Array.from({ length: count }, (_, index) => wallet({ id: `w${index}` }));
      const slices = [...snapshotText({ ...emptySnapshot(), wallets })];
      expect(JSON.parse(slices.join('')).wallets).toEqual(wallets);
      expect(slices).toHaveLength(Math.floor(count / 250) + 1);
    },
  );

  it('gets empty collections for missing ones', () => {
    expect(parseSnapshot({ version: 1 }, 'it')).toEqual(emptySnapshot());
  });

  it.each([
    ['wallets', [{ ...wallet(), balance: '1e5' }], 'wallets.0.balance'],
    ['wallets', [wallet(), 7], 'wallets.1'],
    ['wallets', {}, 'wallets'],
    ['payments', [{ ...paid(), status: 'paid' }], 'payments.0.status'],
    ['payments', [{ ...paid(), amount: 'much' }], 'payments.0.amount'],
    ['payments', [{ ...paid(), expiresAt: 'soon' }], 'payments.0.expiresAt'],
    ['payments', [{ ...paid(), siteLogo: undefined }], 'payments.0.siteLogo'],
    ['deliveries', [{ ...due(), nextAttemptAt: 'tomorrow' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), nextAttemptAt: '2026-13-01T00:00:00.000Z' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), attemptCount: -1 }], 'deliveries.0.attemptCount'],
    ['attempts', [{ ...tried(), requestHeaders: [['a', 'b', 'c']] }], 'attempts.0.requestHeaders.0'],
  ])('with damaged %s is rejected, and the error names the place', (name, value, where) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'the request body');
    expect(act).toThrow(GatewayError);
    expect(act).toThrow(`the request body is damaged: ${where}`);
  });

  it('that is any JSON is accepted or rejected with a clear error', () => {
    const collection = fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string() })));
    const anySnapshot = fc.record(
      {
        version: fc.oneof(fc.constant(1), fc.jsonValue()),
        ...Object.fromEntries(COLLECTION_NAMES.map((name) => [name, collection])),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anySnapshot), (json) => {
        for (const read of [() => parseSnapshot(json, 'it'), () => parseChange(JSON.stringify(json), 'it')]) {
          try {
            read();
          } catch (error) {
            expect(error).toMatchObject({ name: 'GatewayError', code: 'state_damaged' });
          }
        }
      }),
    );
  });
});

describe('a snapshot file', () => {
  it('that does not exist is read as null', async () => {
    expect(await readSnapshotFile(join(await temporaryFolder(), 'none.json'))).toBeNull();
  });

  it('that cannot be written because its temporary file is a folder is reported', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'db.json.tmp'));
    const error = await new SnapshotFile(join(folder, 'db.json'))
      .adapter()
      .write(emptySnapshot())
      .catch((thrown) => thrown);
    expect(unwritable('db.json', error)).toMatchObject({
      code: 'storage_failed',
      message: 'db.json cannot be written: it is a folder, not a file',
    });
  });

  it('that cannot be read is reported as damaged, not read as an empty state', async () => {
    const folder = await temporaryFolder();
    await expect(readSnapshotFile(folder)).rejects.toMatchObject({
      code: 'state_damaged',
      message: `${folder} cannot be read: it is a folder, not a file`,
    });
    await writeFile(join(folder, 'file'), '');
    for (const path of [join(folder, 'file'), join(folder, 'file', 'db.json')])
      await expect(readSnapshotFile(path)).rejects.toMatchObject({ code: 'state_damaged' });
  });
});
