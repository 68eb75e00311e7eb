import { describe, expect, it } from 'vitest';
import { COLLECTION_NAMES, type CollectionName } from '../../src/contract/vocabulary.ts';
import { assertConsistent, type WholeState } from '../../src/store/consistency.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

const check = (state: WholeState) => () => assertConsistent(state, 'the file', ['GNF']);

describe('an imported state', () => {
  it('is consistent if it was exported and not edited', () => {
    expect(COLLECTION_NAMES.filter((name) => fullSnapshot()[name].length === 0)).toEqual([]);
    expect(check(fullSnapshot())).not.toThrow();
  });

  it('requires a merchant', () => {
    const nothing = Object.fromEntries(COLLECTION_NAMES.map((name) => [name, []])) as unknown as WholeState;
    expect(check(nothing)).toThrow('the file: merchants is empty');
  });

  it.each([
    [{ status: 'pending' as const }, 'settledAt must be null while status is "pending"'],
    [{ settledAt: null }, 'settledAt must be set when status is "succeeded" (got null)'],
    [{ settledBy: null }, 'settledBy must be set when status is "succeeded" (got null)'],
  ])('must not have a payment that the emulator could not create: %j', (change, problem) => {
    const state = fullSnapshot();
    const settled = {
      status: 'succeeded',
      settledAt: '2026-01-15T12:00:00.000Z',
      settledBy: 'auto',
    } as const;
    const withPayments = (more: object) =>
      check({ ...state, payments: state.payments.map((one) => ({ ...one, ...settled, ...more })) });
    expect(withPayments({})).not.toThrow();
    expect(withPayments(change)).toThrow(problem);
  });

  it.each(['4111111111111112', '9999001234567890', '', '999900123456789'])(
    'must not have a card with the number %j',
    (number) => {
      const state = fullSnapshot();
      const cards = state.cards.map((card) => ({ ...card, number }));
      expect(check({ ...state, cards })).toThrow(`number "${number}" must be 16 Luhn-valid digits`);
    },
  );

  it.each([
    [
      'payments',
      { currency: 'XXX' },
      'currency "XXX" is unknown: the options and wallets define GNF, USD, EUR',
    ],
    ['payments', { currency: 'usd' }, 'currency "usd" is unknown'],
    ['cards', { currency: 'GBP' }, 'currency "GBP" is unknown'],
    ['cardTransactions', { currency: '' }, 'currency "" is unknown'],
    ['merchants', { balances: { JPY: '1' } }, 'balances: currency "JPY" is unknown'],
    ['wallets', { currency: 'eur' }, 'currency "eur" is not a currency code'],
  ] as const)('must not have %s with %j', (name, change, problem) => {
    const state = fullSnapshot();
    const [first, ...others] = state[name];
    expect(check({ ...state, [name]: [{ ...first, ...change }, ...others] })).toThrow(
      `the file: ${name} "${first?.id}": ${problem}`,
    );
  });

  it('may have currencies that only the options or its wallets define', () => {
    const state = fullSnapshot();
    const [first] = state.wallets;
    const inOther = (currency: string) => state.payments.map((payment) => ({ ...payment, currency }));
    expect(check({ ...state, payments: inOther('GNF') })).not.toThrow();
    expect(check({ ...state, payments: inOther('NPR') })).toThrow('"NPR" is unknown');
    const wallets = [...state.wallets, { ...wallet(), ...first, id: 'wal_npr', currency: 'NPR' }];
    expect(check({ ...state, wallets, payments: inOther('NPR') })).not.toThrow();
  });

  it.each(COLLECTION_NAMES)('must not have a duplicate id in %s', (name) => {
    const state = fullSnapshot();
    const [first] = state[name];
    expect(check({ ...state, [name]: [...state[name], { ...first }] })).toThrow(
      `the file: ${name} has the id "${first?.id}" twice`,
    );
  });

  it.each([
    ['merchants', 'publicKey'],
    ['merchants', 'secretKey'],
    ['cards', 'number'],
  ] as const)('must not have two %s with the same %s, which the error does not show', (name, field) => {
    const state = fullSnapshot();
    const [first] = state[name];
    const keys = name === 'merchants' && { publicKey: 'pub', secretKey: 'sec' };
    const other = { ...first, id: 'other', ...keys };
    const value = (first as unknown as Record<string, string>)[field];
    expect(check({ ...state, [name]: [first, { ...other, [field]: value }] })).toThrow(
      new RegExp(`^the file: ${name} "other" has the same ${field} as "${first?.id}"$`),
    );
  });

  /** All fields that reference another record, found by their names so that none can be forgotten. */
  const fields = COLLECTION_NAMES.flatMap((name) =>
    Object.keys(fullSnapshot()[name][0] ?? {})
      .filter((field) => field.endsWith('Id'))
      .map((field): [CollectionName, string] => [name, field]),
  );

  it('references other records in nine fields', () => {
    expect(fields).toHaveLength(9);
  });

  it.each(fields)('must not reference a missing record in %s.%s', (name, field) => {
    const state = fullSnapshot();
    const [first] = state[name];
    expect(check({ ...state, [name]: [{ ...first, [field]: 'nobody' }] })).toThrow(
      new RegExp(`^the file: ${name} "${first?.id}": ${field} is "nobody", which is not in \\w+$`),
    );
  });

  it.each([
    ['attempts', 'id', '', 'is empty'],
    [
      'payments',
      'successUrl',
      'http://x/\r\nSet-Cookie: a=b',
      'must not contain spaces or control characters',
    ],
    ['payments', 'cancelUrl', 'javascript:alert(1)', 'must be an absolute http or https address'],
    ['payments', 'ipnUrl', 'not a url', 'must not contain spaces'],
    ['payments', 'siteLogo', 'data:text/html,x', 'must be an absolute http'],
    ['deliveries', 'url', 'file:///etc/passwd', 'must be an absolute http'],
    ['payments', 'createdAt', 'yesterday', 'is not a valid time'],
    ['messages', 'expiresAt', '', 'is not a valid time'],
  ] as const)('must not have an invalid value: %s.%s %j', (name, field, value, problem) => {
    const state = fullSnapshot();
    const [first] = state[name];
    expect(check({ ...state, [name]: [{ ...first, [field]: value }] })).toThrow(
      new RegExp(`^the file: ${name} "${field === 'id' ? value : first?.id}": ${field} ${problem}`),
    );
  });

  it('may have null as a reference', () => {
    const state = fullSnapshot();
    const payments = state.payments.map((payment) => ({ ...payment, walletId: null, messageId: null }));
    const deliveries = state.deliveries.map((delivery) => ({ ...delivery, paymentId: null }));
    expect(check({ ...state, payments, deliveries })).not.toThrow();
  });
});
