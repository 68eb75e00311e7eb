import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../src/store/snapshot.ts';
import { interceptSyncs } from '../helpers/file-calls.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { records, wallet } from '../helpers/records.ts';
import { dbOf, idsIn, journalOf, openStore, put } from '../helpers/store.ts';

const INITIAL = records().wallets.map(({ id }) => id);
/** As on a full disk, which the journal survives. */
const preventSnapshots = (folder: string) => mkdir(`${dbOf(folder)}.tmp`);

/** A state with a single, different wallet. */
const replacement = { ...records(), wallets: [wallet({ id: 'only' })] };
const ids = (snapshot: Pick<Snapshot, 'wallets'>) => snapshot.wallets.map(({ id }) => id);

async function reopened(folder: string): Promise<Snapshot> {
  const store = await openStore(folder);
  const snapshot = store.snapshot();
  expect(store.notices).toEqual([]);
  await store.close();
  return snapshot;
}

describe('a replaced state', () => {
  it('is one journal line, marked as a reset', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await preventSnapshots(folder);
    await store.replace(replacement);
    const [, ...lines] = (await readFile(journalOf(folder), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { reset: true, merchants: records().merchants, wallets: [wallet({ id: 'only' })], payments: [] },
    ]);
  });

  it('has no effect if a kill tore its line', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder);
    await preventSnapshots(folder);
    await store.replace(replacement);
    const journal = await readFile(journalOf(folder));
    await store.close();
    await writeFile(journalOf(folder), journal.subarray(0, -2));
    await rmdir(`${dbOf(folder)}.tmp`);
    const second = await openStore(folder);
    expect(ids(second.snapshot())).toEqual(INITIAL);
    expect(second.notices).toEqual([expect.stringContaining('torn')]);
  });

  it('that cannot be stored is rolled back with all later changes', async () => {
    const folder = await temporaryFolder();
    const store = await openStore(folder, { fsync: true });
    await store.commit(put('before'));
    let failures = 1;
    interceptSyncs((sync) => (failures-- > 0 ? Promise.reject(new Error('ENOSPC')) : sync()));
    const work = [
      store.commit(put('with it')),
      store.replace(replacement),
      store.commit(put('on top of it')),
    ];
    const outcomes = await Promise.allSettled<unknown>(work);
    const failed = { status: 'rejected', reason: expect.objectContaining({ code: 'storage_failed' }) };
    expect(outcomes).toEqual([failed, failed, failed]);
    expect(idsIn(store)).toEqual([...INITIAL, 'before']);
    await store.commit(put('after'));
    await store.close();
    expect(ids(await reopened(folder))).toEqual([...INITIAL, 'before', 'after']);
  });

  it('is reported once, between earlier and later changes', async () => {
    const store = await openStore(await temporaryFolder());
    const reported: [first: string | undefined, replaced: boolean][] = [];
    store.onChange(({ wallets }, replaced) => reported.push([wallets?.[0]?.id, replaced]));
    await Promise.all([store.commit(put('a')), store.replace(replacement), store.commit(put('b'))]);
    expect(reported).toEqual([
      ['a', false],
      ['only', true],
      ['b', false],
    ]);
  });

  it('is restored from disk after any sequence of changes', async () => {
    const step = fc.oneof(
      fc.record({ put: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ replace: fc.subarray(['a', 'b', 'x']) }),
      fc.constant('wait' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const folder = await temporaryFolder();
        const store = await openStore(folder);
        const done: Promise<unknown>[] = [];
        for (const one of steps) {
          if (one === 'wait') await Promise.all(done);
          else if ('put' in one) done.push(store.commit(put(one.put)));
          else done.push(store.replace({ ...records(), wallets: one.replace.map((id) => wallet({ id })) }));
        }
        await Promise.all(done);
        // Reads the journal first: a snapshot in between can only include lines that were already read.
        const journal = await readFile(journalOf(folder));
        const db = await readFile(dbOf(folder));
        const before = store.snapshot();
        await store.close();
        expect(await reopened(folder)).toEqual(before);
        // The folder is as a kill would leave it: the journal is not yet in the snapshot.
        await writeFile(dbOf(folder), db);
        await writeFile(journalOf(folder), journal);
        expect(await reopened(folder)).toEqual(before);
      }),
      { numRuns: 40 },
    );
  });
});
