import type { Mode } from '../contract/vocabulary.ts';
import type { Payment } from '../domain/state.ts';

/** Paths of the hosted checkout (observed). */
export const CHECKOUT_PATHS = {
  live: '/initiate/payment/checkout',
  sandbox: '/sandbox/initiate/payment/checkout',
} as const satisfies Record<Mode, string>;

/** The address of a payment's checkout; the query parameter is documented. */
export function checkoutUrl(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string {
  return `${baseUrl}${CHECKOUT_PATHS[payment.mode]}?payment_id=${payment.id}`;
}
