import * as z from 'zod/mini';
import { Diagnosis } from './diagnosis.ts';
import { AppliedFault, FaultRule } from './fault.ts';
import {
  ADDRESS,
  count,
  dueTime,
  field,
  named,
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
import {
  optionalDuration,
  optionalNumber,
  optionalText,
  optionalTexts,
  PAGING,
  switchText,
} from './input.ts';
import { FIRE_FIELDS, IPN_FILTERS, RESEND_FIELDS, sentenceOf, sentencesOf } from './request-fields.ts';
import { RowChange } from './row-change.ts';
import { TAMPERING_PATTERN, TAMPERINGS } from './tampering.ts';
import { Verdict } from './verdict.ts';
import { DELIVERY_STATES, IPN_FORMATS } from './vocabulary.ts';

/*
 * Why an attempt failed, as data (chosen). Does not repeat fields of the attempt, such as the address and the
 * status. `describe-delivery.ts` turns it into sentences.
 */

const EGRESS_REASONS = ['emulator', 'metadata', 'public', 'unresolved', 'no_address'] as const;

const host = field(text, 'The requested name or address, without the port.');
const address = field(nullableText, 'The resolved address; null if the name was not resolved.');
const port = field(count, 'Its port.');
const reason = field(
  z.enum(EGRESS_REASONS),
  'For `egress`. `emulator`: the emulator itself; `metadata`: the metadata service of a cloud; `public`: neither loopback nor private; `unresolved`: a public name that was not resolved; `no_address`: the name has no address.',
);
const limitMs = field(count, 'For `timed_out`: the time limit, in milliseconds.');
const message = field(text, 'For `tls`, `malformed`, `invalid` and `other`: the system error.');

const plain = <Code extends string>(code: Code) => z.object({ code: z.literal(code) });

export const AttemptFailure = named(
  {
    name: 'AttemptFailure',
    description: 'Why an attempt failed.',
    fields: {
      code: field(
        text,
        '`answered`: a status other than 2xx. `fault`: a fault rule blocked it. All others: no response, or only a part of it.',
      ),
      reason,
      host,
      address,
      port,
      limitMs,
      message,
    },
    io: 'output',
  },
  z.discriminatedUnion('code', [
    plain('answered'),
    plain('connection_refused'),
    plain('connection_reset'),
    plain('name_not_found'),
    plain('no_route'),
    plain('http2_only'),
    plain('expects_http'),
    plain('expects_https'),
    plain('certificate'),
    plain('address'),
    plain('stopping'),
    plain('fault'),
    z.object({ code: z.literal('timed_out'), limitMs: limitMs.schema }),
    z.object({ code: z.literal('tls'), message: message.schema }),
    z.object({ code: z.literal('malformed'), message: message.schema }),
    z.object({ code: z.literal('other'), message: message.schema }),
    z.object({
      code: z.literal('egress'),
      host: host.schema,
      address: address.schema,
      port: port.schema,
      reason: reason.schema,
    }),
  ]),
);
export type AttemptFailure = z.output<typeof AttemptFailure>;
/** What is malformed in a response that curl, the real sender, still reads (observed with curl 7.88). */
export const ResponseFlaw = named(
  {
    name: 'ResponseFlaw',
    description:
      'What is malformed in a response that counts as received, because curl, the real sender, reads it.',
    fields: {
      code: field(
        text,
        '`both_lengths`: Content-Length and Transfer-Encoding; `repeated_length`: Content-Length twice; `incomplete`: it ended too early; `too_long`: longer than its Content-Length; `not_modified`: status 304; `invalid`: not valid HTTP.',
      ),
      message,
    },
    io: 'output',
  },
  z.discriminatedUnion('code', [
    plain('both_lengths'),
    plain('repeated_length'),
    plain('incomplete'),
    plain('too_long'),
    plain('not_modified'),
    z.object({ code: z.literal('invalid'), message: message.schema }),
  ]),
);
export type ResponseFlaw = z.output<typeof ResponseFlaw>;

export type EgressFailure = Extract<AttemptFailure, { code: 'egress' }>;

/** The field for every record with the identifier of a payment. */
export const IDENTIFIER = field(
  text,
  "The merchant's own reference for the payment. Not unique: every initiate creates a new payment.",
);

const headers = z.array(z.tuple([text, text]));

/** Who can send an IPN again, apart from the emulator's retries. */
const RESENDERS = ['user', 'rule'] as const;

const attemptFields = {
  id: field(text, 'Its id.'),
  deliveryId: field(text, 'Its delivery.'),
  number: field(count, 'Counts from 1.'),
  sentAgain: field(
    z.optional(z.enum(RESENDERS)),
    'Who sent the IPN again: `user` by a resend, `rule` by a duplicate; omitted for a first attempt and for a retry.',
  ),
  startedAt: time('Start time.'),
  durationMs: field(z.number(), 'Real time from connect to the end of the response, in milliseconds.'),
  url: field(text, 'The address it was sent to.'),
  requestHeaders: field(headers, 'Names and values as sent.'),
  requestBody: field(text, 'The body as sent.'),
  responseStatus: field(z.nullable(count), 'Status of the response; null if none.'),
  responseHeaders: field(headers, 'Names and values of the response.'),
  responseBody: field(
    nullableText,
    'The first 64 KiB of the response (1 KiB once 64 MiB of responses are stored); null if none.',
  ),
  failure: field(z.nullable(AttemptFailure), 'Why it failed; null when the receiver answered 2xx in time.'),
  flaw: field(z.optional(ResponseFlaw), 'What is malformed in the response; omitted if nothing is.'),
  fault: field(z.nullable(AppliedFault), 'The fault rule that acted on it; null if none.'),
};

export const StoredAttempt = record('StoredAttempt', 'An attempt as stored.', attemptFields);
export type StoredAttempt = z.output<typeof StoredAttempt>;

export const Attempt = record(
  'Attempt',
  'One request of a delivery and its response, as sent and received.',
  {
    ...omit(attemptFields, 'deliveryId'),
    error: field(nullableText, 'The failure in words; null if none.'),
  },
);
export type Attempt = z.output<typeof Attempt>;

export const AttemptUnderWay = record('AttemptUnderWay', 'An attempt that is waiting for its response.', {
  number: field(count, 'Counts from 1.'),
  startedAt: time('Start time.'),
  timeoutMs: field(count, 'Maximum wait in real time, in milliseconds.'),
});
export type AttemptUnderWay = z.output<typeof AttemptUnderWay>;

const Tampered = record('Tampered', 'A value that was forged in an IPN after signing.', {
  what: field(z.enum(TAMPERINGS), 'What was forged.'),
  was: field(nullableText, 'The signed value; null where it does not matter.'),
  is: field(nullableText, 'The value sent instead; null where it does not matter.'),
});

const deliveryFields = {
  id: field(text, 'Its id, sent in the header X-Gateway-Sim-Delivery of every attempt.'),
  paymentId: field(nullableText, 'Its payment; null if it was fired without one.'),
  merchantId: field(text, 'The merchant whose secret key signed it.'),
  identifier: IDENTIFIER,
  url: field(text, 'The address it is sent to.'),
  status: field(text, 'The `status` field of the IPN.'),
  state: field(
    z.enum(DELIVERY_STATES),
    '`refused`: the egress guard blocked its address. `note` names the option that allows it.',
  ),
  contentType: field(text, 'Media type of the body.'),
  body: field(text, 'The body that every attempt sends.'),
  signedText: field(text, 'The signed text: `data.amount` followed by `identifier`, without a separator.'),
  signedWith: field(
    text,
    'The public key of the pair that signed it; empty if it was tampered with. Tampered IPNs are never signed again.',
  ),
  once: field(yesOrNo, 'Fired by hand: attempted once, without retries.'),
  attemptCount: field(count, 'Number of attempts.'),
  createdAt: time('Creation time.'),
  nextAttemptAt: field(z.nullable(dueTime), 'Time of the next attempt; null if none.', TIME),
  isResend: field(z.optional(z.literal(true)), 'Whether the next attempt is a resend; omitted if it is not.'),
  tampered: field(z.array(Tampered), 'The values that were forged in it after signing.'),
  signedAnew: field(yesOrNo, 'Whether a resend signed it with a new key, because the pair was replaced.'),
  diagnosis: field(
    z.optional(Diagnosis),
    'Why its receiver does not accept it, as the last diagnosis found; omitted if there was none.',
  ),
  postponedBy: field(z.nullable(FaultRule), 'The fault rule that postponed its next attempt; null if none.'),
};

export const StoredDelivery = record(
  'StoredDelivery',
  'An IPN as stored; its attempts are separate records.',
  deliveryFields,
);
export type StoredDelivery = z.output<typeof StoredDelivery>;

export const Delivery = record('Delivery', 'An IPN to one receiver, with all of its attempts.', {
  ...omit(deliveryFields, 'signedWith', 'attemptCount', 'isResend'),
  attempts: field(z.array(Attempt), 'Every attempt, in order.'),
  note: field(nullableText, 'Why it was refused or failed, what was tampered with, and so on; null if none.'),
  underWay: field(z.nullable(AttemptUnderWay), 'The attempt that is waiting for its response; null if none.'),
  forwardedTo: field(
    nullableText,
    'The address it is sent to instead of `url`, with --forward-ipn; null when it is sent to `url`.',
  ),
  changes: field(
    z.nullable(z.array(RowChange)),
    "What changed in the shop's database around its last attempt, which `start --db` reads: what concerns its payment first. Null if it is not known.",
  ),
  changesUnknown: field(nullableText, 'Why `changes` is null; null if it is not, and without `start --db`.'),
  verdict: field(Verdict, 'Its verdict, from its last attempt.'),
  unexplained: field(
    z.optional(z.literal(true)),
    'Present if its receiver rejected it and did not show why: a diagnosis asks the receiver.',
  ),
});
export type Delivery = z.output<typeof Delivery>;

export const DeliveryList = page('DeliveryList', Delivery, 'deliveries');
export const DeliveryBatch = record(
  'DeliveryBatch',
  'All deliveries that were created.',
  wholeListFields(Delivery, 'deliveries', 'in the order in which they are sent'),
);

export const DeliveryQuery = query('DeliveryFilter', 'Filters deliveries. All filters must match.', {
  payment: optionalText(sentenceOf(IPN_FILTERS.payment)),
  state: field(z.optional(z.enum(DELIVERY_STATES)), sentenceOf(IPN_FILTERS.state)),
  audits: field(z.optional(switchText), 'false leaves out the deliveries of payments that audits made.'),
  ...PAGING,
});
export type DeliveryFilter = z.input<typeof DeliveryQuery>;

export const ResendInput = request(
  'ResendInput',
  'Where to resend a delivery.',
  {
    to: optionalText(sentencesOf(RESEND_FIELDS.to), ADDRESS),
  },
  { to: 'http://localhost:3000/ipn' },
);
export type ResendInput = z.input<typeof ResendInput>;

/** Only a pattern: the code that reads tamperings checks them and suggests the nearest name. */
const TAMPERING = { type: 'string', pattern: TAMPERING_PATTERN };

export const FireInput = request(
  'FireInput',
  'An IPN fired by hand. Without `payment`, it is about a payment that does not exist.',
  {
    ...optionalTexts(FIRE_FIELDS),
    to: optionalText(sentencesOf(FIRE_FIELDS.to), ADDRESS),
    format: field(z.optional(z.enum(IPN_FORMATS)), sentencesOf(FIRE_FIELDS.format)),
    set: field(z.optional(z.record(text, z.union([text, z.array(text)]))), sentenceOf(FIRE_FIELDS.set)),
    unset: field(z.optional(z.union([text, z.array(text)])), sentenceOf(FIRE_FIELDS.unset)),
    tamper: field(z.optional(z.union([text, z.array(text)])), sentenceOf(FIRE_FIELDS.tamper), {
      anyOf: [TAMPERING, { type: 'array', items: TAMPERING }],
    }),
    times: optionalNumber(1, 1_000, sentenceOf(FIRE_FIELDS.times)),
    delay: optionalDuration(24 * 3_600_000, sentenceOf(FIRE_FIELDS.delay)),
  },
  { to: 'http://localhost:3000/ipn', amount: '100.00', tamper: 'signature' },
);
export type FireInput = z.input<typeof FireInput>;
