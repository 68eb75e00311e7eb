import { GatewayError, hint } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { moment } from '../../../contract/time.ts';
import type { ShopState } from '../../../diagnosis/shop-state.ts';
import { KEPT_ITEMS } from '../../../usecases/event-log.ts';
import type { StoryStep } from '../../../usecases/story.ts';
import { maskedRequest } from '../../control/views.ts';
import type { AppDependencies } from '../../environment.ts';
import { serviceRoute } from '../../inject-faults.ts';
import { Link } from '../layout.tsx';
import {
  Ago,
  Facts,
  RecordLink,
  Section,
  ShopStatus,
  Status,
  Time,
  WarningCount,
  Warnings,
} from './blocks.tsx';
import { BothSides, recordedSides } from './exchange.tsx';
import { type List, listPage } from './list.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { PLACES, recordPath, recordRoute } from './paths.ts';
import { clip } from './text.ts';

const ROUTES = ['initiate', 'checkout', 'cards', 'IPN', 'other'] as const;

/** A request with the fields of the list and its filter. */
interface ListedRequest
  extends Pick<RecordedRequest, 'at' | 'method' | 'target' | 'paymentId' | 'notes' | 'responseBody'> {
  id: string;
  /** What the shop did with it, if it is an IPN. */
  shop?: ShopState;
  /** Null without a response. */
  status: number | null;
  route: (typeof ROUTES)[number];
  result: 'accepted' | 'rejected';
  /** The identifier of its payment, or else in its body; '' if there is none. */
  identifier: string;
}

/** The request log and the IPNs, newest first. */
function listedRequests(parts: AppDependencies): ListedRequest[] {
  const { events, store } = parts;
  const received = events.requests().map((request): ListedRequest => {
    const { id, paymentId, requestBody } = request;
    const route = serviceRoute(pathOf(request));
    return {
      ...request,
      id: String(id),
      route: ROUTES.find((name) => name === route) ?? 'other',
      result: isRejected(request) ? 'rejected' : 'accepted',
      identifier:
        store.state.payments.get(paymentId ?? '')?.identifier ?? initiatedIdentifier(requestBody ?? ''),
    };
  });
  return [...received, ...sentIpns(parts)].sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** As many as the log has requests. */
function sentIpns({ ipns, store }: AppDependencies): ListedRequest[] {
  return store.state.deliveries
    .page(KEPT_ITEMS, undefined, () => true)
    .data.map((delivery) => {
      const last = store.state.attemptsOf(delivery.id).at(-1);
      const shop = ipns.shopState(delivery);
      return {
        at: delivery.createdAt,
        method: 'POST',
        target: ipns.forwardedTo(delivery) ?? delivery.url,
        paymentId: delivery.paymentId,
        notes: [],
        responseBody: null,
        id: delivery.id,
        status: last?.responseStatus ?? null,
        route: 'IPN',
        shop,
        result: shop.state.endsWith('accepted') ? 'accepted' : 'rejected',
        identifier: delivery.identifier,
      };
    });
}

const REQUESTS: List<ListedRequest> = {
  place: 'requests',
  noun: 'request',
  choice: { name: 'route', values: ROUTES, label: 'Route' },
  texts: ['method', 'target', 'status', 'result', 'identifier'],
  isOfAudit: ({ paymentId }, { store }) => store.state.payments.get(paymentId ?? '')?.settledBy === 'audit',
  records: listedRequests,
  columns: ({ store, secrets }) => [
    [
      'Request',
      'head',
      (request) => [
        <RecordLink
          to={recordPath(request.shop ? 'ipns' : 'requests', request.id)}
          text={titleOf(request)}
        />,
        <WarningCount of={request.notes} />,
      ],
    ],
    ['Status', 'cause', (request) => <ResponseStatus of={request} />],
    [
      'Payment',
      'name',
      ({ paymentId, identifier }) => {
        const payment = store.state.payments.get(paymentId ?? '');
        if (!payment) return identifier && <span class="soft">{clip(identifier, secrets.mask)}</span>;
        return <RecordLink to={recordPath('payments', payment.id)} text={payment.identifier} />;
      },
    ],
    ['At', 'time', ({ at }) => <Ago at={at} />],
  ],
  first: () => <p>The request log is empty when the emulator starts, and keeps the last 1,000 requests.</p>,
};

function titleOf({ method, target }: Pick<RecordedRequest, 'method' | 'target'>): string {
  return `${method} ${pathOf({ target })}`;
}

/** The path of a request, without its query. */
function pathOf({ target }: Pick<RecordedRequest, 'target'>): string {
  return target.split('?', 1)[0] ?? '';
}

/** Initiate rejects many requests with status 200. */
function isRejected({ status, responseBody }: RecordedRequest): boolean {
  return status >= 400 || responseBody?.startsWith('{"error"') === true;
}

/** The identifier in the body of an initiate request; '' if there is none. */
function initiatedIdentifier(body: string): string {
  if (!body.startsWith('{')) return new URLSearchParams(body).get('identifier') ?? '';
  return /"identifier"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
}

function ResponseStatus({ of }: { of: Pick<ListedRequest, 'status' | 'result' | 'shop'> }) {
  if (of.shop) return <ShopStatus of={of.shop} />;
  const failed = of.result === 'rejected';
  return <Status of={failed ? 'refused' : 'succeeded'}>{`${of.status}${failed ? ' rejected' : ''}`}</Status>;
}

/** @throws GatewayError `not_found` for a request that is not, or no longer, in the log */
function requireRecorded({ events, runtime }: AppDependencies, id: string): RecordedRequest {
  const request = events.requests().find((one) => String(one.id) === id);
  if (request) return request;
  const since = moment(runtime.startedAt);
  const fix = hint`The request log keeps the last 1,000 requests since the emulator started, at ${since} UTC.`;
  throw new GatewayError('not_found', `request ${id} is not in the request log`, { hint: fix });
}

const requestPage: PageRenderer = ({ parts, id }) => {
  const request = requireRecorded(parts, id);
  const shown = maskedRequest(request, parts);
  const { at, durationMs, paymentId, notes } = shown;
  const sides = recordedSides(shown);
  const facts = [
    ['At (UTC)', <Time at={at} />],
    ['Took', `${durationMs} ms`],
    ['Payment', paymentId && <Link href={recordPath('payments', paymentId)}>{paymentId}</Link>],
  ] as const;
  return recordPage(
    'requests',
    request.id,
    {
      title: titleOf(request),
      status: (
        <ResponseStatus
          of={{ status: request.status, result: isRejected(request) ? 'rejected' : 'accepted' }}
        />
      ),
    },
    <>
      <section class="box" aria-label="Summary">
        <Facts rows={facts} />
        <Warnings of={notes} />
      </section>
      <Section id="sides" title="Response and request">
        <BothSides
          id="request"
          name={String(request.id)}
          limit={Number.POSITIVE_INFINITY}
          request={sides.request}
          response={
            shown.responseBody === null
              ? 'No body, or a page. The request log does not store HTML pages.'
              : sides.response
          }
        />
      </Section>
    </>,
  );
};

/** Says why the request of a step is not in the log. */
export function missingFromLog({ requestId }: StoryStep): string {
  return requestId === null
    ? 'Its request was logged before the emulator was restarted, or its state imported: the request log then starts empty.'
    : 'The request log no longer has its request: it keeps the last 1,000.';
}

export const REQUEST_PAGES: NounPages = {
  pages: {
    [PLACES.requests.path]: listPage(REQUESTS),
    [recordRoute('requests')]: requestPage,
  },
};
