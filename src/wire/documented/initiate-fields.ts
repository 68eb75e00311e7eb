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
 * The fields of initiate. Names, limits and which are required: documented. The form of amount and addresses: chosen.
 * Loose accepts what published clients send although it is not documented (observed: field-logo-optional*, *-any-length, currency-any-case).
 */
function fieldsOf(loose: boolean) {
  return {
    public_key: text('public_key', 50, 'Merchant public API key (documented: field-public-key-*).', loose),
    identifier: text(
      'identifier',
      MAX_IDENTIFIER,
      "The merchant's own identifier of the payment (documented: field-identifier-*). It may be used again (observed: initiate-identifier-*).",
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
      'Plain decimal greater than 0 (documented: field-amount-*, amount-*). The IPN signs it exactly as sent (observed: signature-amount-*); a JSON number is taken when it can be read exactly (chosen: amount-json-*).',
      amountJson(AMOUNT_PATTERN.source),
    ),
    details: text('details', 100, 'What the payment is for (documented: field-details-*).', loose),
    ipn_url: address(
      'ipn_url',
      'Absolute http(s) address that receives the IPN (documented: field-ipn-url-*).',
    ),
    success_url: address(
      'success_url',
      'Where the browser goes on success (documented: field-success-url-*), byte for byte as given (observed: checkout-success-*).',
    ),
    cancel_url: address(
      'cancel_url',
      'Where the browser goes on cancellation (documented: field-cancel-url-*).',
    ),
    site_logo: address(
      'site_logo',
      'Merchant logo address (documented: field-logo-*). `--loose` lets it be missing (observed: field-logo-optional*).',
    ),
    checkout_theme: maybe(
      oneOf('checkout_theme', CHECKOUT_THEMES, 'How the checkout looks (documented: initiate-theme-*).', {
        default: 'light',
      }),
    ),
    customer_name: text('customer_name', 30, "The customer's name (documented: field-*name-*).", loose),
    customer_email: email('customer_email', 30, "The customer's e-mail (documented: field-*email-*).", loose),
  };
}

/** With the logo, which only some deployments need. */
export const LONG_FIELDS = fieldsOf(true);
export const INITIATE_FIELDS = {
  strict: fieldsOf(false),
  loose: { ...LONG_FIELDS, site_logo: maybe(LONG_FIELDS.site_logo) },
};
