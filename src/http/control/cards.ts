import { Hono } from 'hono';
import * as z from 'zod/mini';
import { CARD_STATUSES } from '../../contract/vocabulary.ts';
import { maskedCardNumber, requireCard } from '../../domain/card.ts';
import type { Card } from '../../domain/state.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { errorBody, statusOf } from '../errors.ts';
import { jsonInput, queryInput, wholeNumber } from '../input.ts';

/** A card as the control API shows it. */
export type CardView = Card & { maskedNumber: string };

function cardView(card: Card): CardView {
  return { ...card, maskedNumber: maskedCardNumber(card.number) };
}

/** Filters of the list of cards. */
export const CardQuery = z.strictObject({
  status: z.optional(z.enum(CARD_STATUSES)),
  merchant: z.optional(z.string()),
  limit: z.optional(wholeNumber(1, 1_000)),
  cursor: z.optional(wholeNumber(0, 2 ** 31)),
});

/** A charge to a card, or money added to it; the amount as decimal text. */
export const CardTransactionInput = z.strictObject({
  type: z.enum(['charge', 'fund']),
  amount: z.string(),
  details: z.optional(z.string().check(z.maxLength(255))),
  currency: z.optional(z.string()),
});

/** Routes below `/_sim/cards`: the simulator's side. */
export function cardRoutes({ gateway, cards }: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/', queryInput(CardQuery), (c) => {
      const { status, merchant, limit = 50, cursor } = c.req.valid('query');
      const page = gateway.state.cards.page(
        limit,
        cursor === undefined ? undefined : String(cursor),
        (card) =>
          (status === undefined || card.status === status) &&
          (merchant === undefined || card.merchantId === merchant),
      );
      return c.json({ data: page.data.map(cardView), nextCursor: page.nextCursor });
    })
    .get('/:id', (c) => {
      const card = requireCard(gateway.state, c.req.param('id'));
      return c.json({ ...cardView(card), transactions: gateway.state.transactionsOf(card.id) });
    })
    .post('/:id/transactions', jsonInput(CardTransactionInput), async (c) => {
      const id = c.req.param('id');
      const input = c.req.valid('json');
      const { type, ...movement } = input;
      const { card, transaction } = await cards.move(id, type, movement, (error) => ({
        target: `/_sim/cards/${encodeURIComponent(id)}/transactions`,
        requestBody: JSON.stringify(input),
        status: statusOf(error),
        responseBody: JSON.stringify(errorBody(error, true)),
      }));
      return c.json({ card: cardView(card), transaction }, 201);
    });
}
