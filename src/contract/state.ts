import * as z from 'zod/mini';
import { CardTransaction, StoredCard } from './card.ts';
import { StoredClock } from './clock.ts';
import { StoredAttempt, StoredDelivery } from './delivery.ts';
import { count, field, omit, optional, record, request } from './field.ts';
import { Merchant } from './merchant.ts';
import { StoredMessage } from './message.ts';
import { StoredPayment } from './payment.ts';
import { type CollectionName, PAYMENT_STATUSES } from './vocabulary.ts';
import { Wallet } from './wallet.ts';

/** The collections of the state, in display order. */
export const COLLECTIONS = {
  merchants: [Merchant, 'Merchants with their keys.'],
  wallets: [Wallet, 'Live-mode wallets.'],
  payments: [StoredPayment, 'Payments.'],
  messages: [StoredMessage, 'Verification codes.'],
  deliveries: [StoredDelivery, 'IPNs.'],
  attempts: [StoredAttempt, 'IPN attempts.'],
  cards: [StoredCard, 'Virtual cards.'],
  cardTransactions: [CardTransaction, 'Card transactions.'],
  clock: [StoredClock, 'The clock setting; empty until the clock is moved.'],
} as const satisfies Record<CollectionName, unknown>;

export type Records = { [Name in CollectionName]: z.output<(typeof COLLECTIONS)[Name][0]> };

const lists = Object.fromEntries(
  Object.entries(COLLECTIONS).map(([name, [schema, about]]) => [
    name,
    field(z.array<z.ZodMiniType>(schema), about),
  ]),
);
const optionalLists = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, optional(list)]));
const version = field(count, 'Version of the format.');

export const State = record('State', 'The whole state, as in db.json, without its id.', {
  version,
  ...lists,
});

/** For documentation only. The store checks an imported state and names the damage. */
export const GivenState = request(
  'GivenState',
  'A whole state. Omitted collections are empty. The id in a db.json is ignored.',
  { version, ...optionalLists },
);

const counts = {
  payments: field(count, 'Payments.'),
  deliveries: field(count, 'IPNs.'),
  merchants: field(count, 'Merchants.'),
  wallets: field(count, 'Live-mode wallets.'),
  cards: field(count, 'Virtual cards.'),
};

export const RecordCounts = record('RecordCounts', 'Number of records.', counts);
export type RecordCounts = z.output<typeof RecordCounts>;

export const StatusCounts = record('StatusCounts', 'Number of records.', {
  ...omit(counts, 'payments'),
  payments: field(z.record(z.enum(PAYMENT_STATUSES), count), 'Payments by status.'),
});

export const Counted = record('Counted', 'Current number of records.', {
  counts: field(RecordCounts, 'By kind.'),
});
