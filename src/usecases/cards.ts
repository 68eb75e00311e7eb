import type { CardTransaction } from '../contract/card.ts';
import type { CardAction, CardMovementKind } from '../contract/card-status.ts';
import type { Merchant } from '../contract/merchant.ts';
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
import type { UseCaseDependencies } from './dependencies.ts';

/** Cards per page of the merchant's list (chosen: card-list-paging). */
const PER_PAGE = 15;

const RULES = { charge: chargeCard, fund: fundCard } as const satisfies Record<CardMovementKind, unknown>;

export function cardUseCases({ store, context, clock }: UseCaseDependencies) {
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

    /** Charges or funds a card, as the simulator does. */
    move: (cardId: string, kind: CardMovementKind, input: MovementInput): Promise<CardMovement> =>
      store.commit((state) => RULES[kind](requireCard(state, cardId), input, context())),
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
