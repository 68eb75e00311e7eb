import * as z from 'zod/mini';
import { CARD_AMOUNT_PATTERN, cardAmountProblem } from '../contract/amount.ts';
import type { CardTransaction } from '../contract/card.ts';
import { CARD_STATUSES, type CardAction } from '../contract/card-status.ts';
import { GatewayError } from '../contract/error.ts';
import { count, field, type JsonSchema, record, text as string } from '../contract/field.ts';
import { parseInput } from '../contract/input.ts';
import { CARD_FIELDS, exampleOf } from '../contract/request-fields.ts';
import { maskedCardNumber } from '../contract/secrets.ts';
import { shortJson } from '../contract/text.ts';
import type { IssueCardCommand } from '../domain/card.ts';
import { amountFromNumber } from '../domain/money.ts';
import type { Card } from '../domain/state.ts';
import type { PostedFields } from './body.ts';
import { amountSource } from './encoding.ts';
import { amountJson, lengthProblem, postedMessage, required, textFields, trimmed } from './fields.ts';
import { CARD_NAMES, fromWire } from './names.ts';

/** Names, limits and required fields: documented. */
export const CardRequest = postedMessage(
  'CardRequest',
  'The card to create.',
  {
    ...textFields(CARD_FIELDS),
    amount: required(
      cardAmountProblem,
      'Card total amount, a number or numeric text; at most 10 digits and 4 decimals.',
      amountJson(CARD_AMOUNT_PATTERN.source),
      (input) => cardAmountProblem(input) ?? '',
    ),
  },
  exampleOf(CARD_FIELDS),
);

const MAX_CARD_ID = 40;

/** What Laravel's rule `boolean` accepts (chosen: card-toggle-boolean-*). */
const BOOLEANS = [true, false, 1, 0, '1', '0'] as const;

function notBoolean(input: unknown): string {
  const isQuoted = input === 'true' || input === 'false';
  const fix = isQuoted ? `: send ${input} without quotes` : '';
  return `must be true, false, 1 or 0 (got ${shortJson(input)})${fix}`;
}

export const ToggleRequest = postedMessage(
  'ToggleRequest',
  'The card to activate or block.',
  {
    card_id: required((value) => lengthProblem(value, MAX_CARD_ID), 'Card identifier.', {
      maxLength: MAX_CARD_ID,
    }),
    active: field(
      z.literal(BOOLEANS, {
        error: ({ input }) => (input === undefined ? 'is required' : notBoolean(input)),
      }),
      'true activates an inactive card, false blocks it. 1, 0, "1" and "0" are accepted, too.',
    ),
  },
  { card_id: 'card_5t1r9d7m2k8w4xqz', active: false },
);

/** @throws GatewayError `invalid_fields` with every problem */
export function readCard(posted: PostedFields): IssueCardCommand {
  return fromWire(CARD_NAMES, read(CardRequest, posted));
}

/** @throws GatewayError `invalid_fields` with every problem */
export function readToggle(posted: PostedFields): { cardId: string; action: CardAction } {
  const { card_id, active } = read(ToggleRequest, posted);
  return { cardId: card_id, action: Number(active) === 1 ? 'activate' : 'block' };
}

function read<Schema extends z.ZodMiniObject>(schema: Schema, posted: PostedFields): z.output<Schema> {
  const values = trimmed(posted.fields);
  const amount = values['amount'];
  if (typeof amount === 'number') {
    // An inexact number stays as written, so that the check rejects it.
    const source = amountSource(posted) ?? String(amount);
    values['amount'] = amountFromNumber(amount, source) ?? source;
  }
  return parseInput(schema, values, ({ path, message }) => [`${path.join('.')} ${message}`]);
}

export function readCardId(id: string): string {
  const problem = lengthProblem(id, MAX_CARD_ID);
  if (problem) throw new GatewayError('invalid_fields', `card_id ${problem}`);
  return id;
}

/** A page past the end is empty. A number too large for `current_page` is rejected (chosen: card-list-past-end). */
export function readPage(given = '1'): number {
  // The values of a query are trimmed like those of a form.
  const page = given.trim();
  if (/^\d{1,15}$/.test(page) && Number(page) > 0) return Number(page);
  throw new GatewayError(
    'invalid_fields',
    `page must be a positive integer of at most 15 digits (got "${page.slice(0, 40)}")`,
  );
}

const MESSAGES = {
  created: 'Virtual card created.',
  activated: 'Virtual card activated.',
  blocked: 'Virtual card blocked.',
  canceled: 'Virtual card canceled.',
  found: 'Virtual card found.',
} as const;

/** ISO 8601 UTC with microseconds and Z (documented: card-record-created-at); our clock has milliseconds. */
function microseconds(at: string): string {
  return at.replace('Z', '000Z');
}

const MICROSECONDS: JsonSchema = { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' };
const wireTime = (description: string) => field(string, description, MICROSECONDS);
const number = (description: string) => field(z.number(), description);

const cardFields = {
  id: field(string, 'Card identifier.', { maxLength: MAX_CARD_ID }),
  amount: number('Card total amount.'),
  charges: number('Charges applied to the card.'),
  available_balance: number('Balance available on the card.'),
  title: field(string, 'Title identifying the card.'),
  masked_card_number: field(string, 'Card number with all but the last four digits as asterisks.'),
  card_number: field(string, 'Full card number, in a range that no issuer uses, with a Luhn check digit.', {
    pattern: '^\\d{16}$',
  }),
  name_on_card: field(string, 'Name printed on the card.'),
  email: field(string, "Cardholder's e-mail."),
  cvc: field(string, 'Card verification code, of three or four digits.'),
  expiry_month: field(z.int().check(z.minimum(1), z.maximum(12)), 'Month number.'),
  expiry_year: field(string, 'Four-digit year.', { pattern: '^\\d{4}$' }),
  status: field(z.enum(CARD_STATUSES), '`active`, `inactive` or `canceled`.'),
  created_at: wireTime('ISO 8601 UTC with microseconds.'),
  updated_at: wireTime('ISO 8601 UTC with microseconds.'),
  currency: field(string, 'Currency code.'),
};

const VirtualCard = record('VirtualCard', 'A virtual card. Amounts are JSON numbers.', cardFields);

const VirtualCardTransaction = record('VirtualCardTransaction', 'A transaction of a virtual card.', {
  id: field(string, 'Transaction identifier.'),
  currency_code: field(string, 'Currency code.'),
  before_charge: number('Amount before the charge.'),
  amount: number('Amount.'),
  charge: number('Charge applied.'),
  type: field(z.enum(['-', '+']), '`-` pays from the card, `+` adds to it.'),
  details: field(string, 'Free text.'),
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
const message = field(string, 'For humans.');

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

export function cardAnswer(result: keyof typeof MESSAGES, card: Card): object {
  return { success: 'ok', message: MESSAGES[result], data: cardRecord(card) };
}

export function cardDetails(card: Card, transactions: readonly CardTransaction[]): object {
  return {
    success: 'ok',
    message: MESSAGES.found,
    data: { ...cardRecord(card), transactions: transactions.map(transactionRecord) },
  };
}

/** Cards per page of a list (chosen: card-list-paging). */
const PER_PAGE = 15;

export function cardList(cards: readonly Card[], page: number): object {
  return {
    success: 'ok',
    data: cards.slice((page - 1) * PER_PAGE, page * PER_PAGE).map(cardRecord),
    current_page: page,
    per_page: PER_PAGE,
    last_page: Math.max(1, Math.ceil(cards.length / PER_PAGE)),
    total: cards.length,
  };
}

/** Masks card numbers and card codes in a response. */
export function maskCards(responseBody: string): string {
  return responseBody
    .replace(/"card_number":"\d*(\d{4})"/g, '"card_number":"…$1"')
    .replace(/"cvc":"\d+"/g, '"cvc":"…"');
}
