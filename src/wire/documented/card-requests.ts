import * as z from 'zod/mini';
import { characters } from '../../contract/address.ts';
import { CARD_AMOUNT_PATTERN, cardAmountProblem } from '../../contract/amount.ts';
import { GatewayError } from '../../contract/error.ts';
import { field } from '../../contract/field.ts';
import { amountFromNumber } from '../../domain/money.ts';
import type { PostedFields } from '../body.ts';
import type { Dialect } from '../dialect.ts';
import { amountJson, email, postedMessage, required, text } from '../fields.ts';
import { amountSource } from '../written-amount.ts';
import { CARD_NAMES, fromWire } from './names.ts';

export const CARD_REQUEST_EXAMPLE = {
  currency_code: 'USD',
  title: 'Office supplies',
  name_on_card: 'Ada Example',
  email: 'ada@example.com',
  amount: '250',
};

export const TOGGLE_EXAMPLE = { card_id: 'card_5t1r9d7m2k8w4xqz', active: false };

/** Names, limits and required fields: documented. */
export const CardRequest = postedMessage(
  'CardRequest',
  'The card to create.',
  {
    currency_code: text('currency_code', 3, 'Card currency; one of the active currencies.'),
    title: text('title', 255, 'Title that identifies the card.'),
    name_on_card: text('name_on_card', 255, 'Name printed on the card.'),
    email: email('email', 255, "The cardholder's e-mail."),
    amount: required(
      'amount',
      cardAmountProblem,
      'Card total amount, a number or numeric text; at most 10 digits and 4 decimals.',
      amountJson(CARD_AMOUNT_PATTERN.source),
    ),
  },
  CARD_REQUEST_EXAMPLE,
);

export const MAX_CARD_ID = 40;

export const ToggleRequest = postedMessage(
  'ToggleRequest',
  'The card to activate or block.',
  {
    card_id: text('card_id', MAX_CARD_ID, 'Card identifier.'),
    active: field(
      z.boolean({
        error: ({ input }) =>
          input === undefined
            ? 'active is required'
            : 'active must be true or false, as a JSON boolean without quotes',
      }),
      'true activates an inactive card, false blocks it.',
    ),
  },
  TOGGLE_EXAMPLE,
);

export const readCard: Dialect['readCard'] = (posted) => fromWire(CARD_NAMES, read(CardRequest, posted));

export const readToggle: Dialect['readToggle'] = (posted) => {
  const { card_id, active } = read(ToggleRequest, posted);
  return { cardId: card_id, action: active ? 'activate' : 'block' };
};

function read<Schema extends z.ZodMiniObject>(schema: Schema, posted: PostedFields): z.output<Schema> {
  const values = Object.fromEntries(Object.entries(posted.fields).filter(([, value]) => value !== null));
  const amount = values['amount'];
  if (typeof amount === 'number') {
    // An inexact number stays as written, so that the check rejects it.
    const source = amountSource(posted) ?? String(amount);
    values['amount'] = amountFromNumber(amount, source) ?? source;
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data as z.output<Schema>;
  const problems = parsed.error.issues.map(({ message }) => message);
  throw new GatewayError('invalid_fields', problems[0] ?? 'the fields are not valid', { problems });
}

export const readCardId: Dialect['readCardId'] = (id) => {
  if (characters(id) <= MAX_CARD_ID) return id;
  throw new GatewayError('invalid_fields', `card_id must have at most ${MAX_CARD_ID} characters`);
};

/** A page past the end is empty. A number too large for `current_page` is rejected (chosen: card-list-past-end). */
export const readPage: Dialect['readPage'] = (page = '1') => {
  if (/^\d{1,15}$/.test(page) && Number(page) > 0) return Number(page);
  throw new GatewayError(
    'invalid_fields',
    `page must be a positive integer of at most 15 digits (got "${page.slice(0, 40)}")`,
  );
};
