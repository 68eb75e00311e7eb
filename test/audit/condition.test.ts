import { expect, it } from 'vitest';
import { asRowCondition } from '../../src/shop/probe.ts';

it('a condition on rows is a table, a column and a value', () => {
  expect(asRowCondition('orders.status=paid')).toBe('.orders.status=paid');
});

it.each(['paid', 'orders.status', '.orders.status'])('a condition on rows is not %s', (text) => {
  expect(() => asRowCondition(text)).toThrow('such as orders.status=paid');
});
