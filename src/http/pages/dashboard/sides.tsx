import type { Child } from 'hono/jsx';
import { errorOf } from '../../../contract/describe-delivery.ts';
import type { Attempt } from '../../../domain/state.ts';
import { Code, FoldedCode } from './blocks.tsx';
import { pretty } from './text.ts';

/** A request or a response. */
export interface Side {
  /** The first line, shortened. */
  line: string;
  headers: Attempt['requestHeaders'];
  body: string | null;
  /** A remark for the user. */
  note?: Child;
}

interface SidesProps {
  /** The prefix of the ids of its parts. */
  id: string;
  /** Distinguishes it from others on the page, for screen readers. */
  name: string;
  request: Side;
  /** A text if there is no response: the reason. */
  response: Side | string;
  curl?: string;
  /** Maximum characters of a body. Default: all. */
  limit?: number;
}

/** A response next to its request, readable and raw. */
export function BothSides({
  id,
  name,
  request,
  response,
  curl,
  limit = Number.POSITIVE_INFINITY,
}: SidesProps) {
  return (
    <div class="sides">
      <div class="side">
        <h3>Response</h3>
        {typeof response === 'string' ? (
          <p class="warning">{response}</p>
        ) : (
          <ResponseSide side={response} id={id} name={name} limit={limit} />
        )}
      </div>
      <div class="side">
        <h3>Request</h3>
        <Readable
          side={request}
          what={`Request ${name}`}
          limit={limit}
          copies={request.body !== null && request.body.length <= limit ? `${id}-body` : undefined}
        />
        {request.headers.length > 0 && (
          <FoldedCode
            id={`${id}-request`}
            title="Raw request"
            text={<Raw side={request} id={`${id}-body`} limit={limit} />}
            what={`Raw request ${name}`}
          />
        )}
        {curl !== undefined && (
          <FoldedCode
            id={`${id}-curl`}
            title="Copy as curl"
            code={`${id}-curl-text`}
            text={curl}
            what={`The command that sends request ${name} again`}
          />
        )}
      </div>
    </div>
  );
}

function ResponseSide({ side, id, name, limit }: BodyProps & Pick<SidesProps, 'id' | 'name'>) {
  return (
    <>
      <Readable side={side} what={`Response ${name}`} limit={limit} />
      {side.body !== null && (
        <FoldedCode
          id={`${id}-response`}
          title="Raw response"
          text={<Raw side={side} limit={limit} />}
          what={`Raw response ${name}`}
        />
      )}
    </>
  );
}

interface BodyProps {
  side: Side;
  limit: number;
}

function Readable({ side, what, limit, copies }: BodyProps & { what: string; copies?: string | undefined }) {
  const { line, body, note } = side;
  const text = [line, body && cut(pretty(body), limit)].filter(Boolean).join('\n');
  return (
    <>
      <Code text={text} what={what} copies={copies} wraps />
      {note && <p class="soft">{note}</p>}
    </>
  );
}

/** With an `id`, the body can be copied alone. */
function Raw({ side, id, limit }: BodyProps & { id?: string }) {
  const headers = side.headers.map(([name, value]) => `${name}: ${value}\n`).join('');
  return (
    <>
      {`${side.line}\n${headers}\n`}
      <span id={id}>{cut(side.body ?? '', limit)}</span>
    </>
  );
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}

/** The request and response of an attempt. */
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
