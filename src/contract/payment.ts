import * as z from 'zod/mini';
import { AMOUNT_PATTERN } from './amount.ts';
import { PROBLEM_WORDS } from './checkout.ts';
import { PAYMENT_DEFAULTS } from './defaults.ts';
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
  time,
  yesOrNo,
} from './field.ts';
import { optionalText, PAGING } from './input.ts';
import { OUTCOMES } from './outcomes.ts';
import { Verdict } from './verdict.ts';
import {
  CHECKOUT_THEMES,
  DELIVERY_ORDERS,
  MODES,
  namesOf,
  PAYMENT_EVENTS,
  PAYMENT_STATUSES,
  SETTLED_BY,
  TIMELINE_EVENTS,
} from './vocabulary.ts';

const problem = z.enum(namesOf(PROBLEM_WORDS));

export const PaymentEvent = record('PaymentEvent', 'Something that happened to a payment.', {
  at: time('When.'),
  event: field(z.enum(namesOf(PAYMENT_EVENTS)), 'What.'),
  value: field(
    nullableText,
    'What was entered, where a code was sent, the status, or where the browser went; null where there is none.',
  ),
  problem: field(z.optional(problem), 'Why what was entered was refused.'),
  requestId: field(z.optional(text), 'The run of the emulator and the id of the request that caused it.'),
});
export type PaymentEvent = z.output<typeof PaymentEvent>;

const cause = {
  value: field(nullableText, 'What was entered, the status, an address; null where there is none.'),
  problem: field(z.nullable(problem), 'Why what was entered was refused; null where it was not.'),
  requestId: field(
    z.nullable(count),
    'The recorded request that caused it; null for none, and for one before the last start.',
  ),
};

export const PaymentStep = record('PaymentStep', 'A step in the story of a payment.', {
  at: time('When.'),
  event: field(z.enum(['initiated', ...namesOf(PAYMENT_EVENTS)]), 'What.'),
  detail: field(nullableText, 'More about it, in words.'),
  ...cause,
});
export type PaymentStep = z.output<typeof PaymentStep>;

/** Decided when a payment is initiated and stored with it, so that a restart changes nothing about it. */
export const AutoSettling = record('AutoSettling', 'How and when a payment settles itself.', {
  outcome: field(z.enum(OUTCOMES), 'What becomes of it then.'),
  at: field(dueTime, 'When.', TIME),
  delivery: field(
    z.nullable(z.enum(DELIVERY_ORDERS)),
    'Order of IPN and redirect; null for the one that the emulator was started with.',
  ),
});
export type AutoSettling = z.output<typeof AutoSettling>;

/** What the merchant gave. */
const asked = {
  identifier: IDENTIFIER,
  currency: field(text, 'Currency code.'),
  amount: field(
    text.check(z.regex(AMOUNT_PATTERN)),
    'Decimal text exactly as it was sent to initiate: the signature of the IPN depends on every character.',
  ),
  details: field(text, 'What it is for.'),
  ipnUrl: field(text, 'Where its IPN goes.'),
  successUrl: field(text, 'Where the browser goes on success, byte for byte as given.'),
  cancelUrl: field(text, 'Where the browser goes on cancellation, byte for byte as given.'),
  siteLogo: field(nullableText, 'Address of the logo; null when --loose let it be missing.'),
  checkoutTheme: field(z.enum(CHECKOUT_THEMES), 'How its checkout looks.'),
  customerName: field(text, "The customer's name."),
  customerEmail: field(text, "The customer's e-mail, as the merchant gave it."),
};

const fields = {
  id: field(text, 'Its id: `payment_id` of its checkout URL.'),
  trx: field(text, '`data[payment_trx]` of its IPN: 12 upper-case letters and digits.'),
  mode: field(z.enum(MODES), 'Chosen by the path of initiate (documented: initiate-sandbox, initiate-live).'),
  status: field(z.enum(PAYMENT_STATUSES), 'Every one but `pending` is final (chosen: checkout-again-page*).'),
  merchantId: field(text, 'The merchant whose public key initiated it.'),
  ...asked,
  charge: field(money, 'What the merchant pays for it, as decimal text.'),
  createdAt: time('When it was initiated.'),
  expiresAt: field(z.nullable(dueTime), 'When it expires unless it is settled before; null: never.', TIME),
  auto: field(
    z._default(z.nullable(AutoSettling), null),
    'How and when it settles itself; null when it waits for somebody.',
  ),
  settledAt: field(z.nullable(momentText), 'When it was settled; null while it is pending.', TIME),
  settledBy: field(z.nullable(z.enum(SETTLED_BY)), 'Who settled it; null while it is pending.'),
  payerEmail: field(nullableText, 'The e-mail that the customer entered on the checkout.'),
  walletId: field(nullableText, 'The wallet that paid (live mode only).'),
  messageId: field(nullableText, 'The newest verification code sent for it (live mode only).'),
  wrongCodes: field(
    z.optional(count),
    'How often the newest verification code was entered wrong; absent while it was not.',
  ),
  warnings: field(z.array(text), "What is allowed but probably a mistake in the merchant's code."),
  requestId: field(z.optional(text), 'The run of the emulator and the id of the request that initiated it.'),
  history: field(z.array(PaymentEvent), 'What happened to it after its initiation.'),
};

export const StoredPayment = record('StoredPayment', 'A payment as it is stored.', fields);
export type StoredPayment = z.output<typeof StoredPayment>;
/** What a merchant asks for by initiating a payment. */
export type AskedPayment = Pick<StoredPayment, keyof typeof asked>;

export const MappedAddresses = record(
  'MappedAddresses',
  'Addresses of a payment that --map sends elsewhere.',
  {
    ipnUrl: field(nullableText, 'Where its IPN goes; null for `ipnUrl` itself.'),
    successUrl: field(nullableText, 'Where the browser goes on success; null for `successUrl` itself.'),
    cancelUrl: field(nullableText, 'Where the browser goes on cancellation; null for `cancelUrl` itself.'),
    siteLogo: field(nullableText, 'Where the logo is read; null for `siteLogo` itself.'),
  },
);
export type MappedAddresses = z.output<typeof MappedAddresses>;

const shown = {
  ...omit(fields, 'messageId', 'wrongCodes', 'requestId', 'history'),
  checkoutUrl: field(text, 'Its checkout.', LINK),
  mappedTo: field(
    z.nullable(MappedAddresses),
    'Where its addresses lead instead, with --map; null when none of them is mapped.',
  ),
  verdict: field(Verdict, 'What became of it and of its IPNs: the worst that is known of the newest.'),
};

export const Payment = record('Payment', 'A payment.', shown);
export type Payment = z.output<typeof Payment>;

export const PaymentList = page('PaymentList', Payment, 'payments');

export const TimelineEntry = record('TimelineEntry', 'One step in the story of a payment.', {
  at: time('When.'),
  event: field(
    z.enum(namesOf(TIMELINE_EVENTS)),
    '`ipn_due` is still to come: the next attempt of a delivery.',
  ),
  detail: field(nullableText, 'More about it, in words.'),
  ...cause,
  warnings: field(z.array(text), "On `initiated` only: what is probably a mistake in the merchant's code."),
  deliveryId: field(nullableText, 'The delivery that it belongs to.'),
  attempt: field(z.nullable(Attempt), 'Both sides of the attempt, on `ipn_attempted` only.'),
});
export type TimelineEntry = z.output<typeof TimelineEntry>;

export const PaymentWithTimeline = record('PaymentWithTimeline', 'A payment with its whole story.', {
  ...shown,
  timeline: field(z.array(TimelineEntry), 'Everything that happened to it, in order.'),
});
export type PaymentWithTimeline = z.output<typeof PaymentWithTimeline>;

export const InitiateFields = query(
  'InitiateFields',
  'What a merchant sends to initiate. Default of each field: something that works.',
  {
    identifier: optionalText(
      'At most 20 characters (documented: field-identifier-too-long). Default: made up.',
    ),
    amount: optionalText(`Default: \`${PAYMENT_DEFAULTS.amount}\`.`),
    currency: optionalText(`Default: \`${PAYMENT_DEFAULTS.currency}\`.`),
    details: optionalText('What it is for.'),
    ipnUrl: optionalText(`Default: \`${PAYMENT_DEFAULTS.ipnUrl}\`.`),
    successUrl: optionalText('Default: a thank-you page of the emulator.'),
    cancelUrl: optionalText('Default: a page of the emulator.'),
    siteLogo: optionalText('Default: one of the emulator.'),
    checkoutTheme: optional(asked.checkoutTheme),
    customerName: optionalText(`Default: \`${PAYMENT_DEFAULTS.customerName}\`.`),
    customerEmail: optionalText(
      '`approve@gateway-sim.test`, `cancel@…`, `fail@…` and `expire@…` settle the payment by themselves.',
    ),
    publicKey: optionalText('Default: that of the first merchant.'),
    mode: field(z.optional(z.enum(MODES)), 'Default: `sandbox`.'),
  },
);
export type InitiateFields = z.input<typeof InitiateFields>;

export const PaymentQuery = query('PaymentFilter', 'Which payments; all that is given must match.', {
  status: field(z.optional(z.enum(PAYMENT_STATUSES)), 'Only those of this status.'),
  identifier: optionalText('Only those with this identifier.'),
  mode: field(z.optional(z.enum(MODES)), 'Only those of this mode.'),
  ...PAGING,
});
export type PaymentFilter = z.input<typeof PaymentQuery>;

export const SettleInput = request(
  'SettleInput',
  'How to settle a payment.',
  {
    outcome: field(z.enum(OUTCOMES), 'What becomes of it.'),
    delivery: field(
      z.optional(z.enum(DELIVERY_ORDERS)),
      'Order of IPN and redirect; default: the one that the emulator was started with.',
    ),
    awaitDelivery: field(
      z.optional(yesOrNo),
      'Answer after the first attempt, whatever the order and however long its receiver takes.',
    ),
    by: field(
      z.optional(z.enum(['control', 'audit'])),
      'Who settles it: `audit` marks a payment that was made to test the shop. Default: `control`.',
    ),
  },
  { outcome: 'approve' },
);
export type SettleInput = z.input<typeof SettleInput>;

export const Settled = record('Settled', 'What settling a payment led to.', {
  payment: field(Payment, 'The payment as it is now.'),
  delivery: field(z.nullable(Delivery), 'The last delivery that was made, as it is now; null when none was.'),
  redirectUrl: field(
    nullableText,
    'Where the browser goes, byte for byte as given to initiate but for a host that is mapped; null where it stays.',
  ),
  verdict: field(Verdict, 'What became of the payment and of its IPNs.'),
});
export type Settled = z.output<typeof Settled>;
