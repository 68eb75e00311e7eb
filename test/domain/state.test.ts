import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Collection } from '../../src/domain/collection.ts';
import type { Payment, State } from '../../src/domain/state.ts';
import { pendingPayment, state } from '../helpers/records.ts';

interface Item {
  id: string;
  value: number;
}

function filled(count: number): Collection<Item> {
  const collection = new Collection<Item>();
  for (let value = 0; value < count; value++) collection.put({ id: `item${value}`, value });
  return collection;
}

const all = () => true;

describe('a collection', () => {
  it('keeps one record per id, in the order of first appearance', () => {
    const collection = filled(3);
    expect(collection.put({ id: 'item0', value: 9 })).toEqual({ id: 'item0', value: 0 });
    expect([...collection.values()].map(({ value }) => value)).toEqual([9, 1, 2]);
    expect(collection.size).toBe(3);
    expect(collection.page(1, undefined, all).data[0]?.id).toBe('item2');
    expect(collection.page(1, undefined, ({ value }) => value > 2).data[0]?.id).toBe('item0');
    expect(collection.find(({ value }) => value < 9)?.id).toBe('item1');
  });

  it('returns pages, newest first, that contain every matching record once', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 4 }),
        (count, limit, every) => {
          const collection = filled(count);
          const wanted = ({ value }: Item) => value % every === 0;
          const seen: number[] = [];
          let cursor: string | null | undefined;
          do {
            const page = collection.page(limit, cursor ?? undefined, wanted);
            expect(page.data.length).toBeLessThanOrEqual(limit);
            seen.push(...page.data.map(({ value }) => value));
            cursor = page.nextCursor;
          } while (cursor !== null);
          expect(seen).toEqual(
            [...collection.values()]
              .filter(wanted)
              .map(({ value }) => value)
              .reverse(),
          );
        },
      ),
    );
  });

  it('keeps its position if newer records are added between two pages', () => {
    const collection = filled(4);
    const first = collection.page(2, undefined, all);
    collection.put({ id: 'newer', value: 4 });
    const second = collection.page(2, first.nextCursor ?? undefined, all);
    expect([...first.data, ...second.data].map(({ value }) => value)).toEqual([3, 2, 1, 0]);
    expect(second.nextCursor).toBeNull();
  });

  it.each(['', 'x', '-1', '1.5', 'NaN', '999999'])('accepts the unknown cursor %j', (cursor) => {
    expect(filled(3).page(10, cursor, all).data.length).toBeLessThanOrEqual(3);
  });
});

describe('rolling back a change', () => {
  const snapshot = (held: State) => ({
    payments: [...held.payments.values()],
    pages: held.payments.page(100, undefined, all).data.map(({ id }) => id),
    byIdentifier: ['a', 'b'].map((identifier) => [
      held.findPayment(identifier)?.id,
      held.payments.newestOf(identifier),
      held.payments.group(identifier),
    ]),
    deliveries: [...held.deliveries.values()],
    wallets: [...held.wallets.values()],
  });

  it('restores the state after any changes and lookups', () => {
    const template = pendingPayment(state());
    const step = fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      status: fc.constantFrom('pending' as const, 'succeeded' as const),
      look: fc.boolean(),
    });
    const payment = (id: number, status: Payment['status']): Payment => ({
      ...template,
      id: `pay_${id}`,
      identifier: id % 2 ? 'a' : 'b',
      status,
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        (kept, lost) => {
          const held = state();
          // A settled payment never becomes pending again.
          const put = ({ id, status, look }: { id: number; status: Payment['status']; look: boolean }) => {
            const known = held.payments.get(`pay_${id}`)?.status;
            const undo = held.apply({ payments: [payment(id, known === 'succeeded' ? known : status)] });
            if (look) snapshot(held);
            return undo;
          };
          const twin = state();
          const putInBoth = (one: (typeof kept)[number]) => {
            put(one);
            twin.apply({ payments: [held.payments.get(`pay_${one.id}`) as Payment] });
          };
          kept.forEach(putInBoth);
          const undos = lost.map(put);
          for (const undo of undos.reverse()) undo();
          expect(snapshot(held)).toEqual(snapshot(twin));
          lost.forEach(putInBoth);
          expect(snapshot(held)).toEqual(snapshot(twin));
        },
      ),
    );
  });
});
