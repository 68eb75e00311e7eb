import * as z from 'zod/mini';
import { GatewayError } from './error.ts';
import { AttemptFailure } from './failure.ts';
import { FaultRule } from './fault.ts';
import {
  ADDRESS,
  count,
  dueTime,
  field,
  nullableText,
  omit,
  page,
  query,
  record,
  request,
  TIME,
  text,
  time,
  wholeListFields,
  yesOrNo,
} from './field.ts';
import { optionalDuration, optionalNumber, optionalText, PAGING } from './input.ts';
import { TAMPERING_PATTERN, TAMPERINGS } from './tampering.ts';
import { Verdict } from './verdict.ts';
import { DELIVERY_STATES, IPN_FORMATS } from './vocabulary.ts';

/** Said of every record that repeats it. */
export const IDENTIFIER = field(
  text,
  "The merchant's own name for the payment. Not unique: every initiate makes a new payment.",
);

const headers = z.array(z.tuple([text, text]));

const attemptFields = {
  id: field(text, 'Its id.'),
  deliveryId: field(text, 'Its delivery.'),
  number: field(count, 'Counts from 1.'),
  startedAt: time('When it began.'),
  durationMs: field(z.number(), 'Real time from connecting to the end of the response, in milliseconds.'),
  url: field(text, 'Where it went.'),
  requestHeaders: field(headers, 'Names and values as they were sent.'),
  requestBody: field(text, 'The bytes as they were sent.'),
  responseStatus: field(z.nullable(count), 'Status of the response; null when there was none.'),
  responseHeaders: field(headers, 'Names and values of the response.'),
  responseBody: field(
    nullableText,
    'The first 64 KiB of the response (1 KiB once the emulator has kept 64 MiB of them); null when there was none.',
  ),
  failure: field(
    z.nullable(AttemptFailure),
    'Why it does not count as received; null when the receiver answered 2xx in time.',
  ),
  fault: field(
    z._default(z.nullable(FaultRule), null),
    'The fault rule that acted on it; null where none did.',
  ),
};

export const StoredAttempt = record('StoredAttempt', 'An attempt as it is stored.', attemptFields);
export type StoredAttempt = z.output<typeof StoredAttempt>;

export const Attempt = record(
  'Attempt',
  'One try to bring an IPN to its receiver, both sides as they were on the wire.',
  {
    ...omit(attemptFields, 'deliveryId'),
    error: field(nullableText, 'The failure in words; null when there is none.'),
  },
);
export type Attempt = z.output<typeof Attempt>;

export const AttemptUnderWay = record('AttemptUnderWay', 'An attempt that waits for its answer.', {
  number: field(count, 'Counts from 1.'),
  startedAt: time('When it began.'),
  timeoutMs: field(count, 'How long it waits at most, in milliseconds of real time.'),
});
export type AttemptUnderWay = z.output<typeof AttemptUnderWay>;

const Tampered = record('Tampered', 'What was forged in an IPN after signing.', {
  what: field(z.enum(TAMPERINGS), 'What.'),
  was: field(nullableText, 'What was signed; null where a value tells nothing.'),
  is: field(nullableText, 'What is sent instead; null where a value tells nothing.'),
});

const deliveryFields = {
  id: field(text, 'Its id: the header X-Gateway-Sim-Delivery of every attempt.'),
  paymentId: field(nullableText, 'Null for one that was fired by hand without a payment.'),
  merchantId: field(text, 'The merchant whose secret key signed it.'),
  identifier: IDENTIFIER,
  url: field(text, 'Where it goes.'),
  status: field(text, 'The `status` that it carries.'),
  state: field(
    z.enum(DELIVERY_STATES),
    '`refused`: the egress guard did not allow its address, and `note` names the option that would.',
  ),
  contentType: field(text, 'Media type of the body.'),
  body: field(text, 'The bytes that every attempt sends.'),
  signedText: field(
    text,
    'The text under the signature: `data.amount` and `identifier`, without anything between (documented: signature-identifier-digits).',
  ),
  signedWith: field(
    text,
    'The public key of the pair that signed; empty for one that was tampered with, which is never signed anew.',
  ),
  once: field(z._default(yesOrNo, false), 'Made by hand: attempted once, not by the schedule.'),
  attemptCount: field(count, 'How many attempts there were.'),
  createdAt: time('When it was made.'),
  nextAttemptAt: field(z.nullable(dueTime), 'When it is tried next; null when it is not.', TIME),
  tampered: field(z._default(z.array(Tampered), []), 'What was forged in it after signing.'),
  signedAnew: field(
    z._default(yesOrNo, false),
    'Whether a resend had to sign it with another key, because the pair was replaced.',
  ),
  postponedBy: field(
    z._default(z.nullable(FaultRule), null),
    'The fault rule that put its next attempt off; null where none did.',
  ),
};

export const StoredDelivery = record(
  'StoredDelivery',
  'An IPN as it is stored; its attempts are records of their own.',
  deliveryFields,
);
export type StoredDelivery = z.output<typeof StoredDelivery>;

export const Delivery = record('Delivery', 'An IPN on its way to a receiver, with every attempt.', {
  ...omit(deliveryFields, 'signedWith', 'attemptCount'),
  attempts: field(z.array(Attempt), 'Every attempt, in order.'),
  note: field(
    nullableText,
    'Why it was refused or failed, what was tampered with and the like, in words; null for nothing.',
  ),
  underWay: field(
    z.nullable(AttemptUnderWay),
    'The attempt that has no answer yet; null when there is none.',
  ),
  forwardedTo: field(
    nullableText,
    'Where it goes instead of `url`, with --forward-ipn or --map; null when it goes to `url`.',
  ),
  verdict: field(Verdict, 'What became of it, by its last attempt.'),
});
export type Delivery = z.output<typeof Delivery>;

export const DeliveryList = page('DeliveryList', Delivery, 'deliveries');
export const DeliveryBatch = record(
  'DeliveryBatch',
  'All deliveries that were made.',
  wholeListFields(Delivery, 'deliveries', 'in the order in which they go out'),
);

export const DeliveryQuery = query('DeliveryFilter', 'Which deliveries; all that is given must match.', {
  payment: optionalText('Only those of this payment: id or identifier.'),
  state: field(z.optional(z.enum(DELIVERY_STATES)), 'Only those in this state.'),
  ...PAGING,
});
export type DeliveryFilter = z.input<typeof DeliveryQuery>;

export const ResendInput = request(
  'ResendInput',
  'Where to send a delivery once more.',
  {
    to: optionalText(
      'Another address, which makes a new delivery; default: where it was sent before.',
      ADDRESS,
    ),
  },
  { to: 'http://localhost:3000/ipn' },
);
export type ResendInput = z.input<typeof ResendInput>;

/** The tamperings are checked where they are read, which names the nearest one. */
const TAMPERING = { type: 'string', pattern: TAMPERING_PATTERN };

export const FireInput = request(
  'FireInput',
  'An IPN made by hand. Without `payment` it tells of one that never was.',
  {
    payment: optionalText('Id or identifier of the payment that it tells of.'),
    to: optionalText("Where it goes; default: the payment's ipn_url.", ADDRESS),
    identifier: optionalText("Instead of the payment's."),
    amount: optionalText("Instead of the payment's."),
    currency: optionalText("Instead of the payment's; default: USD."),
    status: optionalText('Default: success.'),
    format: field(
      z.optional(z.enum(IPN_FORMATS)),
      'How it is written; default: as the emulator writes them.',
    ),
    set: field(
      z.optional(z.record(text, z.union([text, z.array(text)]))),
      'More fields, or others, by name; dots lead inside, such as `data.payment_trx`. Set before signing. A name with `[]` behind it makes a list of one value or several, in place of what was signed.',
    ),
    unset: field(
      z.optional(z.union([text, z.array(text)])),
      'Fields that are left out, such as `data.charge`. What is signed is what is left; `signature` is left out after that.',
    ),
    tamper: field(
      z.optional(z.union([text, z.array(text)])),
      'What is forged in it after signing, one or several, so that a careful receiver must reject it. A value may follow: `identifier=order-2`.',
      { anyOf: [TAMPERING, { type: 'array', items: TAMPERING }] },
    ),
    times: optionalNumber(1, 1_000, 'How many deliveries of the same bytes.'),
    delay: optionalDuration(24 * 3_600_000, 'Time before each of them.'),
  },
  { to: 'http://localhost:3000/ipn', amount: '100.00', tamper: 'signature' },
);
export type FireInput = z.input<typeof FireInput>;

/** Maximum bytes of an IPN made by hand, and of all that one request makes (chosen). Real ones have about 500. */
const MAX_FIRED_BYTES = 64 * 2 ** 10;
const MAX_FIRED_TOTAL = 8 * 2 ** 20;

/**
 * Bounds IPNs made by hand: each is kept, with every attempt and event of it.
 *
 * @throws GatewayError `invalid_fields`
 */
export function requireFireable(body: string, times: number): void {
  const bytes = new TextEncoder().encode(body).length;
  if (bytes > MAX_FIRED_BYTES) {
    throw new GatewayError(
      'invalid_fields',
      `an IPN may have at most ${MAX_FIRED_BYTES} bytes (64 KiB); this one would have ${bytes}`,
    );
  }
  if (bytes * times <= MAX_FIRED_TOTAL) return;
  const most = Math.floor(MAX_FIRED_TOTAL / bytes);
  throw new GatewayError(
    'invalid_fields',
    `times must be at most ${most} for an IPN of ${bytes} bytes: ${MAX_FIRED_TOTAL} bytes (8 MiB) in all`,
  );
}
