import { CARD_FIELDS, INITIATE_FIELDS, wireNames } from '../contract/request-fields.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { Payment } from '../domain/state.ts';

/** Paths of initiate (documented: initiate-sandbox, initiate-live). */
export const INITIATE_PATHS = {
  live: '/payment/initiate',
  sandbox: '/sandbox/payment/initiate',
} as const satisfies Record<Mode, string>;

/** Paths of the hosted checkout (observed: initiate-url-path*). */
export const CHECKOUT_PATHS = {
  live: '/initiate/payment/checkout',
  sandbox: '/sandbox/initiate/payment/checkout',
} as const satisfies Record<Mode, string>;

/** Paths of the card endpoints (documented: card-create, card-list, card-read, card-block, card-cancel). They exist in live mode only. */
export const CARD_PATHS = {
  list: '/api/cards',
  create: '/api/cards/save',
  read: '/api/cards/:id',
  toggle: '/api/cards/toggle',
  cancel: '/api/cards/cancel/:id',
} as const;

/**
 * Why a plausible path does not exist; undefined for any other path. Cards exist in live mode only (documented:
 * route-sandbox-cards*), and code that uses the sandbox as a prefix requests these paths.
 */
export function missingPath(path: string): string | undefined {
  return /^\/sandbox\/api\/cards(\/|$)/.test(path)
    ? `${path} does not exist: cards exist in live mode only, under /api/cards`
    : undefined;
}

/** The query parameter of a checkout that names the payment (documented: initiate-url-payment-id*). */
export const PAYMENT_PARAMETER = 'payment_id';

export function checkoutUrlOf({ id, mode }: Pick<Payment, 'id' | 'mode'>, baseUrl: string): string {
  return `${baseUrl}${CHECKOUT_PATHS[mode]}?${PAYMENT_PARAMETER}=${id}`;
}

/*
 * Our field names with the names on the wire. Both sides use these maps.
 */

export const INITIATE_NAMES = wireNames(INITIATE_FIELDS);
export const CARD_NAMES = wireNames(CARD_FIELDS);

type Names = Readonly<Record<string, string>>;

/** Converts wire names to ours. */
export function fromWire<Ours extends Names, Values extends object>(names: Ours, values: Values) {
  const read: Record<string, unknown> = {};
  for (const name in names) read[name] = values[names[name] as unknown as keyof Values];
  return read as { -readonly [Name in keyof Ours]: Values[Ours[Name] & keyof Values] };
}

/** Converts our names to wire names. */
export function toWire(names: Names, values: Readonly<Record<string, string | null | undefined>>) {
  const sent: Record<string, string> = {};
  for (const [name, wireName] of Object.entries(names)) {
    const value = values[name];
    if (value !== undefined && value !== null) sent[wireName] = value;
  }
  return sent;
}

/** Our names for the relevant IPN fields, and their names in a form (observed: ipn-order, ipn-nested-names). */
export const IPN_NAMES = {
  status: 'status',
  signature: 'signature',
  identifier: 'identifier',
  amount: 'data[amount]',
  trx: 'data[payment_trx]',
  holder: 'data[account_holder]',
  charge: 'data[charge]',
  currency: 'data[currency][code]',
} as const;
