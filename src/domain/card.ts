import * as z from 'zod/mini';
import type { CardTransaction } from '../contract/card.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { CardAction, CardStatus } from '../contract/vocabulary.ts';
import { add, amountFromNumber, chargeOn, compare, isAmount, subtract } from './money.ts';
import { atMost, emailProblem, required, unique } from './payment.ts';
import { type Context, timestamp } from './settings.ts';
import type { Card, Change, Outcome, State } from './state.ts';

/** The state that each trigger leads to; null where it is refused. `canceled`: documented; the rest: chosen. */
export const CARD_TRANSITIONS = {
  active: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  inactive: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  canceled: { activate: null, block: null, cancel: null },
} as const satisfies Record<CardStatus, Record<CardAction, CardStatus | null>>;

/** Money of cards stands in JSON numbers, which are exact up to 15 digits: 10 before the point, 4 behind it (chosen). */
const CARD_MONEY = /^\d{1,10}(\.\d{1,4})?$/;
const MONEY_RULE =
  'must be a plain decimal greater than 0 with at most 10 digits and 4 decimals, such as 250 or 99.90';

function moneyProblem(value: string): string | undefined {
  return CARD_MONEY.test(value) && isAmount(value)
    ? undefined
    : `${MONEY_RULE} (got "${value.slice(0, 40)}")`;
}

/** What a merchant posted: the values by field name, and how an amount that came as a JSON number was written. */
export interface CardInput {
  fields: Readonly<Record<string, unknown>>;
  amountSource?: string;
}

/** An amount that may come as a number or as numeric text (documented). What is not exact stays as written. */
function amountOf(value: unknown, source = String(value)): unknown {
  return typeof value === 'number' ? (amountFromNumber(value, source) ?? source) : value;
}

const text = (name: string, max: number, description: string) =>
  required(name, atMost(max, false), { description, maxLength: max });

/** The message that creates a card. Names, limits and which fields are required: documented. */
export const CardRequest = z.object({
  currency_code: text('currency_code', 3, 'Card currency; one of the active currencies.'),
  title: text('title', 255, 'Title that identifies the card.'),
  name_on_card: text('name_on_card', 255, 'Name printed on the card.'),
  email: required('email', emailProblem(255, false), {
    description: "The holder's e-mail address.",
    maxLength: 255,
  }),
  amount: required('amount', moneyProblem, { description: 'Card total amount; a number or numeric text.' }),
});

/** The message that activates or blocks a card (documented). */
export const ToggleRequest = z.object({
  card_id: text('card_id', 40, 'Card identifier.'),
  active: z.boolean({
    error: ({ input }) =>
      input === undefined
        ? 'active is required'
        : 'active must be true or false, as a JSON boolean without quotes',
  }),
});

/**
 * Reads one of the card messages.
 *
 * @throws GatewayError `invalid_fields` with every problem
 */
export function parseCardMessage<Schema extends z.ZodMiniObject>(
  schema: Schema,
  { fields, amountSource }: CardInput,
): z.output<Schema> {
  const values = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const parsed = schema.safeParse({
    ...values,
    ...('amount' in values && { amount: amountOf(values['amount'], amountSource) }),
  });
  if (parsed.success) return parsed.data as z.output<Schema>;
  const problems = parsed.error.issues.map(({ message }) => message);
  throw new GatewayError('invalid_fields', problems[0] ?? 'the fields are not valid', { problems });
}

/** Numbers that begin so belong to nobody: 9 leaves the issuer to a country, and 999 is the code of none (chosen). */
const TEST_RANGE = '999900';

/** A Luhn-valid number of 16 digits out of nine random ones. */
export function testCardNumber(nineDigits: string): string {
  const body = TEST_RANGE + nineDigits;
  const sum = [...body].reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return body + String((10 - (sum % 10)) % 10);
}

/** A card number of which only the last four digits are left (documented). */
export function maskedCardNumber(number: string): string {
  return number.slice(-4).padStart(number.length, '*');
}

const LIFE_IN_YEARS = 3;

/**
 * Rule: a merchant creates a card. It is active; its charges are taken from its amount (chosen).
 *
 * @throws GatewayError `invalid_fields`
 */
export function issueCard(
  state: State,
  merchant: Merchant,
  input: CardInput,
  context: Context,
): Outcome<Card> {
  const { ids, settings, now } = context;
  const request = parseCardMessage(CardRequest, input);
  if (!settings.currencies.has(request.currency_code)) {
    const codes = [...settings.currencies.keys()].filter((code) => code.length <= 3);
    throw new GatewayError(
      'invalid_fields',
      `currency_code "${request.currency_code}" is not an active currency: this gateway has ${codes.join(', ')}`,
    );
  }
  const charges = chargeOn(request.amount, settings.charges.card);
  if (compare(charges, request.amount) > 0) {
    throw new GatewayError(
      'invalid_fields',
      `amount must cover the charges of ${charges} (got ${request.amount})`,
    );
  }
  const day = new Date(now);
  const card: Card = {
    id: unique(ids.card, (id) => state.cards.get(id) === undefined),
    merchantId: merchant.id,
    title: request.title,
    nameOnCard: request.name_on_card,
    email: request.email,
    number: testCardNumber(unique(ids.cardDigits, (digits) => !state.hasCardNumber(testCardNumber(digits)))),
    cvc: ids.cvc(),
    expiryMonth: day.getUTCMonth() + 1,
    expiryYear: String(day.getUTCFullYear() + LIFE_IN_YEARS),
    currency: request.currency_code,
    amount: request.amount,
    charges,
    availableBalance: subtract(request.amount, charges),
    status: 'active',
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  };
  return { change: { cards: [card] }, result: card };
}

/**
 * The card with this id, if it is this merchant's (any merchant's when none is given).
 *
 * @throws GatewayError `not_found`
 */
export function requireCard(state: State, id: string, merchant?: Merchant): Card {
  const card = state.cards.get(id);
  if (card && (merchant === undefined || card.merchantId === merchant.id)) return card;
  throw new GatewayError('not_found', `no card has the card_id "${id.slice(0, 60)}"`, {
    hint: hint`${command('cards list')} shows what there is.`,
  });
}

/**
 * Rule: a card is activated, blocked or canceled. Where it already is in that state nothing changes (chosen).
 *
 * @throws GatewayError `wrong_state` when the card is canceled
 */
export function applyCardAction(card: Card, trigger: CardAction, now: number): Outcome<Card> {
  const status = CARD_TRANSITIONS[card.status][trigger];
  if (status === null) {
    throw new GatewayError('wrong_state', `card ${card.id} is canceled: that is final`, {
      hint: hint`Create a new card instead.`,
    });
  }
  if (status === card.status) return { change: {}, result: card };
  const changed = { ...card, status, updatedAt: timestamp(now) };
  return { change: { cards: [changed] }, result: changed };
}

/** What moved on a card. */
export interface CardMovement {
  card: Card;
  transaction: CardTransaction;
}

/** A charge to a card, or money added to it. */
export interface MovementInput {
  amount: string;
  details?: string | undefined;
  /** Must be the card's own where it is given. */
  currency?: string | undefined;
}

/**
 * Rule: something is paid with a card. The balance falls by the amount and its charge.
 *
 * @throws GatewayError `invalid_fields` (amount), `wrong_state` (currency, not active), `insufficient_funds`
 */
export function chargeCard(card: Card, input: MovementInput, context: Context): Outcome<CardMovement> {
  checkMovement(card, input);
  if (card.status !== 'active') {
    throw new GatewayError(
      'wrong_state',
      `card ${card.id} is ${card.status}: only an active card can be charged`,
      {
        hint:
          card.status === 'inactive'
            ? hint`${command('cards activate', card.id)} activates it.`
            : hint`Create a new card instead.`,
      },
    );
  }
  const charge = chargeOn(input.amount, context.settings.charges.cardTransaction);
  const balance = subtract(subtract(card.availableBalance, input.amount), charge);
  if (compare(balance, '0') < 0) {
    throw new GatewayError(
      'insufficient_funds',
      `card ${card.id} has a balance of ${card.availableBalance} ${card.currency}, too small for ${add(input.amount, charge)}`,
      { hint: hint`${command('cards fund', card.id, '--amount', '<amount>')} adds to it.` },
    );
  }
  return move(card, balance, { type: '-', remark: 'make_payment', charge }, input, context);
}

/**
 * Rule: money is added to a card. Its `amount` stays what it was created with (chosen).
 *
 * @throws GatewayError `invalid_fields` (amount, or a balance too great for an exact number), `wrong_state` (currency,
 *   canceled)
 */
export function fundCard(card: Card, input: MovementInput, context: Context): Outcome<CardMovement> {
  checkMovement(card, input);
  if (card.status === 'canceled') {
    throw new GatewayError('wrong_state', `card ${card.id} is canceled: it takes no money`);
  }
  const balance = add(card.availableBalance, input.amount);
  if (!CARD_MONEY.test(balance)) {
    throw new GatewayError(
      'invalid_fields',
      `amount is too large: the balance would be ${balance} ${card.currency}`,
    );
  }
  return move(card, balance, { type: '+', remark: 'add_fund', charge: '0' }, input, context);
}

function checkMovement(card: Card, { amount, currency }: MovementInput): void {
  const problem = moneyProblem(amount);
  if (problem) throw new GatewayError('invalid_fields', `amount ${problem}`);
  if (currency !== undefined && currency !== card.currency) {
    throw new GatewayError('wrong_state', `card ${card.id} is in ${card.currency}, not in ${currency}`);
  }
}

function move(
  card: Card,
  balance: string,
  kind: Pick<CardTransaction, 'type' | 'remark' | 'charge'>,
  input: MovementInput,
  { ids, now }: Context,
): Outcome<CardMovement> {
  const at = timestamp(now);
  const transaction: CardTransaction = {
    id: ids.cardTransaction(),
    cardId: card.id,
    currency: card.currency,
    beforeCharge: input.amount,
    amount: input.amount,
    ...kind,
    details: input.details ?? '',
    createdAt: at,
    updatedAt: at,
  };
  const moved = { ...card, availableBalance: balance, updatedAt: at };
  const change: Change = { cards: [moved], cardTransactions: [transaction] };
  return { change, result: { card: moved, transaction } };
}
