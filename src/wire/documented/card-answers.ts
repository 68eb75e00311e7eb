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
  id: field(text, 'Card identifier (documented: card-record-id).', { maxLength: MAX_CARD_ID }),
  amount: number('Card total amount (documented: card-record-amount).'),
  charges: number('Charges applied to the card (documented: card-record-charges).'),
  available_balance: number('Balance available on the card (documented: card-record-available-balance).'),
  title: field(text, 'Title identifying the card (documented: card-record-title).'),
  masked_card_number: field(
    text,
    'Card number with all but the last four digits as asterisks (documented: card-record-masked-*).',
  ),
  card_number: field(
    text,
    'Full card number (documented: card-record-card-number), in a range that no issuer uses, with a Luhn check digit (chosen: card-record-number, card-record-luhn).',
    {
      pattern: '^\\d{16}$',
    },
  ),
  name_on_card: field(text, 'Name printed on the card (documented: card-record-name-on-card).'),
  email: field(text, "Cardholder's e-mail (documented: card-record-email)."),
  cvc: field(
    text,
    'Card verification code (documented: card-record-cvc), of three or four digits (chosen: card-record-cvc-digits).',
  ),
  expiry_month: field(
    z.int().check(z.minimum(1), z.maximum(12)),
    'Month number (documented: card-record-expiry-month).',
  ),
  expiry_year: field(text, 'Four-digit year (documented: card-record-expiry-year).', { pattern: '^\\d{4}$' }),
  status: field(
    z.enum(CARD_STATUSES),
    '`canceled` (documented: card-record-status, card-cancel), `active` and `inactive` (chosen: card-record-active).',
  ),
  created_at: wireTime('ISO 8601 UTC with microseconds (documented: card-record-created-at).'),
  updated_at: wireTime('ISO 8601 UTC with microseconds (documented: card-record-updated-at).'),
  currency: field(text, 'Currency code (documented: card-record-currency).'),
};

const VirtualCard = record(
  'VirtualCard',
  'A virtual card (documented: card-record-*). Amounts are JSON numbers.',
  cardFields,
);

const VirtualCardTransaction = record(
  'VirtualCardTransaction',
  'A transaction of a virtual card (documented: card-transaction-*).',
  {
    id: field(text, 'Transaction identifier (documented: card-transaction-id).'),
    currency_code: field(text, 'Currency code (documented: card-transaction-currency-code).'),
    before_charge: number('Amount before the charge (documented: card-transaction-before-charge).'),
    amount: number('Amount (documented: card-transaction-amount).'),
    charge: number('Charge applied (documented: card-transaction-charge).'),
    type: field(
      z.enum(['-', '+']),
      '`-` pays from the card (documented: card-transaction-type), `+` adds to it (chosen: card-transaction-fund).',
    ),
    details: field(text, 'Free text (documented: card-transaction-details).'),
    remark: field(
      z.enum(['make_payment', 'add_fund']),
      '`make_payment` (documented: card-transaction-remark), `add_fund` (chosen: card-transaction-fund*).',
    ),
    created_at: wireTime('ISO 8601 UTC (documented: card-transaction-created-at).'),
    updated_at: wireTime('ISO 8601 UTC (documented: card-transaction-updated-at).'),
  },
);

const VirtualCardWithTransactions = record(
  'VirtualCardWithTransactions',
  'A virtual card with its transactions. The document does not show the format (chosen: card-read-whole).',
  {
    ...cardFields,
    transactions: field(
      z.array(VirtualCardTransaction),
      'Its transactions, newest first (chosen: card-read-new).',
    ),
  },
);

const success = field(z.literal('ok'), 'Always `ok` (chosen: card-create-success, card-list-success).');
const message = field(text, 'For humans (chosen: card-create-success).');

export const VirtualCardAnswer = record(
  'VirtualCardAnswer',
  'A card was created or changed. The document does not show the response (chosen: card-create-success, card-*-answer).',
  { success, message, data: field(VirtualCard, 'The card as it is now.') },
);

export const VirtualCardDetails = record(
  'VirtualCardDetails',
  'A card with its transactions. The document does not show the response (chosen: card-read-*).',
  { success, message, data: field(VirtualCardWithTransactions, 'The card.') },
);

const positive = (description: string) => field(z.int().check(z.positive()), description);

export const VirtualCardList = record(
  'VirtualCardList',
  'A page of cards. The document does not show the fields around the list (chosen: card-list-*).',
  {
    success,
    data: field(z.array(VirtualCard), 'The cards, newest first; empty past the end.'),
    current_page: positive('The requested page (chosen: card-list-paging, card-list-past-end).'),
    per_page: positive('Cards per page (chosen: card-list-paging).'),
    last_page: positive('Number of the last page (chosen: card-list-paging).'),
    total: field(count, 'Total number of cards (chosen: card-list-paging).'),
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
