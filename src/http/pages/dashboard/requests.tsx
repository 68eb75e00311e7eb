import { GatewayError, hint } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import type { CallService } from '../../call-service.ts';
import { maskedRequest } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { serviceRoute } from '../../inject-faults.ts';
import { KEPT_BODY_CHARACTERS } from '../../record-requests.ts';
import { Link } from '../layout.tsx';
import { Ago, FactsBox, Section, Short, Status, Time, WarningCount, Warnings } from './blocks.tsx';
import { BothSides, recordedSides, SampleInitiate } from './exchange.tsx';
import { Form } from './forms.tsx';
import { type List, listPage } from './list.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { PLACES, recordPath, recordRoute } from './paths.ts';

const ROUTES = ['initiate', 'checkout', 'cards', 'other'] as const;
const METHODS = ['GET', 'POST', 'PUT'] as const;
const RESULTS = ['accepted', 'rejected'] as const;

/** A request with the fields that filter the list. */
interface ListedRequest extends RecordedRequest {
  route: (typeof ROUTES)[number];
  result: (typeof RESULTS)[number];
  /** The identifier of its payment, or else in its body; '' if there is none. */
  identifier: string;
}

function listedRequests({ events, dialect, payments }: AppParts): ListedRequest[] {
  return events.requests().map((request) => {
    const { target, paymentId, requestBody } = request;
    const route = serviceRoute(target.split('?', 1)[0] ?? '', dialect);
    return {
      ...request,
      route: ROUTES.find((name) => name === route) ?? 'other',
      result: isRejected(request) ? 'rejected' : 'accepted',
      identifier: payments.all.get(paymentId ?? '')?.identifier ?? identifierIn(requestBody ?? ''),
    };
  });
}

function identifierIn(body: string): string {
  if (!body.startsWith('{')) return new URLSearchParams(body).get('identifier') ?? '';
  return /"identifier"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
}

export const REQUESTS: List<ListedRequest> = {
  place: 'requests',
  noun: 'request',
  filter: {
    choices: [
      { name: 'route', values: ROUTES, label: 'Route', isCounted: true },
      { name: 'method', values: METHODS, label: 'Method' },
      { name: 'result', values: RESULTS, label: 'Result' },
    ],
    texts: ['method', 'target', 'status', 'identifier'],
    hint: 'path, order, status',
  },
  records: (parts) => {
    const requests = listedRequests(parts);
    return {
      size: requests.length,
      backwards: (visit) => void requests.every((request) => visit(request, request.id)),
    };
  },
  columns: ({ payments }, from) => [
    [
      'Request',
      'head',
      (request) => [
        <Short to={recordPath('requests', request.id, from)} text={titleOf(request)} />,
        <WarningCount of={request.notes} />,
      ],
    ],
    ['Status', 'state', (request) => <ResponseStatus of={request} />],
    [
      'Payment',
      'name',
      ({ paymentId }) => {
        const payment = payments.all.get(paymentId ?? '');
        return payment && <Short to={recordPath('payments', payment.id)} text={payment.identifier} />;
      },
    ],
    ['Took', 'few', ({ durationMs }) => `${durationMs} ms`],
    ['At', 'time', ({ at }) => <Ago at={at} />],
  ],
  first: (parts) => (
    <>
      <p>To send one:</p>
      <SampleInitiate parts={parts} />
    </>
  ),
};

function titleOf({ method, target }: RecordedRequest): string {
  return `${method} ${target.split('?', 1)[0]}`;
}

/** Initiate rejects many requests with status 200. */
const isRejected = ({ status, responseBody }: RecordedRequest): boolean =>
  status >= 400 || responseBody?.startsWith('{"error"') === true;

function ResponseStatus({ of }: { of: RecordedRequest }) {
  const failed = isRejected(of);
  return <Status of={failed ? 'failed' : 'succeeded'}>{`${of.status}${failed ? ' rejected' : ''}`}</Status>;
}

const requestPage: PageRenderer = ({ parts, id, query }) => {
  const request = requireRecorded(parts, id);
  const shown = maskedRequest(request, parts);
  const { at, durationMs, paymentId, notes } = shown;
  const sides = recordedSides(shown);
  const facts = [
    ['At (UTC)', <Time at={at} precise />],
    ['Took', `${durationMs} ms`],
    ['Payment', paymentId && <Link href={recordPath('payments', paymentId)}>{paymentId}</Link>],
  ] as const;
  return recordPage(
    'requests',
    request.id,
    { title: titleOf(request), status: <ResponseStatus of={request} /> },
    <>
      <FactsBox label="Summary" rows={facts}>
        <Warnings of={notes} />
        <Replay of={request} parts={parts} />
      </FactsBox>
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
    query,
  );
};

export function Replay({ of, parts }: { of: RecordedRequest; parts: AppParts }) {
  const { id } = of;
  const problem = replayProblem(of, parts);
  if (problem !== undefined) return <p class="soft">This request cannot be sent again: {problem}.</p>;
  return (
    <Form
      to={`${recordPath('requests', id)}/replay`}
      label={`Request ${id}`}
      submit="Send again"
      note="Sends the same method, path, headers and body, with the real secrets."
    />
  );
}

/** Headers that belong to the connection or to the browser's page, not to the request. */
const NOT_REPLAYED =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|upgrade|te|trailer|cookie|origin|referer|accept-encoding|sec-.*|proxy-.*)$/;

/** @throws GatewayError `not_found` for a request that is not, or no longer, in the log */
function requireRecorded({ events }: AppParts, id: string): RecordedRequest {
  const request = events.requests().find((one) => String(one.id) === id);
  if (request) return request;
  const fix = hint`The request log keeps the last thousand requests.`;
  throw new GatewayError('not_found', `request ${id} is not in the request log`, { hint: fix });
}

/** Explains why a request cannot be sent again; undefined if it can. */
function replayProblem(request: RecordedRequest, { dialect }: AppParts): string | undefined {
  const { method, target, requestHeaders, requestBody } = request;
  const { pathname } = new URL(target.startsWith('/') ? `http://localhost${target}` : 'http://localhost');
  if (serviceRoute(pathname, dialect) === null) {
    return "only requests to the service's own routes can be sent again";
  }
  if (method === 'TRACE') return `a ${method} request cannot be sent again`;
  const length = requestHeaders['content-length'];
  const isWhole =
    length === undefined
      ? (requestBody ?? '').length < KEPT_BODY_CHARACTERS && !('transfer-encoding' in requestHeaders)
      : Number(length) === Buffer.byteLength(requestBody ?? '');
  if (isWhole) return undefined;
  return `its body is incomplete in the log, which keeps at most ${KEPT_BODY_CHARACTERS} characters of text and omits bodies that were not read`;
}

/**
 * Sends a logged request to the service again, with its original secrets.
 *
 * @returns the number of the new request in the log
 * @throws GatewayError `not_found`; `wrong_state` if the request cannot be sent again
 */
async function replay(parts: AppParts, id: string, callService: CallService): Promise<number> {
  const request = requireRecorded(parts, id);
  const problem = replayProblem(request, parts);
  if (problem !== undefined) throw new GatewayError('wrong_state', problem);
  const { method, target, requestHeaders, requestBody } = request;
  const headers = Object.entries(requestHeaders).filter(([name]) => !NOT_REPLAYED.test(name));
  const body = ['GET', 'HEAD'].includes(method) ? null : requestBody;
  const { recorded } = await callService({ method, target, headers: Object.fromEntries(headers), body });
  return recorded?.id ?? request.id;
}

const REQUEST = recordRoute('requests');

export const REQUEST_PAGES: NounPages = {
  pages: {
    [PLACES.requests.path]: listPage(REQUESTS),
    [REQUEST]: requestPage,
  },
  forms: {
    [`${REQUEST}/replay`]: async (parts, _, id, callService) =>
      recordPath('requests', await replay(parts, id, callService)),
  },
};
