import type { CardTransaction } from '../contract/card.ts';
import { type ErrorCode, GatewayError } from '../contract/error.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { Merchant } from '../contract/merchant.ts';
import { timestamp } from '../contract/timestamp.ts';
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
import type { Card } from '../domain/state.ts';
import type { UseCaseParts } from './parts.ts';

/** Cards on a page of the merchant's list (chosen). */
const PER_PAGE = 15;

const RULES = { charge: chargeCard, fund: fundCard } as const satisfies Record<CardMovementKind, unknown>;

/** What a real card would be declined for; anything else is a mistake in the command. */
const DECLINED: ReadonlySet<ErrorCode> = new Set(['wrong_state', 'insufficient_funds']);

/** How a declined movement is shown in the request log. */
export type DeclinedRequest = Pick<RecordedRequest, 'target' | 'requestBody' | 'status' | 'responseBody'>;

/** The use cases of virtual cards: each is one commit. */
export class Cards {
  readonly #parts: UseCaseParts;

  constructor(parts: UseCaseParts) {
    this.#parts = parts;
  }

  /** A merchant's cards, newest first; a page past the end is empty. */
  page(merchant: Merchant, page: number): CardPage {
    const { data } = this.#parts.store.state.cards.page(
      Number.MAX_SAFE_INTEGER,
      undefined,
      (card) => card.merchantId === merchant.id,
    );
    const from = (page - 1) * PER_PAGE;
    return {
      cards: data.slice(from, from + PER_PAGE),
      page,
      perPage: PER_PAGE,
      lastPage: Math.max(1, Math.ceil(data.length / PER_PAGE)),
      total: data.length,
    };
  }

  /**
   * The card with this id, if it is this merchant's (any merchant's when none is given).
   *
   * @throws GatewayError `not_found`
   */
  require(cardId: string, merchant?: Merchant): Card {
    return requireCard(this.#parts.store.state, cardId, merchant);
  }

  /** The transactions of a card, newest first. */
  transactions({ id }: Card): CardTransaction[] {
    return this.#parts.store.state.transactionsOf(id);
  }

  /** A merchant creates a card. */
  issue(merchant: Merchant, command: IssueCardCommand): Promise<Card> {
    const { store, context } = this.#parts;
    return store.commit((state) => issueCard(state, merchant, command, context()));
  }

  /** A merchant activates, blocks or cancels a card of its own. */
  apply(merchant: Merchant, cardId: string, action: CardAction): Promise<Card> {
    const { store, context } = this.#parts;
    return store.commit((state) =>
      applyCardAction(requireCard(state, cardId, merchant), action, context().now),
    );
  }

  /**
   * Something is paid with a card, or money is added to it: the simulator's side. A declined attempt is no transaction,
   * but the developer finds it in the request log (chosen).
   *
   * @param declined how the request log shows a declined attempt; without it, it does not
   */
  async move(
    cardId: string,
    kind: CardMovementKind,
    input: MovementInput,
    declined?: (error: GatewayError) => DeclinedRequest,
  ): Promise<CardMovement> {
    const { store, context } = this.#parts;
    try {
      return await store.commit((state) => RULES[kind](requireCard(state, cardId), input, context()));
    } catch (error) {
      if (declined && error instanceof GatewayError && DECLINED.has(error.code)) {
        this.#recordDeclined(declined(error), error.message);
      }
      throw error;
    }
  }

  #recordDeclined(request: DeclinedRequest, message: string): void {
    this.#parts.events.record({
      at: timestamp(this.#parts.clock.now()),
      method: 'POST',
      target: request.target,
      requestHeaders: {},
      requestBody: request.requestBody,
      status: request.status,
      responseBody: request.responseBody,
      durationMs: 0,
      paymentId: null,
      notes: [`declined: ${message}`],
    });
  }
}
