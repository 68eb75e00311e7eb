/*
 * All closed sets of words, without a schema library, so that the command line loads them quickly. Code that handles a set
 * uses a `Record` of it, so an unhandled new value does not compile.
 */

/** The names in a table, in order. */
export function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table) as Name[];
}

/** Test mode or live mode, chosen by the path of initiate (documented: initiate-sandbox, initiate-live). */
export const MODES = ['sandbox', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** The collections of the state by their names in its file, in display order. */
export const COLLECTION_NAMES = [
  'merchants',
  'wallets',
  'payments',
  'messages',
  'deliveries',
  'attempts',
  'cards',
  'cardTransactions',
  'clock',
] as const;
export type CollectionName = (typeof COLLECTION_NAMES)[number];

/** All statuses of a payment; all but `pending` are final (chosen: checkout-again-page*). */
export const PAYMENT_STATUSES = ['pending', 'succeeded', 'canceled', 'failed', 'expired'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
type FinalStatus = Exclude<PaymentStatus, 'pending'>;

/** Who settled a payment (chosen), with display texts. */
export const SETTLERS = {
  customer: 'the customer',
  panel: 'the simulator panel',
  control: 'a command, the dashboard or the control API',
  auto: 'the emulator, automatically',
  clock: 'the clock, because it expired',
  audit: 'an audit that tests the shop',
} as const;
export type SettledBy = keyof typeof SETTLERS;
export const SETTLED_BY = namesOf(SETTLERS);

/** Events of a payment after initiate, with display texts. */
export const PAYMENT_EVENTS = {
  opened: 'Checkout opened',
  email_entered: 'E-mail entered',
  email_refused: 'E-mail rejected',
  code_sent: 'Code sent',
  code_refused: 'Code rejected',
  settled: 'Settled',
  redirected: 'Browser redirected',
} as const;

/** Every step of a timeline, with display texts. `ipn_due` is in the future: the next attempt of a delivery. */
export const TIMELINE_EVENTS = {
  initiated: 'Initiated',
  ...PAYMENT_EVENTS,
  ipn_attempted: 'IPN attempt',
  ipn_due: 'IPN due',
} as const;
export type TimelineEvent = keyof typeof TIMELINE_EVENTS;

/** All states of a delivery (chosen). `refused`: the egress guard blocked it. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'refused'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const DELIVERY_STEPS = ['planned', 'waiting', 'attempted'] as const;
export type DeliveryStep = (typeof DELIVERY_STEPS)[number];

/** Order of IPN and redirect (chosen; deployments use the first), with display texts. */
export const IPN_TIMINGS = {
  'ipn-then-redirect': 'IPN first, then redirect',
  'redirect-then-ipn': 'redirect first, then IPN',
  'ipn-only': 'IPN only, no redirect',
  'redirect-only': 'redirect only, no IPN',
  'ipn-twice': 'IPN twice, then redirect',
} as const;
export type DeliveryOrder = keyof typeof IPN_TIMINGS;
export const DELIVERY_ORDERS = namesOf(IPN_TIMINGS);

/** Format of the body of an IPN: `form` as deployments do (observed: ipn-form), `json` for receivers that expect it. */
export const IPN_FORMATS = ['form', 'json'] as const;
export type IpnFormat = (typeof IPN_FORMATS)[number];

const fixed = Array.from({ length: 9 }, (_, decimals) => `fixed:${decimals}` as const);
/** Formats of `data[amount]` in an IPN: as sent to initiate, with eight decimals like a database, or with 0 to 8. */
export const AMOUNT_FORMATS = ['sent', 'stored', ...fixed] as const;
export type AmountFormat = (typeof AMOUNT_FORMATS)[number];

/** The two themes of the checkout; the first is the default (documented: initiate-theme-*). */
export const CHECKOUT_THEMES = ['light', 'dark'] as const;
export const DEFAULT_THEME = CHECKOUT_THEMES[0];
export type CheckoutTheme = (typeof CHECKOUT_THEMES)[number];

/** Routes for fault rules besides paths: the service's routes by name (both modes), and outgoing IPNs. */
export const FAULT_ROUTES = ['initiate', 'checkout', 'cards', 'ipn'] as const;
export type FaultRoute = (typeof FAULT_ROUTES)[number];

/** The source of a behaviour: the service interface, published clients and deployments, or our choice. */
export const SOURCES = ['documented', 'observed', 'chosen'] as const;
export type Source = (typeof SOURCES)[number];

interface OutcomeMember {
  /** For the command line. */
  description: string;
  /** For buttons. */
  label: string;
  status: FinalStatus;
  /** The `status` field of its IPN: `success` is documented, the others are chosen. */
  ipnStatus: string;
  /** The redirect address; null for no redirect. */
  redirect: 'successUrl' | 'cancelUrl' | null;
}

/**
 * Every outcome. success_url and cancel_url: documented. A failed payment goes to cancel_url, the only address for
 * "not paid"; an expired one does not redirect (chosen).
 */
export const PAYMENT_OUTCOMES = {
  approve: {
    description: 'the customer pays',
    label: 'Approve',
    status: 'succeeded',
    ipnStatus: 'success',
    redirect: 'successUrl',
  },
  cancel: {
    description: 'the customer cancels',
    label: 'Cancel',
    status: 'canceled',
    ipnStatus: 'canceled',
    redirect: 'cancelUrl',
  },
  fail: {
    description: 'the payment fails',
    label: 'Fail',
    status: 'failed',
    ipnStatus: 'failed',
    redirect: 'cancelUrl',
  },
  expire: {
    description: 'the payment expires',
    label: 'Expire',
    status: 'expired',
    ipnStatus: 'expired',
    redirect: null,
  },
} as const satisfies Record<string, OutcomeMember>;
export type PaymentOutcome = keyof typeof PAYMENT_OUTCOMES;
export const OUTCOMES = namesOf(PAYMENT_OUTCOMES);

/** The final statuses that send an IPN only with `ipnOn` (chosen). */
export const SENT_ON_REQUEST = OUTCOMES.map((outcome) => PAYMENT_OUTCOMES[outcome].status).filter(
  (status) => status !== 'succeeded',
);
