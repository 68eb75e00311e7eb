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
    public_key: text('public_key', 50, "The merchant's public API key.", loose),
    identifier: text(
      'identifier',
      MAX_IDENTIFIER,
      "The merchant's own identifier for the payment. It may be reused.",
      loose,
    ),
    currency: text('currency', 4, 'Currency code in upper case, such as USD or EUR.', loose),
    amount: required(
      'amount',
      amountProblem,
      'Plain decimal greater than 0. The IPN signs it exactly as sent; a JSON number is accepted if it can be read exactly.',
      amountJson(AMOUNT_PATTERN.source),
    ),
    details: text('details', 100, 'Description of the purchase.', loose),
    ipn_url: address('ipn_url', 'Absolute http(s) address that receives the IPN.'),
    success_url: address('success_url', 'Redirect address on success, byte for byte as sent.'),
    cancel_url: address('cancel_url', 'Redirect address on cancellation.'),
    site_logo: address('site_logo', 'Address of the merchant logo. Optional with `--loose`.'),
    checkout_theme: maybe(
      oneOf('checkout_theme', CHECKOUT_THEMES, 'Theme of the checkout.', {
        default: 'light',
      }),
    ),
    customer_name: text('customer_name', 30, "The customer's name.", loose),
    customer_email: email('customer_email', 30, "The customer's e-mail.", loose),
  };
}

/** Any length, but with a required logo, as in some deployments. */
export const LONG_FIELDS = fieldsOf(true);
export const INITIATE_FIELDS = {
  strict: fieldsOf(false),
  loose: { ...LONG_FIELDS, site_logo: maybe(LONG_FIELDS.site_logo) },
};
