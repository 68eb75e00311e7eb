import { expect, it } from 'vitest';
import { describeChanges, describeShop } from '../../src/contract/describe-changes.ts';

const row = (table: string) => ({ table, key: '1', column: '*', from: null, to: 'a row' });

it('changes are described in their order, with rows of a table together and noise last', () => {
  const changes = [
    row('ps_orders'),
    { table: 'ps_cart', key: '6', column: 'status', from: 'open', to: 'paid' },
    row('ps_message'),
    row('ps_orders'),
    ...['a', 'b', 'c'].map(row),
    { ...row('ps_guest'), noise: true as const },
  ];
  expect(describeChanges(changes)).toBe(
    '+2 ps_orders, ps_cart 6 status open → paid, +1 ps_message, +1 a, +1 b, 1 more, 1 in sessions, caches, schedulers and logs',
  );
});

it('changes that are not known are described by the reason', () => {
  expect(describeShop(null, 'the database is locked')).toBe('not known: the database is locked');
  expect([describeShop(null, null), describeShop([], null)]).toEqual([null, null]);
});
