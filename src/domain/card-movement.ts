import type { CardTransaction, CardTransactionInput } from '../contract/card.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { timestamp } from '../contract/timestamp.ts';
import { CARD_MONEY, cardAmountProblem } from './card.ts';
import { add, chargeOn, compare, subtract } from './money.ts';
import type { Context } from './settings.ts';
import type { Card, Change, Outcome } from './state.ts';

/** What moved on a card. */
export interface CardMovement {
  card: Card;
  transaction: CardTransaction;
}

/** A charge to a card, or money added to it. */
export type MovementInput = Omit<CardTransactionInput, 'type'>;

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
