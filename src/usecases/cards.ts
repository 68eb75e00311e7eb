import type { CardTransaction } from '../contract/card.ts';
import { type ErrorCode, GatewayError } from '../contract/error.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { Merchant } from '../contract/merchant.ts';
import { timestamp } from '../contract/time.ts';
import type { CardAction, CardMovementKind } from '../contract/vocabulary.ts';
import {
  applyCardAction,
  type CardMovement,
  type CardPage,
  chargeCard,
  fundCard,
  type IssueCardCommand,
  issueCard,
  type MovementInput,
  requireCard,
} from '../domain/card.ts';
import type { ReadonlyCollection } from '../domain/collection.ts';
import type { Card, State } from '../domain/state.ts';
import type { UseCaseParts } from './parts.ts';

/** Cards per page of the merchant's list (chosen: card-list-paging). */
const PER_PAGE = 15;

const RULES = { charge: chargeCard, fund: fundCard } as const satisfies Record<CardMovementKind, unknown>;

/** Reasons for which a real card would be declined. All other errors are mistakes in the command. */
const DECLINED: ReadonlySet<ErrorCode> = new Set(['wrong_state', 'insufficient_funds']);

/** A declined transaction as the request log shows it. */
type DeclinedRequest = Pick<RecordedRequest, 'target' | 'requestBody' | 'status' | 'responseBody'>;

export function cardUseCases(parts: UseCaseParts) {
  const { store, context, clock } = parts;
  return {
    get all(): ReadonlyCollection<Card> {
      return store.state.cards;
    },

    page: (merchant: Merchant, page: number): CardPage => cardPage(store.state, merchant, page),

    /** The card with this id, optionally limited to one merchant. @throws GatewayError `not_found` */
    require: (cardId: string, merchant?: Merchant): Card => requireCard(store.state, cardId, merchant),

    /** Newest first. */
    transactions: ({ id }: Card): CardTransaction[] => store.state.transactionsOf(id),

    issue: (merchant: Merchant, command: IssueCardCommand): Promise<Card> =>
      store.commit((state) => issueCard(state, merchant, command, context())),

    apply: (merchant: Merchant, cardId: string, action: CardAction): Promise<Card> =>
      store.commit((state) => applyCardAction(requireCard(state, cardId, merchant), action, clock.now())),

    /**
     * Charges or funds a card, as the simulator does. A declined charge creates no transaction but appears in the request
     * log (chosen).
     *
     * @param declined formats the entry of the request log; without it, none is written
     */
    async move(
      cardId: string,
      kind: CardMovementKind,
      input: MovementInput,
      declined?: (error: GatewayError) => DeclinedRequest,
    ): Promise<CardMovement> {
      try {
        return await store.commit((state) => RULES[kind](requireCard(state, cardId), input, context()));
      } catch (error) {
        if (declined && error instanceof GatewayError && DECLINED.has(error.code)) {
          recordDeclined(parts, declined(error), error.message);
        }
        throw error;
      }
    },
  };
}

function cardPage({ cards }: State, merchant: Merchant, page: number): CardPage {
  const all = [...cards.values()].filter(({ merchantId }) => merchantId === merchant.id).reverse();
  return {
    cards: all.slice((page - 1) * PER_PAGE, page * PER_PAGE),
    page,
    perPage: PER_PAGE,
    lastPage: Math.max(1, Math.ceil(all.length / PER_PAGE)),
    total: all.length,
  };
}

function recordDeclined({ events, clock }: UseCaseParts, request: DeclinedRequest, message: string): void {
  events.record({
    ...request,
    at: timestamp(clock.now()),
    fault: null,
    method: 'POST',
    requestHeaders: {},
    durationMs: 0,
    paymentId: null,
    notes: [`declined: ${message}`],
  });
}
