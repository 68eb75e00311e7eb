import { type Child, useContext } from 'hono/jsx';
import { quoted, shellWord } from '../../../contract/curl.ts';
import { insteadOfSending } from '../../../contract/describe-delivery.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { withPaymentDefaults } from '../../../contract/sample-values.ts';
import { shownHeaders } from '../../../contract/secrets.ts';
import type { Attempt } from '../../../domain/state.ts';
import { initiateForm, initiateUrl } from '../../../service/merchant.ts';
import type { AppDependencies } from '../../environment.ts';
import { Code, FoldedCode } from './blocks.tsx';
import { PageContext } from './page.tsx';
import { capitalized, pretty } from './text.ts';

/** Shows a command, ready to paste, that initiates a sandbox payment as a merchant would. */
export function SampleInitiate({ parts }: { parts: AppDependencies }) {
  const baseUrl = parts.runtime.baseUrl();
  const values = withPaymentDefaults(
    { identifier: 'order-1' },
    { baseUrl, publicKey: parts.merchants.default.publicKey },
  );
  const fields = Object.entries(initiateForm(values));
  const command = [
    `curl ${shellWord(initiateUrl(baseUrl))}`,
    ...fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
  ].join(' \\\n  ');
  return <Code id="sample" text={command} what="The command that initiates a payment" />;
}

interface Side {
  /** The first line, in short. */
  line: string;
  headers: Attempt['requestHeaders'];
  body: string | null;
  /** A remark for the user. */
  note?: Child;
}

interface Sides {
  request: Side;
  /** A string says why there is no response. */
  response: Side | string;
}

/** Maximum length of each body on a page with many bodies. */
const SHOWN_BODY = 8_192;

/**
 * Shows a response next to its request, both readable and raw.
 *
 * @param props `id`: the prefix of the ids of its parts; `name`: distinguishes it from others on the page, for screen
 *   readers; `limit`: the maximum length of a body
 */
export function BothSides(props: Sides & { id: string; name: string; curl?: string; limit?: number }) {
  const { id, name, request, response, curl, limit = SHOWN_BODY } = props;
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
        <OneSide side={request} id={`${id}-request`} what={`request ${name}`} limit={limit}>
          {curl !== undefined && (
            <FoldedCode
              id={`${id}-curl`}
              title="Copy as curl"
              code={`${id}-curl-text`}
              text={curl}
              what={`The curl command: request ${name}`}
            />
          )}
        </OneSide>
      </div>
    </div>
  );
}

/** The body alone can be copied if the page has all of it. */
function OneSide(props: { side: Side; id: string; what: string; limit: number; children?: Child }) {
  const { side, id, what, limit, children } = props;
  const { line, headers, body, note } = side;
  const { mask } = useContext(PageContext);
  const isWhole = body !== null && body.length <= limit;
  const raw = (
    <>
      {[line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n')}
      {'\n\n'}
      <span id={`${id}-body`}>{mask(body ?? '', { most: limit })}</span>
    </>
  );
  return (
    <>
      <Code
        text={[line, body && ['\n', mask(pretty(body), { most: limit })]]}
        what={capitalized(what)}
        copies={isWhole ? `${id}-body` : undefined}
        wraps
      />
      {note && <p class="soft">{note}</p>}
      <div class="folds">
        {(body !== null || headers.length > 0) && (
          <FoldedCode id={id} title="Raw" text={raw} what={`Raw ${what}`} />
        )}
        {children}
      </div>
    </>
  );
}

export function recordedSides(recorded: RecordedRequest): { request: Side; response: Side } {
  const { method, target, requestHeaders, requestBody, status, responseBody } = recorded;
  return {
    request: { line: `${method} ${target}`, headers: Object.entries(requestHeaders), body: requestBody },
    response: { line: String(status), headers: [], body: responseBody },
  };
}

export function attemptSides(attempt: Omit<Attempt, 'deliveryId'>): Sides {
  const { url, requestHeaders, requestBody, responseStatus, responseHeaders, responseBody, fault } = attempt;
  return {
    request: { line: `POST ${url}`, headers: shownHeaders(requestHeaders), body: requestBody },
    response:
      responseStatus === null
        ? 'None.'
        : {
            line: String(responseStatus),
            headers: responseHeaders,
            body: responseBody ?? '',
            note: fault && insteadOfSending(fault) && 'From your fault rule, not from your shop.',
          },
  };
}
