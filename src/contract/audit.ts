/*
 * The words of an audit (chosen). No schema: commands load this for free. The shape of what goes in and out as JSON is
 * in audit-report.ts.
 */

/** What a case came to. */
export const AUDIT_VERDICTS = {
  pass: 'the shop did the right thing',
  fail: 'the shop can be harmed',
  'at-risk': "the gateway's protocol allows this, and the shop does not block it",
  note: 'worth knowing, and no harm',
  unproven: 'nothing shows what the shop did: a status code alone proves little',
  skipped: 'not tried',
} as const;
export type AuditVerdict = keyof typeof AUDIT_VERDICTS;

/** Whether a verdict is told with all that led to it. */
export function isTold(verdict: AuditVerdict): boolean {
  return verdict === 'fail' || verdict === 'at-risk';
}

/** What must be authentic and intact. */
export const AUDIT_GROUPS = {
  control: 'a correct IPN is taken',
  sender: 'only the gateway is believed',
  order: 'an IPN pays its own order and no other',
  amount: 'what was paid is what the order costs, in its currency',
  merchant: 'it was paid to this merchant, in this mode',
  once: 'a payment has its effect once',
  status: 'only success pays, and what is paid stays paid',
  return: 'coming back from the checkout proves nothing',
  initiate: 'the shop asks for the right thing',
  robustness: 'odd requests do no harm',
  leaks: 'nothing secret comes out',
} as const;
export type AuditGroup = keyof typeof AUDIT_GROUPS;

/** Kinds of published advisories for payment callbacks of shop plugins, and what is peculiar to this interface. */
export const AUDIT_CLASSES = {
  control: 'the correct IPN that all others are measured by',
  A: 'IPN not authenticated',
  B: 'check fails open',
  C: 'empty or well-known secret',
  D: 'amount, currency or receiver not checked',
  E: 'IPN not bound to its order',
  F: 'return page trusted',
  G: 'sandbox payment taken for a live one',
  H: 'forged failure',
  I: 'spoofed origin trusted',
  J: 'type juggling',
  K: 'injection',
  L: 'secrets or internals leaked',
  M: 'price or key taken from the client',
  splice: 'amount and identifier moved into one another under one signature',
  once: 'one payment, several effects',
  robustness: 'odd requests, wrong answers',
} as const;
export type AuditClass = keyof typeof AUDIT_CLASSES;

/** Shops whose ways to place an order and to look at it are known. */
export const AUDIT_PRESETS = {
  plain: 'POST /orders places one, GET /orders/{identifier} tells of it in JSON with its status',
  woocommerce: 'by WP-CLI, in the folder of the site; WC_GATEWAY names the payment method',
  laravel: 'looks by artisan tinker, in the folder of the site; orders by hand',
  prestashop: 'looks into its database by mysql; orders by hand',
  whmcs: 'looks into its database by mysql; orders by hand',
} as const;
export type AuditPreset = keyof typeof AUDIT_PRESETS;

/**
 * What commands and addresses may name in braces. A command gets the value in this variable: no value is ever part of
 * its text.
 */
export const PLACEHOLDERS = {
  identifier: 'GATEWAY_SIM_IDENTIFIER',
  trx: 'GATEWAY_SIM_TRX',
  amount: 'GATEWAY_SIM_AMOUNT',
  ipn_url: 'GATEWAY_SIM_IPN_URL',
  success_url: 'GATEWAY_SIM_SUCCESS_URL',
  order: 'GATEWAY_SIM_ORDER',
} as const;
export type Placeholder = keyof typeof PLACEHOLDERS;

/** For an answer: a timer that is much longer ends at once. */
export const MAX_TIMEOUT_MS = 3_600_000;
