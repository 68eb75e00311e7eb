import type { Merchant } from '../contract/merchant.ts';
import type { CardAction } from '../contract/vocabulary.ts';
import {
  applyCardAction,
  type CardInput,
  type CardMovement,
  chargeCard,
  fundCard,
  issueCard,
  type MovementInput,
  requireCard,
} from '../domain/card.ts';
import type { Context } from '../domain/settings.ts';
import type { Card, State } from '../domain/state.ts';
import type { Store } from '../store/store.ts';

/** So many cards stand on a page of the merchant's list (chosen). */
export const CARDS_PER_PAGE = 15;

/** One page of a merchant's cards. */
export interface CardPage {
  cards: Card[];
  page: number;
  lastPage: number;
  total: number;
}

/** The use cases of virtual cards: each is one commit. */
export class CardUseCases {
  readonly #store: Store;
  readonly #context: () => Context;

  constructor(store: Store, context: () => Context) {
    this.#store = store;
    this.#context = context;
  }

  /** The state, to be read. */
  get state(): State {
    return this.#store.state;
  }

  /** A merchant's cards, newest first; a page past the end is empty. */
  page(merchant: Merchant, page: number): CardPage {
    const { data } = this.state.cards.page(
      Number.MAX_SAFE_INTEGER,
      undefined,
      (card) => card.merchantId === merchant.id,
    );
    const from = (page - 1) * CARDS_PER_PAGE;
    return {
      cards: data.slice(from, from + CARDS_PER_PAGE),
      page,
      lastPage: Math.max(1, Math.ceil(data.length / CARDS_PER_PAGE)),
      total: data.length,
    };
  }

  /** A merchant creates a card. */
  issue(merchant: Merchant, input: CardInput): Promise<Card> {
    return this.#store.commit((state) => issueCard(state, merchant, input, this.#context()));
  }

  /** A merchant activates, blocks or cancels a card of its own. */
  trigger(merchant: Merchant, cardId: string, trigger: CardAction): Promise<Card> {
    return this.#store.commit((state) =>
      applyCardAction(requireCard(state, cardId, merchant), trigger, this.#context().now),
    );
  }

  /** Something is paid with a card, or money is added to it: the simulator's side. */
  move(cardId: string, kind: 'charge' | 'fund', input: MovementInput): Promise<CardMovement> {
    const rule = kind === 'charge' ? chargeCard : fundCard;
    return this.#store.commit((state) => rule(requireCard(state, cardId), input, this.#context()));
  }
}
