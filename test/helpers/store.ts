import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Wallet } from '../../src/contract/wallet.ts';
import { Store } from '../../src/store/store.ts';
import { records, wallet } from './records.ts';

type Files = Parameters<typeof Store.open>[0];

/** Opens the store of a folder, and closes it at the end of the test. A new store has `records()`. */
export async function openStore(
  folder: string,
  options: Partial<Files> = {},
  initial = async () => records(),
): Promise<Store> {
  const store = await Store.open({ folder, fsync: false, ...options }, initial);
  onTestFinished(() => store.close());
  return store;
}

export const dbOf = (folder: string) => join(folder, 'db.json');
export const journalOf = (folder: string) => join(folder, 'journal.jsonl');

/** A rule that stores one wallet and returns its id. */
export const put =
  (id: string, changes: Partial<Wallet> = {}) =>
  () => ({ change: { wallets: [wallet({ id, ...changes })] }, result: id });

/** The ids of all wallets. */
export const idsIn = ({ state }: Store) => [...state.wallets.values()].map(({ id }) => id);

/** The number of changes in the journal of a folder. */
export async function changesIn(folder: string): Promise<number> {
  const text = await readFile(journalOf(folder), 'utf8');
  return text.split('\n').filter((line) => line.startsWith('{"line":') && !line.includes('"snapshot":'))
    .length;
}
