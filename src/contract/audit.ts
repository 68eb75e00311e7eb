/*
 * The words of an audit and the shape of its report (chosen). No schema: commands load this for free.
 */

/** What a case came to. */
export const AUDIT_VERDICTS = {
  pass: 'the shop held',
  fail: 'the shop can be harmed',
  exposed: 'a flaw of the interface itself reaches this shop, which can defend itself',
  unproven: 'nothing shows what the shop did: a status code alone proves little',
  skipped: 'not tried',
} as const;
export type AuditVerdict = keyof typeof AUDIT_VERDICTS;

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

/** What a case is, before it is run. */
export interface AuditCaseInfo {
  /** Stable, in kebab-case. */
  name: string;
  group: AuditGroup;
  class: AuditClass;
  /** What it stands for, in a sentence. */
  about: string;
}

/** What a case came to. */
export interface AuditedCase extends AuditCaseInfo {
  verdict: AuditVerdict;
  /** What was sent; null for what was not. */
  sent: string | null;
  /** What the shop did; null where nothing was sent. */
  observed: string | null;
  /** Why the verdict is what it is; of a `fail`, what it means in money. */
  why: string;
  /** How to mend it, with the lines for PHP, Node and Python; null where there is nothing to mend. */
  mend: string | null;
  /** A command that sends the same again; null where one request does not show it. */
  curl: string | null;
}

export interface AuditReport {
  /** In the order of the list of cases. */
  cases: AuditedCase[];
  summary: Record<AuditVerdict, number>;
  /** How many orders it left in the shop. */
  orders: number;
  /** What the user should know about the run: a probe that changes by itself, two orders from one command. */
  notices: string[];
}

/** How a shop is audited. */
export interface AuditOptions {
  /** The IPN handler of the shop, as somebody knows it who has seen no order. */
  ipnUrl: string;
  /** Fills in how orders are placed and looked at, where that is not given. */
  preset?: AuditPreset | undefined;
  /** Makes the shop place an order: a command, an address that is posted to, or a function. Default: orders are invented. */
  orderCmd?: string | undefined;
  orderUrl?: string | undefined;
  order?: (() => unknown) | undefined;
  /** How `orderUrl` is requested; default: POST. */
  orderMethod?: 'GET' | 'POST' | undefined;
  /** Somebody places the orders by hand. */
  orderWait?: boolean | undefined;
  /** Maximum number of orders; default: 150, with `orderWait` 3. */
  orders?: number | undefined;
  /** Tells about an order: a command, an address, or a function. `{identifier}` stands for the order's identifier. */
  probeCmd?: string | undefined;
  probeUrl?: string | undefined;
  probe?: ((identifier: string) => unknown) | undefined;
  /** When the order counts as paid: `.path=value` on JSON, or a regular expression. */
  paidWhen?: string | undefined;
  /** Further probes by name, which must not change when nothing may happen: commands or addresses. */
  probes?: Readonly<Record<string, string | ((identifier: string) => unknown)>> | undefined;
  /** Where the probe says what the order costs, such as `.total`. */
  orderAmount?: string | undefined;
  /** Only cases, groups or classes of these names. */
  only?: readonly string[] | undefined;
  /** No cases, groups or classes of these names. */
  skip?: readonly string[] | undefined;
  /** Public hosts that may be sent to. */
  allowIpnHosts?: readonly string[] | undefined;
  /** For an answer, an order and a look, in milliseconds; default: 10,000 for an answer, 15,000 to initiate, and more for commands. */
  timeoutMs?: number | undefined;
  /** Is called for every case as soon as it is done. */
  onCase?: ((audited: AuditedCase, done: number, of: number) => void) | undefined;
  /** Is called with what the user should know or do now. */
  onNotice?: ((text: string) => void) | undefined;
}
