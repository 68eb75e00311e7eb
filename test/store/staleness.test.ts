import { expect, it } from 'vitest';
import { State } from '../../src/domain/state.ts';
import type { StoredChange } from '../../src/store/snapshot.ts';
import { Staleness } from '../../src/store/staleness.ts';
import { wallet } from '../helpers/records.ts';

const MEGABYTE = 2 ** 20;
const put = (...ids: string[]) => ({ wallets: ids.map((id) => wallet({ id })) });
const remove = (...ids: string[]) => ({ removed: { wallets: ids } });

/** The staleness after a snapshot with ten wallets and one more change. */
function after(fileMegabytes: number, change: StoredChange, megabytes: number): Staleness {
  const state = new State();
  state.apply(put(...Array.from({ length: 10 }, (_, index) => `held-${index}`)));
  const staleness = new Staleness({ state }, { size: fileMegabytes * MEGABYTE });
  staleness.measure(change, megabytes * MEGABYTE, () => state.apply(change));
  return staleness;
}

const several = Array.from({ length: 6 }, (_, index) => `held-${index}`);

it.each<[string, number, StoredChange, number]>([
  ['more than eight megabytes were replaced', 1, put('held-0'), 9],
  ['more than half of the data was replaced', 19, put('held-0'), 20],
  ['most records were removed', 20, remove(...several), 1],
  ['the whole state was replaced', 9, { reset: true, ...put('new') }, 1],
])('a new snapshot is due when %s', (_, fileMegabytes, change, megabytes) => {
  expect(after(fileMegabytes, change, megabytes).isLarge).toBe(true);
});

it.each<[string, number, StoredChange, number]>([
  ['all changes are new records', 1, put('a', 'b'), 100],
  ['eight megabytes were replaced', 1, put('held-0'), 8],
  ['half of the data was replaced', 20, put('held-0'), 20],
  ['half of the changes are new records', 1, put('held-0', 'new'), 16],
  ['a tenth of the records was removed', 60, remove('held-0'), 3],
])('no new snapshot is due when %s', (_, fileMegabytes, change, megabytes) => {
  expect(after(fileMegabytes, change, megabytes).isLarge).toBe(false);
});

it('a new snapshot resets the staleness', () => {
  const staleness = after(1, put('held-0'), 20);
  staleness.begin();
  expect(staleness.isLarge).toBe(false);
  staleness.measure(put('held-1'), 8 * MEGABYTE, () => undefined);
  expect(staleness.isLarge).toBe(false);
  staleness.measure(put('held-1'), MEGABYTE, () => undefined);
  expect(staleness.isLarge).toBe(true);
});
