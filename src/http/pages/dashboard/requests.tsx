import type { RecordedRequest } from '../../../contract/event.ts';
import { defaultMerchant } from '../../../domain/merchant.ts';
import { maskedRequest } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { Code, Facts, Heading, Pages, Time } from './blocks.tsx';
import { PER_PAGE, UI } from './navigation.ts';
import { sampleInitiate } from './samples.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';
import { pretty } from './text.ts';

/** The page of the request log. */
export function RequestsPage({ parts, cursor }: { parts: AppParts; cursor?: string | undefined }) {
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  const rest = parts.activity.exchanges().filter(({ id }) => id < before);
  const shown = rest.slice(0, PER_PAGE);
  const next = rest.length > PER_PAGE ? String(shown.at(-1)?.id) : null;
  return (
    <>
      <h1>Requests</h1>
      <p class="soft">
        What reached the service, newest first, what it was answered, and what the developer should know.
        Secrets are masked.
      </p>
      {shown.length > 0 ? (
        <div class="box" id="requests">
          <Table
            id="request-list"
            label="Requests, newest first"
            columns={['Request', 'Status', 'Payment', 'Time', 'At (UTC)']}
          >
            {shown.map((exchange) => (
              <RequestRow parts={parts} exchange={exchange} />
            ))}
          </Table>
        </div>
      ) : (
        <NoRequests parts={parts} />
      )}
      <Pages place="requests" query={{ cursor }} next={next} />
    </>
  );
}

function NoRequests({ parts }: { parts: AppParts }) {
  const { publicKey } = defaultMerchant(parts.gateway.state);
  return (
    <section class="box empty" id="no-request" aria-labelledby="none">
      <h2 id="none">No request yet</h2>
      <p>This makes one:</p>
      <Code
        id="sample"
        text={sampleInitiate(parts.facts.baseUrl(), publicKey)}
        what="The command that initiates a payment"
      />
    </section>
  );
}

function RequestRow({ parts, exchange }: { parts: AppParts; exchange: RecordedRequest }) {
  const { id, method, target, notes, status, paymentId, durationMs, at } = exchange;
  const payment = paymentId === null ? undefined : parts.gateway.state.payments.get(paymentId);
  return (
    <Row name={String(id)}>
      <RowHead>
        <a href={`${UI}/requests/${id}`}>
          {method} {target.split('?', 1)[0]}
        </a>
        {notes.map((note) => (
          <span class="warning">{note}</span>
        ))}
      </RowHead>
      <Cell>
        <Answer status={status} body={exchange.responseBody} />
      </Cell>
      <Cell>
        {payment ? (
          <a href={`${UI}/payments/${payment.id}`}>{payment.identifier}</a>
        ) : (
          <span class="soft">–</span>
        )}
      </Cell>
      <Cell>{durationMs} ms</Cell>
      <Cell>
        <Time at={at} />
      </Cell>
    </Row>
  );
}

/** A status, and whether it is a refusal: of initiate many are 200. */
function Answer({ status, body }: { status: number; body: string | null }) {
  const isRefusal = status >= 400 || body?.startsWith('{"error"') === true;
  return (
    <span
      class={`status ${isRefusal ? 'failed' : 'succeeded'}`}
    >{`${status}${isRefusal ? ' refused' : ''}`}</span>
  );
}

/** The page of one request. */
export function RequestPage({ parts, exchange }: { parts: AppParts; exchange: RecordedRequest }) {
  const shown = maskedRequest(exchange, parts.gateway.state);
  const headers = Object.entries(shown.requestHeaders).map(([name, value]) => `${name}: ${value}`);
  const { paymentId } = shown;
  return (
    <>
      <Heading title={`${shown.method} ${shown.target.split('?', 1)[0]}`} place="requests">
        <Answer status={shown.status} body={exchange.responseBody} />
      </Heading>
      <section class="box" aria-label="Summary">
        <Facts
          rows={[
            ['At (UTC)', <Time at={shown.at} precise />],
            ['Took', `${shown.durationMs} ms`],
            ['Address', <code>{shown.target}</code>],
            paymentId === null
              ? undefined
              : ['Payment', <a href={`${UI}/payments/${paymentId}`}>{paymentId}</a>],
          ]}
        />
        {shown.notes.map((note) => (
          <p class="warning">{note}</p>
        ))}
      </section>
      <div class="sides">
        <section class="box" aria-labelledby="request">
          <h2 id="request">Request</h2>
          <Code text={headers.join('\n')} what="Headers of the request" />
          <Body text={shown.requestBody} what="request" />
        </section>
        <section class="box" aria-labelledby="answer">
          <h2 id="answer">Answer</h2>
          <Body text={shown.responseBody} what="answer" />
        </section>
      </div>
    </>
  );
}

function Body({ text, what }: { text: string | null; what: string }) {
  if (!text) return <p class="soft">No body.</p>;
  const read = pretty(text);
  return (
    <>
      <Code text={read} what={`Body of the ${what}`} />
      {read !== text && (
        <details id={`raw-${what}`}>
          <summary>Raw body</summary>
          <Code text={text} what={`Raw body of the ${what}`} />
        </details>
      )}
    </>
  );
}
