import { Hono, type MiddlewareHandler } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as z from 'zod/mini';
import { timestamp } from '../../domain/settings.ts';
import type { CardTransaction, Message, State } from '../../domain/state.ts';
import type { RecordedRequest, SimEvent } from '../../usecases/event-log.ts';
import type { AppContext, AppEnvironment, AppParts, RequestNotes } from '../environment.ts';
import { flag, queryInput, wholeNumber } from '../input.ts';
import { type DeliveryView, deliveryView } from './ipns.ts';
import { type PaymentView, paymentView } from './payments.ts';
import { masked } from './simulator.ts';

/** So much of a request body is kept in the log. */
const KEPT_BODY_CHARACTERS = 16_384;

/** Remembers every request to the service and what it was answered. What happens under /_sim is not the service's. */
export function watch({ activity, gateway }: AppParts): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const notes: RequestNotes = {};
    c.set('exchange', notes);
    if (c.req.path.startsWith('/_sim')) return next();
    const started = performance.now();
    await next();
    activity.record({
      at: timestamp(gateway.now()),
      method: c.req.method,
      target: target(c),
      requestHeaders: requestHeaders(c),
      requestBody: notes.requestBody === undefined ? null : beginning(notes.requestBody),
      status: notes.status ?? c.res.status,
      responseBody: notes.responseBody ?? null,
      durationMs: Math.round((performance.now() - started) * 10) / 10,
      paymentId: notes.paymentId ?? null,
      notes: notes.notes ?? [],
    });
  };
}

/** The beginning of a long text. A mere slice would keep the whole of it in memory. */
function beginning(text: string): string {
  if (text.length <= KEPT_BODY_CHARACTERS) return text;
  return Buffer.from(text.slice(0, KEPT_BODY_CHARACTERS)).toString();
}

function target(c: AppContext): string {
  const { url } = c.req;
  return url.slice(url.indexOf('/', url.indexOf('//') + 2));
}

function requestHeaders(c: AppContext): Record<string, string> {
  const incoming = c.env?.incoming;
  return (incoming ? incoming.headers : c.req.header()) as Record<string, string>;
}

/** Everything that happens, as events name it. */
export type SimEventView =
  | { seq: number; type: 'request'; request: RecordedRequest }
  | { seq: number; type: 'payment'; payment: PaymentView }
  | { seq: number; type: 'delivery'; delivery: DeliveryView }
  | { seq: number; type: 'message'; message: InboxMessage }
  | { seq: number; type: 'cardTransaction'; cardTransaction: CardTransaction }
  | { seq: number; type: 'notice'; at: string; text: string };

/** A verification code in the emulated inbox. */
export type InboxMessage = Omit<Message, 'id' | 'sentAt'> & { sentAt: string };

function inboxMessage({ id: _id, ...message }: Message): InboxMessage {
  return message;
}

/** An activity with the records as the control API shows them, secrets masked. */
export function simEventView(activity: SimEvent, { gateway, facts }: AppParts): SimEventView {
  const { seq } = activity;
  switch (activity.type) {
    case 'request':
      return { seq, type: 'request', request: maskedRequest(activity.exchange, gateway.state) };
    case 'payment':
      return { seq, type: 'payment', payment: paymentView(activity.payment, facts.baseUrl()) };
    case 'delivery':
      return { seq, type: 'delivery', delivery: deliveryView(activity.delivery, gateway.state) };
    case 'message':
      return { seq, type: 'message', message: inboxMessage(activity.message) };
    case 'cardTransaction':
    case 'notice':
      return activity;
  }
}

/** An exchange without any merchant's secret key, bearer token, cookie, card number or card code in it. */
export function maskedRequest(exchange: RecordedRequest, state: State): RecordedRequest {
  const headers = Object.entries(exchange.requestHeaders).map(([name, value]) =>
    ['authorization', 'cookie'].includes(name) ? [name, masked(String(value))] : [name, value],
  );
  let body = exchange.requestBody;
  for (const { secretKey } of state.merchants.values()) {
    // As it stands in a form and in JSON too.
    for (const written of [secretKey, encodeURIComponent(secretKey), JSON.stringify(secretKey).slice(1, -1)])
      body = body?.replaceAll(written, masked(secretKey)) ?? null;
  }
  const responseBody =
    exchange.responseBody
      ?.replace(/"card_number":"\d*(\d{4})"/g, '"card_number":"…$1"')
      .replace(/"cvc":"\d+"/g, '"cvc":"…"') ?? null;
  return { ...exchange, requestBody: body, responseBody, requestHeaders: Object.fromEntries(headers) };
}

/** Filters of the request log. */
export const RequestQuery = z.strictObject({
  path: z.optional(z.string()),
  method: z.optional(z.string()),
  payment: z.optional(z.string()),
  limit: z.optional(wholeNumber(1, 1_000)),
});

/** Where a stream of events begins and whether it goes on. */
export const EventQuery = z.strictObject({
  since: z.optional(wholeNumber(0, 2 ** 31)),
  follow: z.optional(flag),
});

/** `/_sim/inbox`, `/_sim/requests` and `/_sim/events`. */
export function watchRoutes(parts: AppParts) {
  const { gateway, activity } = parts;
  return new Hono<AppEnvironment>()
    .get('/inbox', (c) => {
      const page = gateway.state.messages.page(100, undefined, () => true);
      return c.json({ data: page.data.map(inboxMessage), nextCursor: null });
    })
    .get('/requests', queryInput(RequestQuery), (c) => {
      const { path, method, payment, limit = 100 } = c.req.valid('query');
      const paymentId =
        payment === undefined ? undefined : (gateway.state.findPayment(payment)?.id ?? payment);
      const data = activity
        .exchanges()
        .filter(
          (exchange) =>
            (path === undefined || exchange.target.split('?', 1)[0] === path) &&
            (method === undefined || exchange.method === method.toUpperCase()) &&
            (paymentId === undefined || exchange.paymentId === paymentId),
        )
        .slice(0, limit);
      return c.json({
        data: data.map((exchange) => maskedRequest(exchange, gateway.state)),
        nextCursor: null,
      });
    })
    .get('/events', queryInput(EventQuery), (c) => {
      const { since, follow = true } = c.req.valid('query');
      const from = Number(c.req.header('last-event-id') ?? since ?? activity.newest);
      return streamEvents(c, parts, Number.isInteger(from) ? from : activity.newest, follow);
    });
}

const HEARTBEAT_MS = 15_000;

function streamEvents(c: AppContext, parts: AppParts, since: number, follow: boolean): Response {
  c.header('X-Accel-Buffering', 'no');
  return streamSSE(c, async (stream) => {
    const send = (activity: SimEvent) =>
      stream.writeSSE({
        id: String(activity.seq),
        event: activity.type,
        data: JSON.stringify(simEventView(activity, parts)),
      });
    let unsubscribe = () => {};
    const ended = new Promise<void>((resolve) => stream.onAbort(resolve));
    if (follow) {
      unsubscribe = parts.activity.subscribe((activity) => void send(activity));
    }
    for (const activity of parts.activity.since(since)) await send(activity);
    if (!follow) return;
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    const stop = () => stream.abort();
    parts.facts.stopped.addEventListener('abort', stop);
    await stream.write(': connected\n\n');
    await ended;
    clearInterval(heartbeat);
    parts.facts.stopped.removeEventListener('abort', stop);
    unsubscribe();
  });
}
