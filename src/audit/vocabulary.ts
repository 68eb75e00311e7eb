/*
 * The words of an audit (chosen). No schemas, so that commands load it quickly. Its options are in
 * audit-options.ts, its output in report.ts.
 */

/** The result of a case. */
export const AUDIT_VERDICTS = {
  pass: 'the shop behaved correctly',
  fail: 'the shop can be harmed',
  'at-risk': "the gateway's protocol allows this, and the shop does not block it",
  note: 'worth knowing; the shop loses nothing',
  unproven: 'nothing shows what the shop did: a status code alone proves little',
  skipped: 'not tried',
} as const;
export type AuditVerdict = keyof typeof AUDIT_VERDICTS;

/** Whether a verdict is reported with its details. */
export function isReportable(verdict: AuditVerdict): boolean {
  return verdict === 'fail' || verdict === 'at-risk';
}

/** What a case checks. */
export const AUDIT_GROUPS = {
  control: 'a correct IPN is accepted',
  sender: 'only the gateway is trusted',
  order: 'an IPN pays its own order and no other',
  amount: 'the amount paid is the price of the order, in its currency',
  merchant: 'the payment is to this merchant, in this mode',
  once: 'a payment takes effect only once',
  status: 'only success pays, and a paid order stays paid',
  return: 'returning from the checkout proves nothing',
  initiate: 'the shop initiates payments correctly',
  robustness: 'malformed requests do no harm',
  leaks: 'responses reveal no secrets',
} as const;

/** Kinds of published advisories for payment callbacks of shop plugins, and risks specific to this interface. */
export const AUDIT_CLASSES = {
  control: 'the correct IPN that all others are compared with',
  A: 'IPN not authenticated',
  B: 'check fails open',
  C: 'empty or well-known secret',
  D: 'amount, currency or receiver not checked',
  E: 'IPN not bound to its order',
  F: 'return page trusted',
  G: 'sandbox payment accepted as live',
  H: 'forged failure',
  I: 'spoofed origin trusted',
  J: 'type juggling',
  K: 'injection',
  L: 'secrets or internals leaked',
  M: 'price or key controlled by the client',
  splice: 'characters moved between amount and identifier under one signature',
  once: 'one payment takes effect more than once',
  robustness: 'malformed requests handled wrongly',
} as const;
export type AuditClass = keyof typeof AUDIT_CLASSES;

/** Shops with known ways to place and probe orders. */
export const AUDIT_PRESETS = {
  plain: 'POST /orders places an order, GET /orders/{identifier} returns it as JSON with its status',
  woocommerce:
    'places orders with WP-CLI (wp must be installed), in the folder of the site, and reads the database wordpress; WC_GATEWAY names the payment method',
  opencart:
    'orders in the storefront of the ipn_url with curl, or by hand without an ipn_url, and reads the database opencart',
  prestashop:
    'orders in the storefront of the ipn_url with curl, or by hand without an ipn_url, and reads the database prestashop',
} as const;
export type AuditPreset = keyof typeof AUDIT_PRESETS;

/** Maximum wait for one response. A timer of more than 24 days would fire immediately. */
export const MAX_TIMEOUT_MS = 3_600_000;
