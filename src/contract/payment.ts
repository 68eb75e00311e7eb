import * as z from 'zod/mini';
import { AMOUNT_PATTERN } from './amount.ts';
import { PROBLEM_WORDS } from './checkout.ts';
import { Attempt, Delivery, IDENTIFIER } from './delivery.ts';
import {
  count,
  dueTime,
  field,
  LINK,
  momentText,
  money,
  nullableText,
  omit,
  optional,
  page,
  query,
  record,
  request,
  TIME,
  text,
  texts,
  time,
  yesOrNo,
} from './field.ts';
import { optionalText, optionalTexts, PAGING, switchText } from './input.ts';
import {
  INITIATE_FIELDS,
  PAYMENT_FILTERS,
  SETTLE_FIELDS,
  sentenceOf,
  sentencesOf,
} from './request-fields.ts';
import { Verdict } from './verdict.ts';
import {
  CHECKOUT_THEMES,
  DELIVERY_ORDERS,
  MODES,
  namesOf,
  OUTCOMES,
  PAYMENT_EVENTS,
  PAYMENT_STATUSES,
  SETTLED_BY,
  TIMELINE_EVENTS,
} from './vocabulary.ts';

const problem = z.enum(namesOf(PROBLEM_WORDS));

export const PaymentEvent = record('PaymentEvent', 'Something that happened to a payment.', {
  at: time('Time of the event.'),
  event: field(z.enum(namesOf(PAYMENT_EVENTS)), 'The event.'),
  value: field(
    nullableText,
    'What the customer entered, the address of a code, the status, or the redirect address; null if none.',
  ),
  problem: field(z.optional(problem), 'Why the input was rejected.'),
  requestId: field(z.optional(text), 'The emulator run and the id of the request that caused it.'),
});
export type PaymentEvent = z.output<typeof PaymentEvent>;

const cause = {
  value: field(nullableText, 'What the customer entered, the status or an address; null if none.'),
  problem: field(z.nullable(problem), 'Why the input was rejected; null if it was not.'),
  requestId: field(
    z.nullable(count),
    'The recorded request that caused it; null if none, or if the emulator has restarted since.',
  ),
};

export const PaymentStep = record('PaymentStep', 'A step in the timeline of a payment.', {
  at: time('Time of the event.'),
  event: field(z.enum(['initiated', ...namesOf(PAYMENT_EVENTS)]), 'The event.'),
  detail: field(nullableText, 'Details; null if none.'),
  ...cause,
});
export type PaymentStep = z.output<typeof PaymentStep>;

/** Decided at initiate and stored with the payment, so that a restart does not change it. */
export const AutoSettling = record('AutoSettling', 'How and when a payment settles automatically.', {
  outcome: field(z.enum(OUTCOMES), 'The outcome.'),
  at: field(dueTime, 'Time of settlement.', TIME),
  delivery: field(
    z.nullable(z.enum(DELIVERY_ORDERS)),
    "Order of IPN and redirect; null for the emulator's default.",
  ),
});
export type AutoSettling = z.output<typeof AutoSettling>;

const { publicKey: _, ...sent } = INITIATE_FIELDS;

/** The fields that the merchant sent. */
const requested = {
  ...texts(sent),
  identifier: IDENTIFIER,
  amount: field(
    text.check(z.regex(AMOUNT_PATTERN)),
    'Decimal text exactly as sent to initiate: the signature of the IPN depends on every character.',
  ),
  siteLogo: field(nullableText, 'Address of the logo; null if omitted with --loose.'),
  checkoutTheme: field(z.enum(CHECKOUT_THEMES), sentenceOf(INITIATE_FIELDS.checkoutTheme)),
};

const fields = {
  id: field(text, 'Its id: `payment_id` of its checkout URL.'),
  trx: field(text, '`data[payment_trx]` of its IPN: 12 upper-case letters and digits.'),
  mode: field(z.enum(MODES), 'Chosen by the path of initiate.'),
  status: field(z.enum(PAYMENT_STATUSES), 'All but `pending` are final.'),
  merchantId: field(text, 'The merchant whose public key initiated it.'),
  ...requested,
  charge: field(money, "The merchant's charge, as decimal text."),
  createdAt: time('Time of initiation.'),
  expiresAt: field(z.nullable(dueTime), 'Time at which it expires unless settled; null if never.', TIME),
  auto: field(z.nullable(AutoSettling), 'How and when it settles automatically; null if it does not.'),
  settledAt: field(z.nullable(momentText), 'Time of settlement; null while pending.', TIME),
  settledBy: field(z.nullable(z.enum(SETTLED_BY)), 'Who settled it; null while pending.'),
  payerEmail: field(nullableText, 'The e-mail that the customer entered at checkout.'),
  walletId: field(nullableText, 'The wallet that paid (live mode only).'),
  messageId: field(nullableText, 'The newest verification code sent for it (live mode only).'),
  wrongCodes: field(
    z.optional(count),
    'Number of wrong entries since the newest verification code; absent if none.',
  ),
  warnings: field(z.array(text), "Probable mistakes in the merchant's code that are not errors."),
  requestId: field(z.optional(text), 'The emulator run and the id of the request that initiated it.'),
  history: field(z.array(PaymentEvent), 'Its events since initiation.'),
};

export const StoredPayment = record('StoredPayment', 'A payment as stored.', fields);
export type StoredPayment = z.output<typeof StoredPayment>;
/** The fields that a merchant sends to initiate a payment. */
export type PaymentRequest = Pick<StoredPayment, keyof typeof requested>;

export const MappedAddresses = record(
  'MappedAddresses',
  'Addresses of a payment that --forward-ipn replaces.',
  {
    ipnUrl: field(nullableText, 'Replaces `ipnUrl`; null if not mapped.'),
    successUrl: field(nullableText, 'Replaces `successUrl`; null if not mapped.'),
    cancelUrl: field(nullableText, 'Replaces `cancelUrl`; null if not mapped.'),
    siteLogo: field(nullableText, 'Replaces `siteLogo`; null if not mapped.'),
  },
);
export type MappedAddresses = z.output<typeof MappedAddresses>;

const shown = {
  ...omit(fields, 'messageId', 'wrongCodes', 'requestId', 'history'),
  checkoutUrl: field(text, 'Address of its checkout.', LINK),
  mappedTo: field(
    z.nullable(MappedAddresses),
    'Addresses that --forward-ipn replaces; null if none is mapped.',
  ),
  verdict: field(Verdict, 'The verdict on the payment and its newest IPNs: the worst one.'),
  shop: field(text, 'What the shop did with its IPNs, in a few words, such as `rejected (400)`.'),
};

export const Payment = record('Payment', 'A payment.', shown);
export type Payment = z.output<typeof Payment>;

export const PaymentList = page('PaymentList', Payment, 'payments');

export const TimelineEntry = record('TimelineEntry', 'One step in the timeline of a payment.', {
  at: time('Time of the event.'),
  event: field(
    z.enum(namesOf(TIMELINE_EVENTS)),
    'The event. `ipn_due` is in the future: the next attempt of a delivery.',
  ),
  detail: field(nullableText, 'Details; null if none.'),
  ...cause,
  warnings: field(z.array(text), "On `initiated` only: probable mistakes in the merchant's code."),
  deliveryId: field(nullableText, 'Its delivery; null if none.'),
  attempt: field(z.nullable(Attempt), 'The request and response of the attempt, on `ipn_attempted` only.'),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

export const PaymentWithTimeline = record('PaymentWithTimeline', 'A payment with its timeline.', {
  ...shown,
  timeline: field(z.array(TimelineEntry), 'Everything that happened to it, in order.'),
});
export type PaymentWithTimeline = z.output<typeof PaymentWithTimeline>;

const MAGIC = OUTCOMES.map((outcome) => `\`${outcome}@gateway-sim.test\``);

export const InitiateFields = query(
  'InitiateFields',
  'What a merchant sends to initiate. Every field has a working default.',
  {
    ...optionalTexts(INITIATE_FIELDS),
    checkoutTheme: optional(requested.checkoutTheme),
    customerEmail: optionalText(
      `${sentencesOf(INITIATE_FIELDS.customerEmail)} ${MAGIC.join(', ')} settle the payment automatically.`,
    ),
    mode: field(z.optional(z.enum(MODES)), 'Default: `sandbox`.'),
  },
);
export type InitiateFields = z.input<typeof InitiateFields>;

export const PaymentQuery = query('PaymentFilter', 'Filters payments. All filters must match.', {
  status: field(z.optional(z.enum(PAYMENT_STATUSES)), sentenceOf(PAYMENT_FILTERS.status)),
  identifier: optionalText(sentenceOf(PAYMENT_FILTERS.identifier)),
  mode: field(z.optional(z.enum(MODES)), sentenceOf(PAYMENT_FILTERS.mode)),
  audits: field(z.optional(switchText), 'false leaves out the payments that audits made.'),
  ...PAGING,
});
export type PaymentFilter = z.input<typeof PaymentQuery>;

export const Visit = record('Visit', "A visit of a redirect address, in place of the customer's browser.", {
  status: field(z.nullable(count), 'Status of the response; null if there was none.'),
  location: field(nullableText, 'Where the response redirects to, which is not followed; null if nowhere.'),
  body: field(nullableText, 'The first 64 KiB of the response; null if there was none.'),
  error: field(nullableText, 'Why there was no response; null if there was one.'),
});
export type Visit = z.output<typeof Visit>;

export const SettleInput = request(
  'SettleInput',
  'How to settle a payment.',
  {
    outcome: field(z.enum(OUTCOMES), 'The outcome.'),
    delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), sentencesOf(SETTLE_FIELDS.delivery)),
    awaitDelivery: field(
      z.optional(yesOrNo),
      'Respond only after the first attempt, even if the receiver is slow.',
    ),
    visit: field(z.optional(yesOrNo), `${sentenceOf(SETTLE_FIELDS.visit)} It may go where IPNs may go.`),
    by: field(
      z.optional(z.enum(['control', 'audit'])),
      'Who settles it: `audit` marks a payment that tests the shop. Default: `control`.',
    ),
  },
  { outcome: 'approve' },
);
export type SettleInput = z.input<typeof SettleInput>;

export const Settled = record('Settled', 'The result of settling a payment.', {
  payment: field(Payment, 'The payment as it is now.'),
  delivery: field(z.nullable(Delivery), 'The last delivery; null if none.'),
  redirectUrl: field(
    nullableText,
    'Redirect address, byte for byte as sent to initiate unless mapped; null if there is no redirect.',
  ),
  visit: field(
    z.optional(z.nullable(Visit)),
    'The visit of the redirect address; null if there is no redirect. Absent unless `visit` was requested.',
  ),
  verdict: field(Verdict, 'The verdict on the payment and its IPNs.'),
});
export type Settled = z.output<typeof Settled>;
