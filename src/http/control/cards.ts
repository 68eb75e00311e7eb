import {
  CardList,
  CardMovement,
  CardQuery,
  CardTransactionInput,
  CardWithTransactions,
} from '../../contract/card.ts';
import { type ErrorCode, GatewayError } from '../../contract/error.ts';
import { requireCard } from '../../domain/card.ts';
import { timestamp } from '../../domain/settings.ts';
import type { AppParts } from '../environment.ts';
import { errorBody, statusOf } from '../errors.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { cardView } from './views.ts';

const TAG = 'Control: cards';

/** Routes of `/_sim/cards`: the simulator's side. */
export function cardRoutes(parts: AppParts) {
  const { gateway, cards } = parts;
  return [
    control(
      'GET /cards',
      { tag: TAG, summary: 'Cards of all merchants, newest first', query: CardQuery, answer: CardList },
      ({ query: { limit, cursor, merchant: merchantId, ...wanted } }) =>
        listPage(gateway.state.cards, { limit, cursor }, { ...wanted, merchantId }, cardView),
    ),
    control(
      'GET /cards/:id',
      { tag: TAG, summary: 'A card with its transactions', answer: CardWithTransactions },
      ({ params }) => {
        const card = requireCard(gateway.state, params.id);
        return { ...cardView(card), transactions: gateway.state.transactionsOf(card.id) };
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
        try {
          const { card, transaction } = await cards.move(params.id, type, movement);
          return { card: cardView(card), transaction };
        } catch (thrown) {
          if (thrown instanceof GatewayError && DECLINED.has(thrown.code))
            noteDeclined(parts, params.id, body, thrown);
          throw thrown;
        }
      },
    ),
  ] as const;
}

/** What a real card would be declined for; anything else is a mistake in the command. */
const DECLINED: ReadonlySet<ErrorCode> = new Set(['wrong_state', 'insufficient_funds']);

/** A declined attempt is no transaction, but the developer finds it in the request log (chosen). */
function noteDeclined({ activity, gateway }: AppParts, id: string, input: object, error: GatewayError): void {
  activity.record({
    at: timestamp(gateway.now()),
    method: 'POST',
    target: `/_sim/cards/${encodeURIComponent(id)}/transactions`,
    requestHeaders: {},
    requestBody: JSON.stringify(input),
    status: statusOf(error),
    responseBody: JSON.stringify(errorBody(error, true)),
    durationMs: 0,
    paymentId: null,
    notes: [`declined: ${error.message}`],
  });
}
