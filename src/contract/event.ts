import * as z from 'zod/mini';
import { AuditProgress } from './audit-report.ts';
import { CardTransaction } from './card.ts';
import { Delivery } from './delivery.ts';
import { FaultRule } from './fault.ts';
import { count, field, named, nullableText, query, record, shapeOf, text, time, wholeList } from './field.ts';
import { optionalNumber, optionalText, switchText } from './input.ts';
import { InboxMessage } from './message.ts';
import { Payment, PaymentStep } from './payment.ts';
import { DELIVERY_STEPS } from './vocabulary.ts';

export const RecordedRequest = record(
  'RecordedRequest',
  'A request to the service and its response. Secrets, tokens and card numbers are masked.',
  {
    id: field(count, 'Counts from 1, in the order in which requests come.'),
    at: time('When it came.'),
    method: field(text, 'Method.'),
    target: field(text, 'Path and query as they were sent.'),
    requestHeaders: field(z.record(text, text), 'Headers by lower-case name.'),
    requestBody: field(nullableText, 'The beginning of the body; null when there was none.'),
    status: field(count, 'Status of the response; 444 when none went out.'),
    responseBody: field(nullableText, 'Body of the response, pages excepted.'),
    durationMs: field(z.number(), 'Time to the response, in milliseconds.'),
    paymentId: field(nullableText, 'The payment that it was about.'),
    fault: field(z.nullable(FaultRule), 'The fault rule that acted on it; null where none did.'),
    notes: field(
      z.array(text),
      "Why it was refused, and what else the developer should know: what the merchant's code does not see.",
    ),
  },
);
export type RecordedRequest = z.output<typeof RecordedRequest>;

export const RequestList = wholeList(
  'RequestList',
  RecordedRequest,
  'requests that are remembered (100 unless `limit` says otherwise)',
);

export const RequestQuery = query('RequestFilter', 'Which recorded requests; all that is given must match.', {
  path: optionalText('Only those to this path, without a query.'),
  method: optionalText('Only those with this method.'),
  payment: optionalText('Only those of this payment: id or identifier.'),
  limit: optionalNumber(1, 1_000, 'At most so many; default: 100.'),
});
export type RequestFilter = z.input<typeof RequestQuery>;

export const EventQuery = query('EventFilter', 'Which part of the stream.', {
  since: optionalNumber(0, 2 ** 31, 'Begins after this event; default: with what comes next.'),
  follow: field(z.optional(switchText), 'false ends the response after what has happened already.'),
});

const seq = field(count, 'Counts everything that happens; hand it back as `since` or Last-Event-ID.');
const at = time('When it happened, by the clock of the emulator.');

const DELIVERY_STEP =
  '`planned`: it was made, or is due at another time. `waiting`: its attempt has no answer after 3 s. `attempted`: an attempt ended.';

/** What else an event of a type holds. */
const EVENTS = {
  request: { request: field(RecordedRequest, 'A request to the service and its response.') },
  payment: {
    payment: field(Payment, 'A payment that was made or changed.'),
    steps: field(z.array(PaymentStep), 'What happened to it now; empty where only its record changed.'),
    warnings: field(z.array(text), 'What was added to its warnings now.'),
  },
  delivery: {
    delivery: field(Delivery, 'An IPN that was made or attempted.'),
    step: field(z.enum(DELIVERY_STEPS), DELIVERY_STEP),
  },
  message: { message: field(InboxMessage, 'A verification code.') },
  cardTransaction: { cardTransaction: field(CardTransaction, 'A movement of money on a card.') },
  audit: { audit: field(AuditProgress, 'A step of an audit by the emulator itself.') },
  notice: { text: field(text, 'Something about the emulator itself, in words.') },
} as const;

const one = <Name extends keyof typeof EVENTS>(name: Name) =>
  z.object({ seq: seq.schema, at: at.schema, type: z.literal(name), ...shapeOf(EVENTS[name]) });

export const SimEvent = named(
  {
    name: 'SimEvent',
    description: 'Something that happened: the data of one event of the stream.',
    fields: {
      seq,
      at,
      type: field(text, 'What kind of thing it is.'),
      ...Object.assign({}, ...Object.values(EVENTS)),
    },
    io: 'output',
  },
  z.discriminatedUnion('type', [
    one('request'),
    one('payment'),
    one('delivery'),
    one('message'),
    one('cardTransaction'),
    one('audit'),
    one('notice'),
  ]),
);
export type SimEvent = z.output<typeof SimEvent>;
