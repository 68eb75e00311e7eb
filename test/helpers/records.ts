import type { Merchant } from '../../src/contract/merchant.ts';
import { LOOSE, PROFILES } from '../../src/contract/profiles.ts';
import type { Mode } from '../../src/contract/vocabulary.ts';
import type { Wallet } from '../../src/contract/wallet.ts';
import { chargeCard, issueCard } from '../../src/domain/card.ts';
import { enterEmail } from '../../src/domain/checkout.ts';
import { type AttemptReport, deliveryOf, recordAttempt } from '../../src/domain/delivery.ts';
import type { Ids } from '../../src/domain/ids.ts';
import { DOCUMENTED_CURRENCIES } from '../../src/domain/money.ts';
import { type InitiateCommand, initiate } from '../../src/domain/payment.ts';
import type { Context, Settings } from '../../src/domain/settings.ts';
import { type Delivery, type Payment, type RuleResult, State } from '../../src/domain/state.ts';
import type { PostedFields } from '../../src/service/body.ts';
import { readCard } from '../../src/service/cards.ts';
import { readInitiate } from '../../src/service/initiate.ts';
import { composer } from '../../src/service/ipn.ts';
import { emptySnapshot, type Snapshot, wholeState } from '../../src/store/snapshot.ts';

/** 15 January 2026, 10:30:00.123 UTC: the time of every test. */
export const NOW = Date.UTC(2026, 0, 15, 10, 30, 0, 123);

export const PUBLIC_KEY = 'pub_sim_0123456789';
export const SECRET_KEY = 'sec_sim_9876543210';

/** Sequential identifiers with the real prefixes and lengths. */
export function countingIds(): Ids {
  let count = 0;
  const next = (length: number) => String(++count).padStart(length, '0');
  return {
    payment: () => `pay_${next(24)}`,
    trx: () => `TRX${next(9)}`,
    delivery: () => `ipn_${next(16)}`,
    attempt: () => `att_${next(16)}`,
    message: () => `msg_${next(16)}`,
    merchant: () => `mer_${next(12)}`,
    card: () => `card_${next(20)}`,
    cardTransaction: () => `ctx_${next(16)}`,
    cardDigits: () => next(9),
    cvc: () => next(3).slice(-3),
    code: () => next(6),
    fraction: () => 0,
  };
}

export interface SettingsChanges extends Partial<Omit<Settings, 'ipn'>> {
  ipn?: Partial<Settings['ipn']>;
}

/** The settings with `--loose`. */
export const LOOSELY = { choices: { ...PROFILES.document.choices, ...LOOSE } };

export function settings({ ipn, ...changes }: SettingsChanges = {}): Settings {
  return {
    currencies: new Map(DOCUMENTED_CURRENCIES.map((currency) => [currency.code, currency])),
    charges: {
      payment: { percent: '2', fixed: '0' },
      card: { percent: '1', fixed: '0' },
      cardTransaction: { percent: '0', fixed: '0' },
    },
    choices: PROFILES.document.choices,
    sandboxEmail: 'test_mode@mail.com',
    sandboxCode: '222666',
    auto: { rules: [], outcome: null, delayMs: 500 },
    ipn: {
      format: 'form',
      amountFormat: 'sent',
      on: new Set(['succeeded']),
      schedule: [],
      timeoutMs: 10_000,
      forwardTo: null,
      ...ipn,
    },
    delivery: 'ipn-then-redirect',
    pages: { origins: new Set(), hosts: new Set() },
    paymentExpiresMs: null,
    mapped: (url) => url,
    looksLocal: () => true,
    unreachable: () => null,
    ...changes,
  };
}

/** The context of every rule: a fixed time and sequential identifiers. */
export function context(changes: SettingsChanges = {}, now = NOW): Context {
  return { now, ids: countingIds(), settings: settings(changes), ipn: composer };
}

export function merchant(changes: Partial<Merchant> = {}): Merchant {
  return {
    id: 'mer_1',
    name: 'default',
    publicKey: PUBLIC_KEY,
    secretKey: SECRET_KEY,
    balances: {},
    createdAt: '2026-01-01T00:00:00.000Z',
    ...changes,
  };
}

export function wallet(changes: Partial<Wallet> = {}): Wallet {
  return {
    id: 'wal_rich_usd',
    email: 'wallet@example.com',
    holder: 'Rich Holder',
    currency: 'USD',
    balance: '1000',
    ...changes,
  };
}

/** One merchant and four wallets. No test customer owns the first one. */
export function records(): Snapshot {
  return {
    ...emptySnapshot(),
    merchants: [merchant()],
    wallets: [
      wallet({ id: 'wal_first_usd', email: 'first@example.com', holder: 'First Holder' }),
      wallet(),
      wallet({ id: 'wal_poor_usd', email: 'poor@example.com', holder: 'Poor Holder', balance: '1' }),
      wallet({ id: 'wal_eur', currency: 'EUR', balance: '50.5' }),
    ],
  };
}

/** A state with `records()`. */
export function state(): State {
  const filled = new State();
  filled.apply(records());
  return filled;
}

/** The twelve fields of a valid initiate, with changes; undefined omits a field. */
export function fields(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const all: Record<string, unknown> = {
    public_key: PUBLIC_KEY,
    identifier: 'order-1',
    currency: 'USD',
    amount: '100.00',
    details: 'Two books',
    ipn_url: 'http://127.0.0.1:4/ipn?order=1',
    success_url: 'http://127.0.0.1:4/thanks?order=1',
    cancel_url: 'http://127.0.0.1:4/cart',
    site_logo: 'http://127.0.0.1:4/logo.png',
    checkout_theme: 'dark',
    customer_name: 'Ada Lovelace',
    customer_email: 'ada@example.com',
    ...changes,
  };
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  return all;
}

/** `fields()` as a posted form. */
export function posted(changes: Record<string, unknown> = {}): PostedFields {
  return { fields: fields(changes), text: '' };
}

/** `fields()` as the rules receive them. */
export function input(changes: Record<string, unknown> = {}): InitiateCommand {
  return readInitiate(posted(changes), PROFILES.document.choices);
}

/** Applies the result of a rule, as the store would, and returns it. */
export function applied<Result>(to: State, { change, result }: RuleResult<Result>): Result {
  to.apply(change);
  return result;
}

/** Initiates a payment in a state, and then changes its fields. */
export function pendingPayment(
  to: State,
  { mode = 'sandbox', ...changes }: Partial<Payment> & { mode?: Mode } = {},
  using: Context = context(),
): Payment {
  const { result } = initiate(to, input(), mode, using);
  const payment = { ...result, ...changes };
  to.apply({ payments: [payment] });
  return payment;
}

/** A delivery that is due now, for a new payment unless `changes` names one. It is not stored. */
export function dueDelivery(
  url: string,
  changes: Partial<Delivery> = {},
  using: Context = context(),
): Delivery {
  const held = state();
  const payment = pendingPayment(held, { ipnUrl: url }, using);
  const delivery = deliveryOf(
    { payment, status: 'success', holder: payment.customerName },
    merchant(),
    using,
  );
  return { ...delivery, ...changes };
}

/** The fields of a valid new card. */
export const CARD = {
  currency_code: 'USD',
  title: 'Travel',
  name_on_card: 'Ada Example',
  email: 'ada@example.com',
  amount: '250.00',
};

/** An attempt that the receiver accepts. */
export const REPORT: AttemptReport & { startedAt: string } = {
  startedAt: '2026-01-15T10:30:00.100Z',
  durationMs: 23,
  url: 'http://127.0.0.1:4/ipn?order=1',
  requestHeaders: [['Host', '127.0.0.1:4']],
  requestBody: 'status=success',
  responseStatus: 200,
  responseHeaders: [],
  responseBody: 'OK',
  failure: null,
  fault: null,
};

/** A snapshot with a record in every collection. */
export function fullSnapshot(): Snapshot {
  const on = state();
  const using = context();
  const payment = pendingPayment(on, { mode: 'live', walletId: 'wal_rich_usd' }, using);
  applied(on, enterEmail(on, payment, 'wallet@example.com', using));
  const delivery = deliveryOf({ payment, status: 'success', holder: 'Rich Holder' }, merchant(), using);
  on.apply({ deliveries: [delivery] });
  applied(on, recordAttempt(on, delivery.id, { ...REPORT, failure: { code: 'answered' } }, using));
  const card = applied(on, issueCard(on, merchant(), readCard({ fields: CARD, text: '' }), using));
  applied(on, chargeCard(card, { amount: '1', details: 'Coffee' }, using));
  on.apply({ clock: [{ id: 'clock', aheadMs: 7_200_000, frozenAt: null }] });
  return wholeState(on);
}
