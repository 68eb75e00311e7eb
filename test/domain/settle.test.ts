import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DELIVERY_ORDERS,
  type DeliveryOrder,
  type Mode,
  OUTCOMES,
  PAYMENT_OUTCOMES,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../src/contract/vocabulary.ts';
import { add, compare, subtract } from '../../src/domain/money.ts';
import { settle } from '../../src/domain/settle.ts';
import { type Payment, State } from '../../src/domain/state.ts';
import {
  applied,
  context,
  merchant,
  pendingPayment,
  type SettingsChanges,
  state,
  wallet,
} from '../helpers/records.ts';

const ALL: ReadonlySet<PaymentStatus> = new Set(PAYMENT_STATUSES);
const APPROVE = { outcome: 'approve', delivery: 'ipn-only', by: 'auto' } as const;

function settled(
  changes: Partial<Payment> & { mode?: Mode } = {},
  {
    outcome = OUTCOMES[0] as (typeof OUTCOMES)[number],
    delivery = 'ipn-then-redirect' as DeliveryOrder,
    held = state(),
  } = {},
  set: SettingsChanges = {},
) {
  const before = pendingPayment(held, changes);
  const rule = settle(held, before, { outcome, delivery, by: 'panel' }, context(set));
  return { held, before, change: rule.change, ...applied(held, rule) };
}

const on = (...statuses: PaymentStatus[]): SettingsChanges => ({ ipn: { on: new Set(statuses) } });
const balance = (held: State, id: string) => held.wallets.get(id)?.balance;
const income = (held: State) => held.merchants.get('mer_1')?.balances;

describe('the state machine', () => {
  const grid = OUTCOMES.flatMap((outcome) => PAYMENT_STATUSES.map((status) => ({ outcome, status })));

  it.each(grid.filter(({ status }) => status !== 'pending'))(
    '$outcome is rejected for a payment that is $status',
    ({ outcome, status }) => {
      const held = state();
      const payment = pendingPayment(held, { mode: 'live', status, settledAt: '2026-01-01T00:00:00.000Z' });
      const attempt = () => settle(held, payment, { ...APPROVE, outcome }, context({ ipn: { on: ALL } }));
      expect(attempt).toThrow(expect.objectContaining({ code: 'wrong_state' }));
      expect(attempt).toThrow(new RegExp(`already ${status} \\(settled at 2026-01-01`));
      expect(held.payments.get(payment.id)).toEqual(payment);
      expect(income(held)).toEqual({});
    },
  );
});

describe('the money', () => {
  it('of a live payment moves from the wallet to the merchant, minus the charge', () => {
    const { held, payment } = settled({ mode: 'live', charge: '2.00', customerEmail: 'wallet@example.com' });
    expect(payment.walletId).toBe('wal_rich_usd');
    expect(balance(held, 'wal_rich_usd')).toBe('900.00');
    expect(income(held)).toEqual({ USD: '98.00' });
  });

  it('adds up: the debit is the credit plus the charge', () => {
    const cents = fc.integer({ min: 1, max: 10_000_000 }).map((value) => (value / 100).toFixed(2));
    fc.assert(
      fc.property(fc.array(fc.tuple(cents, cents), { minLength: 1, maxLength: 10 }), (payments) => {
        const held = state();
        let charges = '0';
        const using = context();
        for (const [amount, charge] of payments) {
          const payment = pendingPayment(held, { mode: 'live', amount, charge }, using);
          applied(held, settle(held, payment, APPROVE, using));
          charges = add(charges, charge);
        }
        const left = subtract('1000', balance(held, 'wal_first_usd') ?? '');
        expect(compare(left, add(income(held)?.USD ?? '', charges))).toBe(0);
      }),
    );
  });

  it('is credited per currency', () => {
    const held = state();
    held.apply({ merchants: [merchant({ balances: { USD: '5.5' } })] });
    settled({ mode: 'live', currency: 'EUR', amount: '10', charge: '0.2' }, { held });
    expect(income(held)).toEqual({ USD: '5.5', EUR: '9.8' });
    expect(balance(held, 'wal_eur')).toBe('40.5');
  });
});

describe('the wallet that pays', () => {
  it.each([
    ['with the entered e-mail', 'Wallet@Example.com', 'poor@example.com', 'wal_rich_usd'],
    ['otherwise with the customer’s e-mail', 'nobody@example.com', 'WALLET@example.com', 'wal_rich_usd'],
    ['with the customer’s e-mail if none was entered', null, 'WALLET@example.com', 'wal_rich_usd'],
    ['otherwise the first in the currency', null, 'nobody@example.com', 'wal_first_usd'],
  ])('is the one %s', (_, payerEmail, customerEmail, id) => {
    expect(settled({ mode: 'live', payerEmail, customerEmail }).payment.walletId).toBe(id);
  });

  it('has the currency of the payment', () => {
    const euros = { currency: 'EUR', customerEmail: 'poor@example.com' };
    expect(settled({ mode: 'live', ...euros }).payment.walletId).toBe('wal_eur');
  });

  it('may have a negative balance, with a warning', () => {
    const { held, payment } = settled({ mode: 'live', customerEmail: 'poor@example.com' });
    expect(balance(held, 'wal_poor_usd')).toBe('-99.00');
    expect(payment.warnings).toEqual([
      'the balance of wallet wal_poor_usd was too small and is now negative',
    ]);
  });

  it('may have a balance of zero, without a warning', () => {
    const held = state();
    held.apply({ wallets: [wallet({ id: 'wal_first_usd', balance: '100' })] });
    const { payment } = settled({ mode: 'live', amount: '100.00' }, { held });
    expect(payment.warnings).toEqual([]);
    expect(balance(held, 'wal_first_usd')).toBe('0.00');
  });

  it('may be missing, with a warning', () => {
    const { payment, change } = settled({ mode: 'live', currency: 'GNF' });
    expect(payment).toMatchObject({
      walletId: null,
      warnings: ['no wallet has the currency GNF: nothing was debited'],
    });
    expect(change.wallets).toBeUndefined();
  });
});

describe('the IPN', () => {
  it.each([
    ['approve', 'success'],
    ['cancel', 'canceled'],
    ['fail', 'failed'],
    ['expire', 'expired'],
  ] as const)('for %s has the status %s', (outcome, status) => {
    const [delivery] = settled({}, { outcome }, { ipn: { on: ALL } }).deliveries;
    expect(delivery?.status).toBe(status);
    expect(new URLSearchParams(delivery?.body).get('status')).toBe(status);
  });

  it('of a failed live payment names the customer as the account holder, because no wallet paid', () => {
    const [delivery] = settled({ mode: 'live' }, { outcome: 'fail' }, on('failed')).deliveries;
    expect(new URLSearchParams(delivery?.body).get('data[account_holder]')).toBe('Ada Lovelace');
  });
});

it('reports a state without the merchant of the payment as damaged', () => {
  const payment = pendingPayment(state());
  const act = () => settle(new State(), payment, APPROVE, context());
  expect(act).toThrow(expect.objectContaining({ code: 'state_damaged' }));
});

it('makes one consistent change for every outcome, order and mode', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...OUTCOMES),
      fc.constantFrom(...DELIVERY_ORDERS),
      fc.constantFrom('live' as const, 'sandbox' as const),
      fc.subarray([...PAYMENT_STATUSES]),
      (outcome, delivery, mode, statuses) => {
        const { payment, change, deliveries, redirectUrl } = settled(
          { mode },
          { outcome, delivery },
          on(...statuses),
        );
        expect(change.payments).toEqual([payment]);
        expect(payment.status).toBe(PAYMENT_OUTCOMES[outcome].status);
        const moves = mode === 'live' && outcome === 'approve';
        expect([Boolean(change.merchants), Boolean(change.wallets)]).toEqual([moves, moves]);
        expect(payment.walletId !== null).toBe(moves);
        const isSent = delivery !== 'redirect-only' && statuses.includes(payment.status);
        const copies = delivery === 'ipn-twice' ? 2 : 1;
        const pending = { state: 'pending', paymentId: payment.id };
        expect(deliveries).toMatchObject(Array.from({ length: isSent ? copies : 0 }, () => pending));
        expect(redirectUrl === null).toBe(delivery === 'ipn-only' || outcome === 'expire');
      },
    ),
  );
});
