import * as z from 'zod/mini';
import { type CardTransaction, maskedCardNumber } from '../../contract/card.ts';
import { count, field, type JsonSchema, record, text } from '../../contract/field.ts';
import { CARD_STATUSES } from '../../contract/vocabulary.ts';
import type { Card } from '../../domain/state.ts';
import type { CardResult, Dialect } from '../dialect.ts';
import { MAX_CARD_ID } from './card-requests.ts';

const MESSAGES = {
  created: 'Virtual card created.',
  activated: 'Virtual card activated.',
  blocked: 'Virtual card blocked.',
  canceled: 'Virtual card canceled.',
  found: 'Virtual card found.',
} as const satisfies Record<CardResult, string>;

/** ISO 8601 UTC with microseconds and Z (documented: card-record-created-at); our clock has milliseconds. */
function microseconds(at: string): string {
  return at.replace('Z', '000Z');
}

const MICROSECONDS: JsonSchema = { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' };
const wireTime = (description: string) => field(text, description, MICROSECONDS);
const number = (description: string) => field(z.number(), description);

const cardFields = {
  id: field(text, 'Card identifier.', { maxLength: MAX_CARD_ID }),
  amount: number('Card total amount.'),
  charges: number('Charges applied to the card.'),
  available_balance: number('Balance available on the card.'),
  title: field(text, 'Title identifying the card.'),
  masked_card_number: field(text, 'Card number with all but the last four digits as asterisks.'),
  card_number: field(text, 'Full card number, in a range that no issuer uses, with a Luhn check digit.', {
    pattern: '^\\d{16}$',
  }),
  name_on_card: field(text, 'Name printed on the card.'),
  email: field(text, "Cardholder's e-mail."),
  cvc: field(text, 'Card verification code, of three or four digits.'),
  expiry_month: field(z.int().check(z.minimum(1), z.maximum(12)), 'Month number.'),
  expiry_year: field(text, 'Four-digit year.', { pattern: '^\\d{4}$' }),
  status: field(z.enum(CARD_STATUSES), '`active`, `inactive` or `canceled`.'),
  created_at: wireTime('ISO 8601 UTC with microseconds.'),
  updated_at: wireTime('ISO 8601 UTC with microseconds.'),
  currency: field(text, 'Currency code.'),
};

const VirtualCard = record('VirtualCard', 'A virtual card. Amounts are JSON numbers.', cardFields);

const VirtualCardTransaction = record('VirtualCardTransaction', 'A transaction of a virtual card.', {
  id: field(text, 'Transaction identifier.'),
  currency_code: field(text, 'Currency code.'),
  before_charge: number('Amount before the charge.'),
  amount: number('Amount.'),
  charge: number('Charge applied.'),
  type: field(z.enum(['-', '+']), '`-` pays from the card, `+` adds to it.'),
  details: field(text, 'Free text.'),
  remark: field(z.enum(['make_payment', 'add_fund']), '`make_payment` or `add_fund`.'),
  created_at: wireTime('ISO 8601 UTC.'),
  updated_at: wireTime('ISO 8601 UTC.'),
});

const VirtualCardWithTransactions = record(
  'VirtualCardWithTransactions',
  'A virtual card with its transactions. The document does not show the format.',
  {
    ...cardFields,
    transactions: field(z.array(VirtualCardTransaction), 'Its transactions, newest first.'),
  },
);

const success = field(z.literal('ok'), 'Always `ok`.');
const message = field(text, 'For humans.');

export const VirtualCardAnswer = record(
  'VirtualCardAnswer',
  'A card was created or changed. The document does not show the response.',
  { success, message, data: field(VirtualCard, 'The card as it is now.') },
);

export const VirtualCardDetails = record(
  'VirtualCardDetails',
  'A card with its transactions. The document does not show the response.',
  { success, message, data: field(VirtualCardWithTransactions, 'The card.') },
);

const positive = (description: string) => field(z.int().check(z.positive()), description);

export const VirtualCardList = record(
  'VirtualCardList',
  'A page of cards. The document does not show the fields around the list.',
  {
    success,
    data: field(z.array(VirtualCard), 'The cards, newest first; empty past the end.'),
    current_page: positive('The requested page.'),
    per_page: positive('Cards per page.'),
    last_page: positive('Number of the last page.'),
    total: field(count, 'Total number of cards.'),
  },
);

/** Section 2.1 of the service interface. */
function cardRecord(card: Card): z.infer<typeof VirtualCard> {
  return {
    id: card.id,
    amount: Number(card.amount),
    charges: Number(card.charges),
    available_balance: Number(card.availableBalance),
    title: card.title,
    masked_card_number: maskedCardNumber(card.number),
    card_number: card.number,
    name_on_card: card.nameOnCard,
    email: card.email,
    cvc: card.cvc,
    expiry_month: card.expiryMonth,
    expiry_year: card.expiryYear,
    status: card.status,
    created_at: microseconds(card.createdAt),
    updated_at: microseconds(card.updatedAt),
    currency: card.currency,
  };
}

/** Section 2.2 of the service interface. */
function transactionRecord(transaction: CardTransaction): z.infer<typeof VirtualCardTransaction> {
  return {
    id: transaction.id,
    currency_code: transaction.currency,
    before_charge: Number(transaction.beforeCharge),
    amount: Number(transaction.amount),
    charge: Number(transaction.charge),
    type: transaction.type,
    details: transaction.details,
    remark: transaction.remark,
    created_at: microseconds(transaction.createdAt),
    updated_at: microseconds(transaction.updatedAt),
  };
}

export const cardAnswer: Dialect['cardAnswer'] = (result, card) => ({
  success: 'ok',
  message: MESSAGES[result],
  data: cardRecord(card),
});

export const cardDetails: Dialect['cardDetails'] = (card, transactions) => ({
  success: 'ok',
  message: MESSAGES.found,
  data: { ...cardRecord(card), transactions: transactions.map(transactionRecord) },
});

export const cardList: Dialect['cardList'] = ({ cards, page, perPage, lastPage, total }) => ({
  success: 'ok',
  data: cards.map(cardRecord),
  current_page: page,
  per_page: perPage,
  last_page: lastPage,
  total,
});

export const maskCards: Dialect['maskCards'] = (responseBody) =>
  responseBody
    .replace(/"card_number":"\d*(\d{4})"/g, '"card_number":"…$1"')
    .replace(/"cvc":"\d+"/g, '"cvc":"…"');
