/** All statuses of a card. `canceled` is documented and final; the other names are chosen. */
export const CARD_STATUSES = ['active', 'inactive', 'canceled'] as const;
type CardStatus = (typeof CARD_STATUSES)[number];

/** What a merchant can do to a card (documented: card-block, card-activate, card-cancel*). */
export const CARD_ACTIONS = ['activate', 'block', 'cancel'] as const;
export type CardAction = (typeof CARD_ACTIONS)[number];

/** The resulting status of each action; null if it is rejected. `canceled`: documented; the rest: chosen. */
export const CARD_TRANSITIONS = {
  active: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  inactive: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  canceled: { activate: null, block: null, cancel: null },
} as const satisfies Record<CardStatus, Record<CardAction, CardStatus | null>>;

/** What the simulator can do to the money on a card (chosen). */
export const CARD_MOVEMENTS = ['charge', 'fund'] as const;
export type CardMovementKind = (typeof CARD_MOVEMENTS)[number];
