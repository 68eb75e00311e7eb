import { shorten } from '../../contract/address.ts';
import { AMOUNT_PATTERN, isAmount } from '../../contract/amount.ts';
import { CHECKOUT_THEMES } from '../../contract/vocabulary.ts';
import { address, amountJson, email, maybe, oneOf, required, text } from '../fields.ts';
import { MAX_IDENTIFIER } from './names.ts';

function amountProblem(value: string): string | undefined {
  if (isAmount(value)) return undefined;
  return `must be a plain decimal greater than 0 with at most 20 digits and 8 decimals, such as 100 or 49.90 (got "${shorten(value)}")`;
}

/**
 * The fields of initiate. Names, limits and required fields: documented. Format of amounts and addresses: chosen.
 * `loose` accepts undocumented values that published clients send (observed: field-logo-optional*, *-any-length, currency-any-case).
 */
function fieldsOf(loose: boolean) {
  return {
    public_key: text(
      'public_key',
      50,
      "The merchant's public API key (documented: field-public-key-*).",
      loose,
    ),
    identifier: text(
      'identifier',
      MAX_IDENTIFIER,
      "The merchant's own identifier for the payment (documented: field-identifier-*). It may be reused (observed: initiate-identifier-*).",
      loose,
    ),
    currency: text(
      'currency',
      4,
      'Currency code in upper case, such as USD or EUR (documented: field-currency-*, currency-*).',
      loose,
    ),
    amount: required(
      'amount',
      amountProblem,
      'Plain decimal greater than 0 (documented: field-amount-*, amount-*). The IPN signs it exactly as sent (observed: signature-amount-*); a JSON number is accepted if it can be read exactly (chosen: amount-json-*).',
      amountJson(AMOUNT_PATTERN.source),
    ),
    details: text('details', 100, 'Description of the purchase (documented: field-details-*).', loose),
    ipn_url: address(
      'ipn_url',
      'Absolute http(s) address that receives the IPN (documented: field-ipn-url-*).',
    ),
    success_url: address(
      'success_url',
      'Redirect address on success (documented: field-success-url-*), byte for byte as sent (observed: checkout-success-*).',
    ),
    cancel_url: address('cancel_url', 'Redirect address on cancellation (documented: field-cancel-url-*).'),
    site_logo: address(
      'site_logo',
      'Address of the merchant logo (documented: field-logo-*). Optional with `--loose` (observed: field-logo-optional*).',
    ),
    checkout_theme: maybe(
      oneOf('checkout_theme', CHECKOUT_THEMES, 'Theme of the checkout (documented: initiate-theme-*).', {
        default: 'light',
      }),
    ),
    customer_name: text('customer_name', 30, "The customer's name (documented: field-*name-*).", loose),
    customer_email: email('customer_email', 30, "The customer's e-mail (documented: field-*email-*).", loose),
  };
}

/** Any length, but with a required logo, as in some deployments. */
export const LONG_FIELDS = fieldsOf(true);
export const INITIATE_FIELDS = {
  strict: fieldsOf(false),
  loose: { ...LONG_FIELDS, site_logo: maybe(LONG_FIELDS.site_logo) },
};
