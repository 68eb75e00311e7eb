import { describe, expect, it } from 'vitest';
import {
  changesBetween,
  type Row,
  type Rows,
  shownChange,
  shownValue,
  textOf,
} from '../../src/database/changes.ts';
import { readInserts } from '../../src/database/inserts.ts';

const rows = (tables: Readonly<Record<string, Readonly<Record<string, Row>>>>): Rows =>
  new Map(Object.entries(tables).map(([table, all]) => [table, new Map(Object.entries(all))]));

describe('the difference between two readings of a database', () => {
  it('has changed columns, new rows and rows that are gone', () => {
    const before = rows({ orders: { 17: { status: 'pending', total: 49.9 } }, carts: { 1: { id: 1 } } });
    const after = rows({
      orders: { 17: { status: 'paid', total: 49.9 } },
      carts: {},
      mails: { 5: { id: 5 } },
    });
    const paid = { status: 'paid', total: 49.9 };
    expect(changesBetween(before, after)).toEqual([
      { table: 'orders', key: '17', column: 'status', from: 'pending', to: 'paid', row: paid },
      { table: 'carts', key: '1', column: '*', from: 'a row', to: null, row: { id: 1 } },
      { table: 'mails', key: '5', column: '*', from: null, to: 'a row', row: { id: 5 } },
    ]);
  });

  it.each([
    ['2026-05-01 09:30:00', '2026-05-01 09:30:01', 0],
    [1_764_288_000, 1_764_288_001, 0],
    [null, '2026-05-01T09:30:00Z', 1],
    [true, false, 1],
    ['{"at":"2026-05-01T09:30:00.123Z"}', '{"at":"2026-05-01T09:30:01.456Z"}', 0],
  ])('of %j and %j counts %j', (one, other, count) => {
    const [before, after] = [one, other].map((value) => rows({ orders: { 1: { value } } }));
    expect(before && after && changesBetween(before, after)).toHaveLength(count);
  });

  it.each([
    ['customer_email', 'x', '…'],
    ['note', 'ann@example.com', '…'],
    ['note', 'A'.repeat(41), '…'],
    ['ref', '0123456789abcdef', '…'],
    ['session_id', 'x', '…'],
    ['id', 'q7mBv2Zx9KpL4sTn8RwYd3Hc', '…'],
    ['id', 'order-2026-00000000017', 'order-2026-00000000017'],
    ['status', 'paid', 'paid'],
    ['status', null, null],
  ])('shows %s %j as %j', (column, value, shown) => {
    expect(shownValue(column, textOf(value))).toBe(shown);
  });
});

describe('a change for a report', () => {
  const row = { id: 17, email: 'ann', at: 'ann@example.com', status: 'paid' };
  const change = { table: 'orders', key: 'in full', column: 'status', from: 'pending', to: 'paid', row };

  it.each([
    [['id'], '17'],
    [['email'], '…'],
    [['at', 'id'], '…, 17'],
    [['rowid'], '…'],
    [undefined, '…'],
  ])('masks the key %j as %s', (keys, key) => {
    expect(shownChange(change, keys)).toEqual({
      ...{ table: 'orders', key, column: 'status', from: 'pending', to: 'paid' },
    });
  });

  it('masks values', () => {
    expect(shownChange({ ...change, column: 'email' }, ['id'])).toMatchObject({ from: '…', to: '…' });
  });
});

describe('a dump', () => {
  it('is read from INSERT statements with the names of their columns', () => {
    const dump = [
      '-- MariaDB dump',
      "INSERT INTO `orders` (`id`, `note`) VALUES (1,'it''s \\'x\\', (y)\\n'),(2,NULL);",
      'CREATE TABLE t (x int);',
      "INSERT INTO public.mails (id, body) VALUES (5, '--');",
      'INSERT INTO "orders" ("id", "note") VALUES(3,X\'00ff\');',
    ].join('\n');
    expect(readInserts(dump)).toEqual(
      new Map([
        [
          'orders',
          [
            { id: 1, note: "it's 'x', (y)\n" },
            { id: 2, note: null },
            { id: 3, note: '00ff' },
          ],
        ],
        ['mails', [{ id: 5, body: '--' }]],
      ]),
    );
  });

  it.each(['', 'INSERT', 'INSERT INTO', 'INSERT INTO a (b) VALUES (', "INSERT INTO a (b) VALUES ('x"])(
    'that breaks off is read as far as it goes: %j',
    (dump) => {
      expect([...readInserts(dump).values()].flat().length).toBeLessThanOrEqual(1);
    },
  );
});
