import type { Mode } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';

/** Paths of initiate (documented). */
export const INITIATE_PATHS = {
  live: '/payment/initiate',
  sandbox: '/sandbox/payment/initiate',
} as const satisfies Record<Mode, string>;

/** Paths of the hosted checkout (observed). */
export const CHECKOUT_PATHS = {
  live: '/initiate/payment/checkout',
  sandbox: '/sandbox/initiate/payment/checkout',
} as const satisfies Record<Mode, string>;

/** Paths of the card endpoints (documented). They exist in live mode only. */
export const CARD_PATHS = {
  list: '/api/cards',
  create: '/api/cards/save',
  read: '/api/cards/:id',
  toggle: '/api/cards/toggle',
  cancel: '/api/cards/cancel/:id',
} as const;

/** Cards exist in live mode only, so that this is where code that takes the sandbox for a prefix ends. */
export function missingPath(path: string): string | undefined {
  return /^\/sandbox\/api\/cards(\/|$)/.test(path)
    ? `${path} does not exist: cards exist in live mode only, under /api/cards`
    : undefined;
}

/** The id in the path of one card, to read or to cancel it. */
export function cardIdIn(path: string): string | undefined {
  const id = /^\/api\/cards\/(?:cancel\/)?([^/]+)$/.exec(path)?.[1];
  return id === 'save' || id === 'toggle' ? undefined : id;
}

/** The query parameter of a checkout (documented). */
export const PAYMENT_PARAMETER = 'payment_id';

/** The address of a payment's checkout. */
export function checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string {
  return `${baseUrl}${CHECKOUT_PATHS[payment.mode]}?${PAYMENT_PARAMETER}=${payment.id}`;
}
