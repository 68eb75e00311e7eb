import { CARD_FIELDS, fallbacks, INITIATE_FIELDS } from './request-fields.ts';

/*
 * Working defaults for fields that a merchant's request omits, for commands and the library (chosen).
 */

/** The keys of the default merchant of a new folder. */
export const DEFAULT_KEYS = {
  publicKey: 'pub_sim_example_not_a_real_key',
  secretKey: 'sec_sim_example_not_a_real_key',
} as const;

/** Secret keys in documentation and samples, which code may still use. */
export const EXAMPLE_KEYS = [
  ...['secret', 'SECRET_KEY', 'YOUR_SECRET_KEY', 'your_secret_key', 'your-secret-key', 'YOUR_SECRET_API_KEY'],
  ...['secret_key', 'test', 'changeme', 'sk_test', '123456'],
] as const;

const PAYMENT_DEFAULTS = fallbacks(INITIATE_FIELDS);
export const CARD_DEFAULTS = fallbacks(CARD_FIELDS);

/**
 * The fields that a merchant sends to initiate. Omitted fields get working defaults, with pages of the emulator as
 * addresses.
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
    ...withoutUndefined(values),
  };
}

/** A copy without undefined and null values. */
export function withoutUndefined<Values extends object>(values: Values): Partial<Values>;
export function withoutUndefined(values: object): object {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );
}
