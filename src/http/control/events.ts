import { EventQuery, type RecordedRequest, RequestList, RequestQuery } from '../../contract/event.ts';
import { MessageList } from '../../contract/message.ts';
import type { AppParts } from '../environment.ts';
import { eventStreams } from './event-stream.ts';
import { listPage, wholeList } from './list.ts';
import { control } from './route.ts';
import { inboxMessage, maskedRequest, simEventView } from './views.ts';

export function eventRoutes(parts: AppParts) {
  const { payments, checkout, events } = parts;
  const stream = eventStreams(parts, (event) => simEventView(event, parts));
  return [
    control('GET /requests', {
      summary: 'Requests to the service and their responses, newest first',
      query: RequestQuery,
      answer: RequestList,
      run: ({ query: { path, method, payment, limit = 100 } }) => {
        const id = payment === undefined ? undefined : (payments.find(payment)?.id ?? payment);
        const fits = (request: RecordedRequest) =>
          (path === undefined || request.target.split('?', 1)[0] === path) &&
          (method === undefined || request.method === method.toUpperCase()) &&
          (id === undefined || request.paymentId === id);
        const found = events.requests().filter(fits).slice(0, limit);
        return wholeList(found.map((request) => maskedRequest(request, parts)));
      },
    }),
    control('GET /inbox', {
      summary: 'Verification codes that were "sent", newest first',
      answer: MessageList,
      run: () => wholeList(listPage(checkout.messages, { limit: 100 }, {}, inboxMessage).data),
    }),
    control('GET /events', {
      summary: 'Stream all events (server-sent events)',
      description:
        'The name of an event is its `type`; its data is a SimEvent (see x-event-data) on one line. A client that is more than 1,000 events behind is disconnected.',
      query: EventQuery,
      answer: null,
      type: 'text/event-stream',
      headers: { 'Last-Event-ID': 'Resume after this event. Browsers send it when they reconnect.' },
      run: ({ c, query: { since, follow = true } }) => {
        const from = Number(c.req.header('last-event-id') ?? since ?? events.newest);
        return stream(c, Number.isInteger(from) ? from : events.newest, follow);
      },
    }),
  ];
}
