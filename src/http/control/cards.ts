import {
  CardList,
  CardMovement,
  CardQuery,
  CardTransactionInput,
  CardWithTransactions,
} from '../../contract/card.ts';
import type { AppParts } from '../environment.ts';
import { statusOf } from '../errors.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { cardView } from './views.ts';

export function cardRoutes({ cards }: AppParts) {
  return [
    control('GET /cards', {
      summary: 'Cards of all merchants, newest first',
      query: CardQuery,
      answer: CardList,
      run: ({ query: { limit, cursor, merchant: merchantId, ...wanted } }) =>
        listPage(cards.all, { limit, cursor }, { ...wanted, merchantId }, cardView),
    }),
    control('GET /cards/:id', {
      summary: 'A card with its transactions',
      answer: CardWithTransactions,
      run: ({ params }) => {
        const card = cards.require(params.id);
        return { ...cardView(card), transactions: cards.transactions(card) };
      },
    }),
    control('POST /cards/:id/transactions', {
      summary: 'Charge or fund a card',
      description: '409: the card to charge is not active, or its balance is too small.',
      body: CardTransactionInput,
      answer: CardMovement,
      status: 201,
      errors: [409],
      run: async ({ params, body }) => {
        const { type, ...movement } = body;
        const { card, transaction } = await cards.move(params.id, type, movement, (error) => ({
          target: `/_sim/cards/${encodeURIComponent(params.id)}/transactions`,
          requestBody: JSON.stringify(body),
          status: statusOf(error),
          responseBody: JSON.stringify(error),
        }));
        return { card: cardView(card), transaction };
      },
    }),
  ];
}
