import * as z from 'zod/mini';
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
    id: field(count, 'Counts from 1, in order of arrival.'),
    at: time('Time of arrival.'),
    method: field(text, 'Method.'),
    target: field(text, 'Path and query as sent.'),
    requestHeaders: field(z.record(text, text), 'Headers by lower-case name.'),
    requestBody: field(nullableText, 'The beginning of the body; null if none.'),
    status: field(count, 'Status of the response; 444 when none was sent.'),
    responseBody: field(nullableText, 'The beginning of the body of the response, except HTML pages.'),
    durationMs: field(z.number(), 'Time to the response, in milliseconds.'),
    paymentId: field(nullableText, 'The payment it is about.'),
    fault: field(z.nullable(FaultRule), 'The fault rule that acted on it; null if none.'),
    notes: field(
      z.array(text),
      "Notes for the developer that the merchant's code does not see, such as why the request was rejected.",
    ),
  },
);
export type RecordedRequest = z.output<typeof RecordedRequest>;

export const RequestList = wholeList(
  'RequestList',
  RecordedRequest,
  'recorded requests (at most `limit`, 100 by default)',
);

export const RequestQuery = query('RequestFilter', 'Filters recorded requests. All filters must match.', {
  path: optionalText('Only requests to this path, without a query.'),
  method: optionalText('Only requests with this method.'),
  payment: optionalText('Only requests of this payment: id or identifier.'),
  limit: optionalNumber(1, 1_000, 'Maximum number of requests; default: 100.'),
});
export type RequestFilter = z.input<typeof RequestQuery>;

export const EventQuery = query('EventFilter', 'Selects a part of the stream.', {
  since: optionalNumber(0, 2 ** 31, 'Start after this event; default: only new events.'),
  follow: field(z.optional(switchText), 'false ends the response after the past events.'),
});

const seq = field(count, 'Number of the event. Pass it as `since` or Last-Event-ID to continue.');
const at = time("Time of the event, by the emulator's clock.");

const DELIVERY_STEP =
  '`planned`: it was created or rescheduled. `waiting`: its attempt still has no response after 3 s. `attempted`: an attempt ended.';

const EVENTS = {
  request: { request: field(RecordedRequest, 'A request to the service and its response.') },
  payment: {
    payment: field(Payment, 'A payment that was created or changed.'),
    steps: field(z.array(PaymentStep), 'New steps in its timeline; empty if only its record changed.'),
    warnings: field(z.array(text), 'New warnings.'),
  },
  delivery: {
    delivery: field(Delivery, 'An IPN that was created or attempted.'),
    step: field(z.enum(DELIVERY_STEPS), DELIVERY_STEP),
  },
  message: { message: field(InboxMessage, 'A verification code.') },
  cardTransaction: { cardTransaction: field(CardTransaction, 'A card transaction.') },
  notice: {
    text: field(text, 'A message about the emulator.'),
    warning: field(z.optional(z.literal(true)), 'Present if it needs somebody.'),
    host: field(z.optional(text), 'The host of a request that the proxy rejected, once for each host.'),
  },
} as const;

const one = <Name extends keyof typeof EVENTS>(name: Name) =>
  z.object({ seq: seq.schema, at: at.schema, type: z.literal(name), ...shapeOf(EVENTS[name]) });

export const SimEvent = named(
  {
    name: 'SimEvent',
    description: 'The data of one event of the stream.',
    fields: {
      seq,
      at,
      type: field(text, 'The type of the event.'),
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
    one('notice'),
  ]),
);
export type SimEvent = z.output<typeof SimEvent>;
