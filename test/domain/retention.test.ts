import { describe, expect, it } from 'vitest';
import { isNeeded, removePayments } from '../../src/domain/retention.ts';
import { settle } from '../../src/domain/settle.ts';
import { State } from '../../src/domain/state.ts';
import { assertConsistent } from '../../src/store/consistency.ts';
import { wholeState } from '../../src/store/snapshot.ts';
import { applied, context, fullSnapshot, pendingPayment, state } from '../helpers/records.ts';

describe('the removal of old payments', () => {
  it('includes their records, and leaves a consistent state', () => {
    const held = new State();
    const { version: _, ...records } = fullSnapshot();
    const sent = { state: 'delivered', nextAttemptAt: null } as const;
    const settled = {
      status: 'succeeded',
      settledAt: '2026-01-15T10:30:00.123Z',
      settledBy: 'auto',
    } as const;
    const deliveries = records.deliveries.map((one) => ({ ...one, ...sent }));
    held.apply({ ...records, deliveries, payments: records.payments.map((one) => ({ ...one, ...settled })) });
    const ids = [...held.payments.values()].map(({ id }) => id);
    applied(held, removePayments(held, ids));
    const left = wholeState(held);
    expect({ ...left, wallets: left.wallets.length }).toMatchObject({
      payments: [],
      messages: [],
      deliveries: [],
      attempts: [],
      wallets: records.wallets.length,
      cards: records.cards,
      cardTransactions: records.cardTransactions,
      merchants: records.merchants,
    });
    // Finds any record that still references a removed one, even of a kind that this test does not name.
    expect(() => assertConsistent(left, 'what is left', [])).not.toThrow();
  });

  it('leaves out payments that are pending or have an IPN to send', () => {
    const held = state();
    const using = context();
    const pending = pendingPayment(held, {}, using);
    const due = pendingPayment(held, {}, using);
    applied(held, settle(held, due, { outcome: 'approve', delivery: 'ipn-only', by: 'control' }, using));
    const before = wholeState(held);
    for (const { id } of [pending, due]) {
      const payment = held.payments.get(id);
      expect(payment && isNeeded(held, payment)).toBe(true);
    }
    applied(held, removePayments(held, [pending.id, due.id, 'pay_unknown']));
    expect(wholeState(held)).toEqual(before);
  });
});
