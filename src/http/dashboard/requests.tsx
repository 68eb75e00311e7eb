import type { Exchange } from '../../activity.ts';
import { maskedExchange } from '../control/watch.ts';
import type { AppParts } from '../environment.ts';
import { Code, Facts, Table, Time, UI } from './frame.tsx';
import { pretty } from './ipns.tsx';

const SHOWN = 100;

/** The page of the request log. */
export function RequestsPage({ parts }: { parts: AppParts }) {
  const exchanges = parts.activity.exchanges().slice(0, SHOWN);
  return (
    <>
      <h1>Requests</h1>
      <p class="soft">
        What reached the service, newest first, and what it was answered. Secrets are masked.
      </p>
      <div id="requests" data-live>
        {exchanges.length > 0 ? (
          <div class="box">
            <Table
              id="request-list"
              label="Requests, newest first"
              columns={['Request', 'Status', 'Time', 'At (UTC)']}
            >
              {exchanges.map((exchange) => (
                <tr>
                  <th scope="row">
                    <a href={`${UI}/requests/${exchange.id}`}>
                      {exchange.method} {exchange.target.split('?', 1)[0]}
                    </a>
                    {exchange.notes.map((note) => (
                      <span class="warning">{note}</span>
                    ))}
                  </th>
                  <td>{exchange.status}</td>
                  <td>{exchange.durationMs} ms</td>
                  <td>
                    <Time at={exchange.at} />
                  </td>
                </tr>
              ))}
            </Table>
          </div>
        ) : (
          <section class="box empty">
            <h2>No request yet</h2>
            <p>The command under Api Key, above, makes one.</p>
          </section>
        )}
      </div>
    </>
  );
}

/** The page of one request. */
export function RequestPage({ parts, exchange }: { parts: AppParts; exchange: Exchange }) {
  const shown = maskedExchange(exchange, parts.gateway.state);
  const headers = Object.entries(shown.requestHeaders).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <div class="heading">
        <h1>
          {shown.method} {shown.target.split('?', 1)[0]}
        </h1>
        <a href={`${UI}/requests`}>Back to the list</a>
      </div>
      <section class="box" aria-label="Summary">
        <Facts
          rows={[
            ['Status', String(shown.status)],
            ['At (UTC)', <Time at={shown.at} />],
            ['Took', `${shown.durationMs} ms`],
            ['Address', <code>{shown.target}</code>],
            ...(shown.paymentId === null
              ? []
              : ([
                  ['Payment', <a href={`${UI}/payments/${shown.paymentId}`}>{shown.paymentId}</a>],
                ] as const)),
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
          <Code text={pretty(shown.requestBody ?? '')} what="Body of the request" />
          <details>
            <summary>Raw body</summary>
            <Code text={shown.requestBody ?? ''} what="Raw body of the request" />
          </details>
        </section>
        <section class="box" aria-labelledby="answer">
          <h2 id="answer">Answer</h2>
          <Code text={pretty(shown.responseBody ?? '')} what="Body of the answer" />
        </section>
      </div>
    </>
  );
}

/** The page of the verification codes. */
export function InboxPage({ parts }: { parts: AppParts }) {
  const messages = parts.gateway.state.messages.page(SHOWN, undefined, () => true).data;
  return (
    <>
      <h1>Inbox</h1>
      <p class="soft">Verification codes that were "sent" to customers of live payments, newest first.</p>
      <div id="inbox" data-live>
        {messages.length > 0 ? (
          <div class="box">
            <Table
              id="message-list"
              label="Codes, newest first"
              columns={['E-mail', 'Code', 'Payment', 'Sent (UTC)', 'Valid until (UTC)']}
            >
              {messages.map((message) => (
                <tr>
                  <th scope="row">{message.email}</th>
                  <td>
                    <code>{message.code}</code>
                  </td>
                  <td>
                    <a href={`${UI}/payments/${message.paymentId}`}>{message.identifier}</a>
                  </td>
                  <td>
                    <Time at={message.sentAt} />
                  </td>
                  <td>
                    <Time at={message.expiresAt} />
                  </td>
                </tr>
              ))}
            </Table>
          </div>
        ) : (
          <section class="box empty">
            <h2>No code yet</h2>
            <p>
              The checkout of a live payment sends one when it gets the e-mail of a wallet:{' '}
              <code>gateway-sim payments create --live --open</code>
            </p>
          </section>
        )}
      </div>
    </>
  );
}
