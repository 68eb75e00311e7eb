import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Collection } from '../../src/domain/collection.ts';
import { type Slice, sliceOf } from '../../src/http/pages/dashboard/slice.ts';

interface Item {
  id: string;
  isWanted: boolean;
}

/** A list of which some are wanted, and some were removed. */
function collectionOf(kinds: readonly ('wanted' | 'other' | 'removed')[]) {
  const collection = new Collection<Item>();
  for (const [index, kind] of kinds.entries())
    collection.put({ id: String(index), isWanted: kind === 'wanted' });
  collection.remove([...kinds.keys()].filter((index) => kinds[index] === 'removed').map(String));
  return collection;
}

it('parts, one after the other, are the whole list in both directions, and each knows its place', () => {
  const kind = fc.constantFrom('wanted' as const, 'other' as const, 'removed' as const);
  fc.assert(
    fc.property(
      fc.array(kind, { maxLength: 60 }),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      (kinds, limit, isNarrowed) => {
        const collection = collectionOf(kinds);
        const wanted = isNarrowed ? (item: Item) => item.isWanted : undefined;
        const all = [...collection.values()].filter((item) => wanted?.(item) ?? true).reverse();
        const at = (cursor: string | null) =>
          sliceOf<Item>(
            (visit) => collection.backwards(visit),
            { limit, cursor: cursor || undefined, wanted },
            collection.size,
          );
        const slices: Slice<Item>[] = [at('')];
        for (let older = slices[0]?.older; older; older = slices.at(-1)?.older) slices.push(at(older));
        expect(slices.flatMap(({ data }) => data)).toEqual(all);
        for (const [index, slice] of slices.entries()) {
          expect([slice.before, slice.total, slice.isCounted]).toEqual([index * limit, all.length, true]);
          if (index === 0) expect(slice.newer).toBeNull();
          else expect(at(slice.newer).data).toEqual(slices[index - 1]?.data);
        }
      },
    ),
  );
});

it('a part stays the same when records come in, and says that they are before it', () => {
  const collection = collectionOf(Array.from({ length: 30 }, () => 'wanted' as const));
  const at = (cursor?: string) =>
    sliceOf<Item>((visit) => collection.backwards(visit), { limit: 10, cursor }, collection.size);
  const cursor = at().older ?? undefined;
  const { data } = at(cursor);
  for (const id of ['new-1', 'new-2']) collection.put({ id, isWanted: true });
  expect(at(cursor)).toMatchObject({ data, before: 12, total: 32 });
});

it('a list that is too long to be counted is not', () => {
  const collection = collectionOf(
    Array.from({ length: 30_000 }, (_, index) => (index % 2 ? 'wanted' : 'other')),
  );
  let looked = 0;
  const slice = sliceOf<Item>(
    (visit) => collection.backwards((item, place) => ++looked > 0 && visit(item, place)),
    { limit: 10, cursor: undefined, wanted: (item) => item.isWanted },
    collection.size,
  );
  expect(slice.isCounted).toBe(false);
  expect(slice.total).toBeLessThan(15_000);
  expect(looked).toBeLessThan(21_000);
});
