import type { CardAction, CardMovementKind } from '../contract/card-status.ts';
import type { Merchant } from '../contract/merchant.ts';
import {
  applyCardAction,
  type CardMovement,
  chargeCard,
  fundCard,
  type IssueCardCommand,
  issueCard,
  type MovementInput,
  requireCard,
} from '../domain/card.ts';
import type { Card } from '../domain/state.ts';
import type { UseCaseDependencies } from './dependencies.ts';

const RULES = { charge: chargeCard, fund: fundCard } as const satisfies Record<CardMovementKind, unknown>;

export function cardUseCases({ store, context, clock }: UseCaseDependencies) {
  return {
    /** The cards of a merchant, newest first. */
    of: ({ id }: Merchant): Card[] =>
      [...store.state.cards.values()].filter(({ merchantId }) => merchantId === id).reverse(),

    /** The card with this id, optionally limited to one merchant. @throws GatewayError `not_found` */
    require: (cardId: string, merchant?: Merchant): Card => requireCard(store.state, cardId, merchant),

    issue: (merchant: Merchant, command: IssueCardCommand): Promise<Card> =>
      store.commit((state) => issueCard(state, merchant, command, context())),

    apply: (merchant: Merchant, cardId: string, action: CardAction): Promise<Card> =>
      store.commit((state) => applyCardAction(requireCard(state, cardId, merchant), action, clock.now())),

    /** Charges or funds a card, as the simulator does. */
    move: (cardId: string, kind: CardMovementKind, input: MovementInput): Promise<CardMovement> =>
      store.commit((state) => RULES[kind](requireCard(state, cardId), input, context())),
  };
}
