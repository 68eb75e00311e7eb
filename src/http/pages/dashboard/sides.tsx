import type { Child } from 'hono/jsx';
import { errorOf } from '../../../contract/describe-delivery.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import type { Attempt } from '../../../domain/state.ts';
import { Code, FoldedCode } from './blocks.tsx';
import { capitalized, pretty } from './text.ts';

/** Maximum length of each body on a page with many bodies. */
export const SHOWN_BODY = 8_192;

/** A request or a response. */
interface Side {
  /** The first line, in short. */
  line: string;
  headers: Attempt['requestHeaders'];
  body: string | null;
  /** A remark for the user. */
  note?: Child;
}

interface SidesProps {
  /** The id prefix for its parts. */
  id: string;
  /** Distinguishes it from others on the page, for screen readers. */
  name: string;
  request: Side;
  /** A string says why there is no response. */
  response: Side | string;
  curl?: string;
  /** Maximum length of a body. Default: no limit. */
  limit?: number;
}

/** Shows a response next to its request, both readable and raw. */
export function BothSides(props: SidesProps) {
  const { id, name, request, response, curl, limit = Number.POSITIVE_INFINITY } = props;
  return (
    <div class="sides">
      <div class="side">
        <h3>Response</h3>
        {typeof response === 'string' ? (
          <p class="warning">{response}</p>
        ) : (
          <OneSide side={response} id={`${id}-response`} what={`response ${name}`} limit={limit} />
        )}
      </div>
      <div class="side">
        <h3>Request</h3>
        <OneSide side={request} id={`${id}-request`} what={`request ${name}`} limit={limit} />
        {curl !== undefined && (
          <FoldedCode
            id={`${id}-curl`}
            title="Copy as curl"
            code={`${id}-curl-text`}
            text={curl}
            what={`The curl command: request ${name}`}
          />
        )}
      </div>
    </div>
  );
}

interface SideProps {
  side: Side;
  id: string;
  what: string;
  limit: number;
}

/** The body alone can be copied if the page has all of it. */
function OneSide({ side: { line, headers, body, note }, id, what, limit }: SideProps) {
  const readable = [line, body && cut(pretty(body), limit)].filter(Boolean).join('\n');
  const isWhole = body !== null && body.length <= limit;
  const raw = (
    <>
      {[line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n')}
      {'\n\n'}
      <span id={`${id}-body`}>{cut(body ?? '', limit)}</span>
    </>
  );
  return (
    <>
      <Code text={readable} what={capitalized(what)} copies={isWhole ? `${id}-body` : undefined} wraps />
      {note && <p class="soft">{note}</p>}
      {(body !== null || headers.length > 0) && (
        <FoldedCode id={id} title={`Raw ${what}`} text={raw} what={`Raw ${what}`} />
      )}
    </>
  );
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}

/** Splits a logged request into its request and response. */
export function recordedSides(recorded: RecordedRequest): { request: Side; response: Side } {
  const { method, target, requestHeaders, requestBody, status, responseBody } = recorded;
  return {
    request: { line: `${method} ${target}`, headers: Object.entries(requestHeaders), body: requestBody },
    response: { line: String(status), headers: [], body: responseBody },
  };
}

/** Splits an attempt into its request and response. */
export function attemptSides(attempt: Omit<Attempt, 'deliveryId'>): Pick<SidesProps, 'request' | 'response'> {
  const { url, requestHeaders, requestBody, responseStatus, responseHeaders, responseBody } = attempt;
  return {
    request: { line: `POST ${url}`, headers: requestHeaders, body: requestBody },
    response:
      responseStatus === null
        ? (errorOf(attempt) ?? 'no response')
        : { line: String(responseStatus), headers: responseHeaders, body: responseBody ?? '' },
  };
}
