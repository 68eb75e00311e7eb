/*
 * Every closed set of words, once, without any schema library: the command line loads it for free. A value that is
 * added here and handled nowhere does not compile, since what handles a set has a `Record` of it.
 */

/** The names in a table, in its order. */
export function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table) as Name[];
}

/** Test mode or live mode, chosen by the path of initiate (documented: initiate-sandbox, initiate-live). */
export const MODES = ['sandbox', 'live'] as const;
export type Mode = (typeof MODES)[number];

/** All statuses of a payment; every one but `pending` is final (chosen: checkout-again-page*). */
export const PAYMENT_STATUSES = ['pending', 'succeeded', 'canceled', 'failed', 'expired'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export type FinalStatus = Exclude<PaymentStatus, 'pending'>;

/** Who settled a payment (chosen), for people. */
export const SETTLERS = {
  customer: 'the customer',
  panel: 'the simulator panel',
  control: 'a command, the dashboard or the control API',
  auto: 'the emulator, automatically',
  clock: 'the clock, because its time was up',
  audit: 'an audit, which made it to test the shop',
} as const;
export type SettledBy = keyof typeof SETTLERS;
export const SETTLED_BY = namesOf(SETTLERS);

/** What can happen to a payment between initiate and its end, for people. */
export const PAYMENT_EVENTS = {
  opened: 'Checkout opened',
  email_entered: 'E-mail entered',
  email_refused: 'E-mail refused',
  code_sent: 'Code sent',
  code_refused: 'Code refused',
  settled: 'Settled',
  redirected: 'Browser redirected',
} as const;

/** Every step of a timeline, for people. `ipn_due` is still to come: the next attempt of a delivery. */
export const TIMELINE_EVENTS = {
  initiated: 'Initiated',
  ...PAYMENT_EVENTS,
  ipn_attempted: 'IPN attempt',
  ipn_due: 'IPN due',
} as const;
export type TimelineEvent = keyof typeof TIMELINE_EVENTS;

/** All states of a delivery (chosen). `refused`: the egress guard did not let it out. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'refused'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What can happen to a delivery. */
export const DELIVERY_STEPS = ['planned', 'waiting', 'attempted'] as const;
export type DeliveryStep = (typeof DELIVERY_STEPS)[number];

/** Order of the IPN against the redirect (chosen; the first is what deployments do), for people. */
export const IPN_TIMINGS = {
  'ipn-then-redirect': 'IPN first, then redirect',
  'redirect-then-ipn': 'redirect first, then IPN',
  'ipn-only': 'IPN only, no redirect',
  'redirect-only': 'redirect only, no IPN',
  'ipn-twice': 'IPN twice, then redirect',
} as const;
export type DeliveryOrder = keyof typeof IPN_TIMINGS;
export const DELIVERY_ORDERS = namesOf(IPN_TIMINGS);

/** How the body of an IPN is written: `form` as deployments do (observed: ipn-form), `json` for receivers that expect it. */
export const IPN_FORMATS = ['form', 'json'] as const;
export type IpnFormat = (typeof IPN_FORMATS)[number];

/** All statuses of a card. `canceled` is documented and final; the names of the others are chosen. */
export const CARD_STATUSES = ['active', 'inactive', 'canceled'] as const;
export type CardStatus = (typeof CARD_STATUSES)[number];

/** What a merchant can do to a card (documented: card-block, card-activate, card-cancel*). */
export const CARD_ACTIONS = ['activate', 'block', 'cancel'] as const;
export type CardAction = (typeof CARD_ACTIONS)[number];

/** The status that each action leads to; null where it is refused. `canceled`: documented; the rest: chosen. */
export const CARD_TRANSITIONS = {
  active: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  inactive: { activate: 'active', block: 'inactive', cancel: 'canceled' },
  canceled: { activate: null, block: null, cancel: null },
} as const satisfies Record<CardStatus, Record<CardAction, CardStatus | null>>;

/** What the simulator can do to the money on a card (chosen). */
export const CARD_MOVEMENTS = ['charge', 'fund'] as const;
export type CardMovementKind = (typeof CARD_MOVEMENTS)[number];

/** The two looks of the checkout (documented: initiate-theme-*). */
export const CHECKOUT_THEMES = ['light', 'dark'] as const;
export type CheckoutTheme = (typeof CHECKOUT_THEMES)[number];

/** What a fault rule can be set on beside a path: the service's routes by name (both modes), and the outgoing IPNs. */
export const FAULT_ROUTES = ['initiate', 'checkout', 'cards', 'ipn'] as const;
export type FaultRoute = (typeof FAULT_ROUTES)[number];

/** Where a behaviour comes from: the service interface, published clients and deployments, or us. */
export const SOURCES = ['documented', 'observed', 'chosen'] as const;
export type Source = (typeof SOURCES)[number];
