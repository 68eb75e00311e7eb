import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { parseChange } from '../../src/store/snapshot.ts';
import type { Store } from '../../src/store/store.ts';
import { copyOfFiles, temporaryFolder } from '../helpers/folder.ts';
import { context, pendingPayment, state } from '../helpers/records.ts';
import { changesIn, journalOf, openStore } from '../helpers/store.ts';

const template = pendingPayment(state(), {}, context());
const ids = (store: Store) => [...store.state.payments.values()].map(({ id }) => id);
const put = (store: Store, id: string, details = '') =>
  store.commit(() => ({ change: { payments: [{ ...template, id, details }] }, result: null }));
const remove = (store: Store, ...payments: string[]) =>
  store.commit(() => ({ change: { removed: { payments } }, result: null }));

it('removed records stay removed after a kill, whether before or after a snapshot', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  for (const id of ['a', 'b', 'c', 'd']) await put(store, id);
  await remove(store, 'a', 'c');
  expect(ids(store)).toEqual(['b', 'd']);
  const journal = await readFile(journalOf(folder), 'utf8');
  expect(journal).toContain('"removed":{"payments":["a","c"]}');

  const again = await openStore(await copyOfFiles(folder));
  expect(ids(again)).toEqual(['b', 'd']);
  await remove(again, 'b');
  await put(again, 'e');
  await again.close();
  await store.close();
  expect(ids(await openStore(folder))).toEqual(['b', 'd']);
});

it('a kill between a snapshot and dropping its journal lines restores no removed records', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  for (const id of ['a', 'b', 'c']) await put(store, id);
  await remove(store, 'a');
  const journal = await readFile(journalOf(folder));
  await store.close();
  // Reads journal lines again whose changes are already in db.json.
  const copy = await copyOfFiles(folder);
  const lines = journal.toString().split('\n').slice(1).join('\n');
  expect(lines).toContain('"removed"');
  const reread = await openStore(copy);
  for (const line of lines.split('\n').filter(Boolean)) {
    const { line: _, crc32: __, ...change } = JSON.parse(line);
    reread.state.apply(parseChange(change, 'the journal'));
  }
  expect(ids(reread)).toEqual(['b', 'c']);
});

it('a removal that cannot be stored is rolled back, and the records keep their order', async () => {
  const folder = await temporaryFolder();
  let isOurs = true;
  const store = await openStore(folder, {
    assertOurs() {
      if (!isOurs) throw new Error('lost');
    },
  });
  for (const id of ['a', 'b', 'c']) await put(store, id);
  isOurs = false;
  const more = put(store, 'd').catch(() => {});
  await expect(remove(store, 'a', 'b')).rejects.toMatchObject({ code: 'storage_failed' });
  await more;
  expect(ids(store)).toEqual(['a', 'b', 'c']);
  isOurs = true;
  await store.close();
  expect(ids(await openStore(folder))).toEqual(['a', 'b', 'c']);
});

it('removals trigger a new snapshot, even though their lines are small', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  const large = 'x'.repeat(100_000);
  // Together larger than the minimum for a snapshot, but new records alone do not trigger one.
  for (let count = 0; count < 100; count++) await put(store, `pay_${count}`, large);
  const changes = await changesIn(folder);
  const many = Array.from({ length: 15_000 }, (_, index) => ({ ...template, id: `small_${index}` }));
  await store.commit(() => ({ change: { payments: many }, result: null }));
  // The rest is still a large state, which gets no snapshot after a delay.
  await remove(store, ...many.slice(6_000).map(({ id }) => id));
  await expect.poll(() => changesIn(folder), { timeout: 8_000 }).toBeLessThan(changes);
});
