/*
 * The words of an audit, and what only code can say of it (chosen). No schema: commands load this for free. The shape
 * of what goes in and out as JSON is in audit-report.ts.
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

/** How many cases came to what. */
export function auditSummary(cases: readonly { verdict: AuditVerdict }[]): Record<AuditVerdict, number> {
  const summary = { pass: 0, fail: 0, 'at-risk': 0, note: 0, unproven: 0, skipped: 0 };
  for (const { verdict } of cases) summary[verdict]++;
  return summary;
}

/** What is needed of a case to say what an audit came to. */
interface Judged {
  name: string;
  verdict: AuditVerdict;
  mistake: string | null;
  cost: string | null;
  fix: string | null;
  unpaid: { amount: string; currency: string } | null;
}

/** A mistake of the shop, by all that it led to. */
export interface Mistake {
  name: string;
  cost: string;
  fix: string;
  cases: string[];
}

/** The mistakes behind the cases that did not go well, that with most cases first. */
export function auditMistakes(cases: readonly Judged[]): Mistake[] {
  const found = new Map<string, Mistake>();
  for (const { name, verdict, mistake, cost, fix } of cases) {
    if (!isTold(verdict) || mistake === null) continue;
    const known = found.get(mistake);
    if (known) known.cases.push(name);
    else found.set(mistake, { name: mistake, cost: cost ?? '', fix: fix ?? '', cases: [name] });
  }
  return [...found.values()].toSorted((one, other) => other.cases.length - one.cases.length);
}

export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** What an audit came to, in a sentence: in money where goods went out unpaid. */
export function auditHeadline(cases: readonly Judged[]): string {
  const attacks = cases.filter(({ name }) => name !== 'control');
  const control = cases.find(({ name }) => name === 'control');
  const worked = attacks.filter(({ verdict }) => isTold(verdict));
  const summary = auditSummary(attacks);
  if (!worked.length) {
    if (control?.verdict === 'fail') return 'Nothing is proven: the shop does not accept a correct IPN.';
    if (!attacks.length) return 'The shop accepts a correct IPN. No attack was tried.';
    const { pass, note, unproven, skipped } = summary;
    const rest = Object.entries({ passed: pass, noted: note, unproven, skipped })
      .flatMap(([what, count]) => (count ? [`${count} ${what}`] : []))
      .join(', ');
    return `No attack worked: ${rest}.`;
  }
  const mistakes = counted(auditMistakes(attacks).length, 'mistake');
  const unpaid = worked.filter((one) => one.unpaid !== null);
  if (!unpaid.length)
    return `Not safe: ${worked.length} of ${counted(attacks.length, 'attack')} worked, from ${mistakes}.`;
  const ways = counted(new Set(unpaid.map(({ mistake }) => mistake)).size, 'way');
  const sums = unpaidSums(unpaid.flatMap((one) => one.unpaid ?? [])).join(' and ');
  return `Not safe: ${sums} of goods went out unpaid in ${ways} (${worked.length} of ${counted(attacks.length, 'attack')}, ${mistakes}).`;
}

/** Sums of decimal texts by currency, as `149.70 USD`. */
function unpaidSums(all: readonly { amount: string; currency: string }[]): string[] {
  const decimals = Math.max(...all.map(({ amount }) => (amount.split('.')[1] ?? '').length));
  const sums = new Map<string, bigint>();
  for (const { amount, currency } of all) {
    const [whole = '0', fraction = ''] = amount.split('.');
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(whole + fraction.padEnd(decimals, '0')));
  }
  return [...sums].map(([currency, sum]) => {
    const digits = String(sum).padStart(decimals + 1, '0');
    const cut = digits.length - decimals;
    return `${digits.slice(0, cut)}${decimals ? '.' : ''}${digits.slice(cut)} ${currency}`;
  });
}
