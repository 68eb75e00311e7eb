/*
 * Values that work, for what a merchant's request leaves out: those of the commands and of the library (chosen).
 */

export const PAYMENT_DEFAULTS = {
  amount: '100.00',
  currency: 'USD',
  details: 'Test payment',
  ipnUrl: 'http://localhost:3000/ipn',
  customerName: 'Ada Example',
  customerEmail: 'wallet@example.com',
} as const;

export const CARD_DEFAULTS = {
  amount: '100.00',
  currency: 'USD',
  title: 'Test card',
  nameOnCard: 'Ada Example',
  email: 'ada@example.com',
} as const;

/**
 * What a merchant sends to initiate, of whom nothing more is known: what is left out takes a value that works, with
 * pages of the emulator for addresses.
 */
export function withPaymentDefaults<Values extends object>(
  values: Values,
  { baseUrl, publicKey }: { baseUrl: string; publicKey: string },
) {
  return {
    ...PAYMENT_DEFAULTS,
    publicKey,
    identifier: `sim-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 6)}`,
    successUrl: `${baseUrl}/_sim/ui/paid`,
    cancelUrl: `${baseUrl}/_sim/ui/canceled`,
    siteLogo: `${baseUrl}/_sim/ui/logo.svg`,
    ...given(values),
  };
}

/** Without what is undefined or null. */
export function given<Values extends object>(values: Values): Partial<Values>;
export function given(values: object): object {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );
}
