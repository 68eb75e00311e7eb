import type { Mode } from '../contract/vocabulary.ts';
import type { Payment } from '../domain/state.ts';

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

/** The address of a payment's checkout; the query parameter is documented. */
export function checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string {
  return `${baseUrl}${CHECKOUT_PATHS[payment.mode]}?payment_id=${payment.id}`;
}
