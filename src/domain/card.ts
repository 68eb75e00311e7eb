import { CARD_AMOUNT_PATTERN, type Currency, cardAmountProblem, USUAL_DECIMALS } from '../contract/amount.ts';
import type { CardTransaction, CardTransactionInput } from '../contract/card.ts';
import { CARD_TRANSITIONS, type CardAction } from '../contract/card-status.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import type { Merchant } from '../contract/merchant.ts';
import { timestamp } from '../contract/time.ts';
import { unique } from './ids.ts';
import { add, chargeOn, compare, subtract } from './money.ts';
import type { Context } from './settings.ts';
import type { Card, RuleResult, State } from './state.ts';

function luhnDigit(digits: string): string {
  const sum = [...digits].reduceRight((total, digit, index) => {
    const doubled = Number(digit) * ((digits.length - index) % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

/** Whether a text consists of digits and ends with a valid Luhn check digit. */
export function isLuhnNumber(text: string): boolean {
  return /^\d{2,}$/.test(text) && luhnDigit(text.slice(0, -1)) === text.at(-1);
}

/** A card to create, validated. */
export type IssueCardCommand = Pick<Card, 'currency' | 'title' | 'nameOnCard' | 'email' | 'amount'>;

/** No issuer has this prefix: after 9 comes a country code, and 999 is no country (chosen: card-record-number). */
const TEST_RANGE = '999900';

/** A Luhn-valid number of 16 digits, made from nine random digits. */
export function testCardNumber(nineDigits: string): string {
  const digits = TEST_RANGE + nineDigits;
  return digits + luhnDigit(digits);
}

/** Whether a number is a possible card number: 16 digits, Luhn-valid. */
export function isCardNumber(number: string): boolean {
  return number.length === 16 && isLuhnNumber(number);
}

const LIFETIME_YEARS = 3;

/**
 * Rule: a merchant creates a card. The card is active, and its charges are subtracted from its amount (chosen: card-record-active, card-record-balance).
 *
 * @throws GatewayError `invalid_fields`
 */
export function issueCard(
  state: State,
  merchant: Merchant,
  command: IssueCardCommand,
  context: Context,
): RuleResult<Card> {
  const { ids, settings, now } = context;
  const { currency, title, nameOnCard, email, amount } = command;
  const known = settings.currencies.get(currency);
  if (!known) {
    const codes = [...settings.currencies.keys()].filter((code) => code.length <= 3);
    throw new GatewayError(
      'invalid_fields',
      `currency_code "${currency}" is not an active currency: this gateway has ${codes.join(', ')}`,
    );
  }
  const charges = chargeOn(amount, settings.charges.card, known);
  if (compare(charges, amount) > 0) {
    throw new GatewayError('invalid_fields', `amount must cover the charges of ${charges} (got ${amount})`);
  }
  const day = new Date(now);
  const card: Card = {
    id: unique(ids.card, (id) => state.cards.get(id) === undefined),
    merchantId: merchant.id,
    title,
    nameOnCard,
    email,
    number: testCardNumber(unique(ids.cardDigits, (digits) => !state.cards.newestOf(testCardNumber(digits)))),
    cvc: ids.cvc(),
    expiryMonth: day.getUTCMonth() + 1,
    expiryYear: String(day.getUTCFullYear() + LIFETIME_YEARS),
    currency,
    amount,
    charges,
    availableBalance: subtract(amount, charges),
    status: 'active',
    createdAt: timestamp(now),
    updatedAt: timestamp(now),
  };
  return { change: { cards: [card] }, result: card };
}

/** The card with this id, optionally limited to one merchant. @throws GatewayError `not_found` */
export function requireCard(state: State, id: string, merchant?: Merchant): Card {
  const card = state.cards.get(id);
  if (card && (merchant === undefined || card.merchantId === merchant.id)) return card;
  throw new GatewayError('not_found', `no card has the id "${id.slice(0, 60)}"`, {
    hint: hint`List all cards with: ${command('cards list')}`,
  });
}

/**
 * Rule: a merchant activates, blocks or cancels a card. Nothing changes if the card is already in that state (chosen: card-toggle-same).
 *
 * @throws GatewayError `wrong_state` if the card is canceled
 */
export function applyCardAction(card: Card, action: CardAction, now: number): RuleResult<Card> {
  const status = CARD_TRANSITIONS[card.status][action];
  if (status === null) {
    const problem = action === 'cancel' ? 'was canceled already' : 'is canceled, which is final';
    throw new GatewayError('wrong_state', `card ${card.id} ${problem}`, {
      hint: hint`Create a new card instead.`,
    });
  }
  if (status === card.status) return { change: {}, result: card };
  const changed = { ...card, status, updatedAt: timestamp(now) };
  return { change: { cards: [changed] }, result: changed };
}

export interface CardMovement {
  card: Card;
  transaction: CardTransaction;
}

export type MovementInput = Omit<CardTransactionInput, 'type'>;

/**
 * Rule: a payment with a card lowers its balance by the amount and the charge.
 *
 * @throws GatewayError `invalid_fields` (amount), `wrong_state` (currency, not active), `insufficient_funds`
 */
export function chargeCard(card: Card, input: MovementInput, context: Context): RuleResult<CardMovement> {
  checkMovement(card, input);
  if (card.status !== 'active') {
    throw new GatewayError(
      'wrong_state',
      `card ${card.id} is ${card.status}: only active cards can be charged`,
      {
        hint:
          card.status === 'inactive'
            ? hint`Activate it with: ${command('cards activate', card.id)}`
            : hint`Create a new card instead.`,
      },
    );
  }
  const charge = chargeOn(input.amount, context.settings.charges.cardTransaction, currencyOf(card, context));
  const balance = subtract(subtract(card.availableBalance, input.amount), charge);
  if (compare(balance, '0') < 0) {
    throw new GatewayError(
      'insufficient_funds',
      `card ${card.id} has a balance of ${card.availableBalance} ${card.currency}, which is too small for ${add(input.amount, charge)}`,
      { hint: hint`Add money with: ${command('cards fund', card.id, '--amount', '<amount>')}` },
    );
  }
  return move(card, balance, { type: '-', remark: 'make_payment', charge }, input, context);
}

/**
 * Rule: adds money to a card's balance. Its initial `amount` does not change (chosen: card-transaction-fund-balance).
 *
 * @throws GatewayError `invalid_fields` (amount, or a balance too large for an exact number), `wrong_state` (currency,
 *   canceled)
 */
export function fundCard(card: Card, input: MovementInput, context: Context): RuleResult<CardMovement> {
  checkMovement(card, input);
  if (card.status === 'canceled') {
    throw new GatewayError('wrong_state', `card ${card.id} is canceled and cannot be funded`);
  }
  const balance = add(card.availableBalance, input.amount);
  if (!CARD_AMOUNT_PATTERN.test(balance)) {
    throw new GatewayError(
      'invalid_fields',
      `amount is too large: the balance would be ${balance} ${card.currency}`,
    );
  }
  const none = { percent: '0', fixed: '0' };
  const charge = chargeOn(input.amount, none, currencyOf(card, context));
  return move(card, balance, { type: '+', remark: 'add_fund', charge }, input, context);
}

/** A card may be older than the options, which no longer have its currency. */
function currencyOf({ currency }: Card, { settings }: Context): Pick<Currency, 'decimals'> {
  return settings.currencies.get(currency) ?? { decimals: USUAL_DECIMALS };
}

function checkMovement(card: Card, { amount, currency }: MovementInput): void {
  const problem = cardAmountProblem(amount);
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
): RuleResult<CardMovement> {
  const at = timestamp(now);
  // As many decimals as the charge has.
  const amount = add(input.amount, kind.charge.replace(/\d/g, '0'));
  const transaction: CardTransaction = {
    id: ids.cardTransaction(),
    cardId: card.id,
    currency: card.currency,
    beforeCharge: amount,
    amount,
    ...kind,
    details: input.details ?? '',
    createdAt: at,
    updatedAt: at,
  };
  const moved = { ...card, availableBalance: balance, updatedAt: at };
  return {
    change: { cards: [moved], cardTransactions: [transaction] },
    result: { card: moved, transaction },
  };
}
