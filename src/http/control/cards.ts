import {
  CardList,
  CardMovement,
  CardQuery,
  CardTransactionInput,
  CardWithTransactions,
} from '../../contract/card.ts';
import type { GatewayError } from '../../contract/error.ts';
import type { DeclinedRequest } from '../../usecases/cards.ts';
import type { AppParts } from '../environment.ts';
import { controlError, statusOf } from '../errors.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { cardView } from './views.ts';

const TAG = 'Control: cards';

/** Routes of `/_sim/cards`: the simulator's side. */
export function cardRoutes({ cards, state }: AppParts) {
  return [
    control(
      'GET /cards',
      { tag: TAG, summary: 'Cards of all merchants, newest first', query: CardQuery, answer: CardList },
      ({ query: { limit, cursor, merchant: merchantId, ...wanted } }) =>
        listPage(state.current.cards, { limit, cursor }, { ...wanted, merchantId }, cardView),
    ),
    control(
      'GET /cards/:id',
      { tag: TAG, summary: 'A card with its transactions', answer: CardWithTransactions },
      ({ params }) => {
        const card = cards.require(params.id);
        return { ...cardView(card), transactions: cards.transactions(card) };
      },
    ),
    control(
      'POST /cards/:id/transactions',
      {
        tag: TAG,
        summary: 'Charge or fund a card',
        description: 'Refused (409) when a card to be charged is not active or its balance is too small.',
        body: CardTransactionInput,
        answer: CardMovement,
        status: 201,
        errors: [409],
      },
      async ({ params, body }) => {
        const { type, ...movement } = body;
        const { card, transaction } = await cards.move(params.id, type, movement, (error) =>
          declinedRequest(params.id, body, error),
        );
        return { card: cardView(card), transaction };
      },
    ),
  ] as const;
}

function declinedRequest(id: string, input: object, error: GatewayError): DeclinedRequest {
  return {
    target: `/_sim/cards/${encodeURIComponent(id)}/transactions`,
    requestBody: JSON.stringify(input),
    status: statusOf(error),
    responseBody: JSON.stringify(controlError(error)),
  };
}
