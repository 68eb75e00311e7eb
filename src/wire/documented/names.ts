import type { PaymentRequest } from '../../contract/payment.ts';
import type { CardValues } from '../dialect.ts';

/*
 * Maps our field names to the names on the wire (documented: field-*-missing), in wire order. Both sides use these maps.
 */

export const ASKED_NAMES = {
  identifier: 'identifier',
  currency: 'currency',
  amount: 'amount',
  details: 'details',
  ipnUrl: 'ipn_url',
  successUrl: 'success_url',
  cancelUrl: 'cancel_url',
  siteLogo: 'site_logo',
  checkoutTheme: 'checkout_theme',
  customerName: 'customer_name',
  customerEmail: 'customer_email',
} as const satisfies Record<keyof PaymentRequest, string>;

/** Maximum length of an identifier, in characters (documented: field-identifier-too-long). */
export const MAX_IDENTIFIER = 20;

export const INITIATE_NAMES = { publicKey: 'public_key', ...ASKED_NAMES } as const;

export const CARD_NAMES = {
  currency: 'currency_code',
  title: 'title',
  nameOnCard: 'name_on_card',
  email: 'email',
  amount: 'amount',
} as const satisfies Record<keyof CardValues, string>;

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
