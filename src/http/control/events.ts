import { streamSSE } from 'hono/streaming';
import { EventQuery, RequestList, RequestQuery } from '../../contract/event.ts';
import { MessageList } from '../../contract/message.ts';
import type { AppContext, AppParts } from '../environment.ts';
import { control } from './route.ts';
import { inboxMessage, maskedRequest, simEventView } from './views.ts';

const TAG = 'Control: what happened';

/** `/_sim/requests`, `/_sim/inbox` and `/_sim/events`. */
export function eventRoutes(parts: AppParts) {
  const { state, events } = parts;
  return [
    control(
      'GET /requests',
      {
        tag: TAG,
        summary: 'Requests to the service and their responses, newest first',
        query: RequestQuery,
        answer: RequestList,
      },
      ({ query: { path, method, payment, limit = 100 } }) => {
        const id = payment === undefined ? undefined : (state.current.findPayment(payment)?.id ?? payment);
        const data = events
          .exchanges()
          .filter(
            (request) =>
              (path === undefined || request.target.split('?', 1)[0] === path) &&
              (method === undefined || request.method === method.toUpperCase()) &&
              (id === undefined || request.paymentId === id),
          )
          .slice(0, limit);
        return { data: data.map((request) => maskedRequest(request, state.current)), nextCursor: null };
      },
    ),
    control(
      'GET /inbox',
      { tag: TAG, summary: 'Verification codes that were "sent", newest first', answer: MessageList },
      () => {
        const { data } = state.current.messages.page(100, undefined, () => true);
        return { data: data.map(inboxMessage), nextCursor: null };
      },
    ),
    control(
      'GET /events',
      {
        tag: TAG,
        summary: 'Server-sent events of everything that happens',
        description:
          'The event is named by its `type`; its data is a SimEvent (see x-event-data) on one line.',
        query: EventQuery,
        answer: null,
        type: 'text/event-stream',
        headers: { 'Last-Event-ID': 'Goes on after this event; browsers send it when they connect again.' },
      },
      ({ c, query: { since, follow = true } }) => {
        const from = Number(c.req.header('last-event-id') ?? since ?? events.newest);
        return streamEvents(c, parts, Number.isInteger(from) ? from : events.newest, follow);
      },
    ),
  ] as const;
}

const HEARTBEAT_MS = 15_000;

function streamEvents(c: AppContext, parts: AppParts, since: number, follow: boolean): Response {
  const { events, runtime } = parts;
  c.header('X-Accel-Buffering', 'no');
  return streamSSE(c, async (stream) => {
    const send = (event: Parameters<typeof simEventView>[0]) =>
      stream.writeSSE({
        id: String(event.seq),
        event: event.type,
        data: JSON.stringify(simEventView(event, parts)),
      });
    const ended = new Promise<void>((resolve) => stream.onAbort(resolve));
    const unsubscribe = follow ? events.subscribe((event) => void send(event)) : () => {};
    for (const event of events.since(since)) await send(event);
    if (!follow) return;
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    const stop = () => stream.abort();
    runtime.stopped.addEventListener('abort', stop);
    await stream.write(': connected\n\n');
    await ended;
    clearInterval(heartbeat);
    runtime.stopped.removeEventListener('abort', stop);
    unsubscribe();
  });
}
