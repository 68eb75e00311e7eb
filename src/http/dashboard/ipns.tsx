import { curlCommand } from '../../domain/curl.ts';
import { TAMPERINGS } from '../../domain/fire.ts';
import { type Attempt, DELIVERY_STATES, type Delivery, type State } from '../../domain/state.ts';
import { verify } from '../../domain/verify.ts';
import { deliveryView } from '../control/ipns.ts';
import type { AppParts } from '../environment.ts';
import { DeliveryTimes } from './chart.tsx';
import { Action, Choice, Code, Facts, Field, More, PER_PAGE, Status, Table, Time, UI } from './frame.tsx';

/** What a list of IPNs is narrowed to. */
export interface DeliveryFilter {
  state?: string | undefined;
  cursor?: string | undefined;
}

/** So many attempts stand in the chart. */
const CHARTED = 60;

/** The page of the IPNs. */
export function IpnsPage({ parts, filter }: { parts: AppParts; filter: DeliveryFilter }) {
  const { state } = parts.gateway;
  const page = state.deliveries.page(
    PER_PAGE,
    filter.cursor,
    (delivery) => !filter.state || delivery.state === filter.state,
  );
  const attempts = state.attempts.page(CHARTED, undefined, () => true).data.toReversed();
  return (
    <>
      <h1>IPNs</h1>
      <div id="ipn-times" data-live class={attempts.length ? 'box' : undefined}>
        {attempts.length > 0 && <DeliveryTimes attempts={attempts} />}
      </div>
      {state.deliveries.size > 0 && (
        <search>
          <form class="form" method="get" action={`${UI}/ipns`} aria-label="Filter">
            <Choice
              name="state"
              label="State"
              value={filter.state ?? ''}
              options={[['', 'any'], ...DELIVERY_STATES.map((one) => [one, one] as const)]}
            />
            <button type="submit" class="plain">
              Filter
            </button>
          </form>
        </search>
      )}
      <div id="ipns" data-live>
        {page.data.length > 0 ? (
          <div class="box">
            <Table
              id="ipn-list"
              label="IPNs, newest first"
              columns={['IPN', 'To', 'State', 'Attempts', 'Last', 'Action']}
            >
              {page.data.map((delivery) => (
                <DeliveryRow delivery={delivery} state={state} from={`${UI}/ipns`} />
              ))}
            </Table>
          </div>
        ) : (
          <section class="box empty">
            <h2>{state.deliveries.size ? 'No IPN fits' : 'No IPN yet'}</h2>
            <p>
              Settling a payment sends one. To receive and check them run <code>gateway-sim ipn listen</code>,
              to make one by hand{' '}
              <code>gateway-sim ipn fire --to http://localhost:3000/ipn --amount 49.90</code>.
            </p>
          </section>
        )}
        <More path={`${UI}/ipns`} query={filter} cursor={page.nextCursor} />
      </div>
    </>
  );
}

/** A delivery as a row, with the button that sends it once more. */
export function DeliveryRow({ delivery, state, from }: { delivery: Delivery; state: State; from: string }) {
  const last = state.attemptsOf(delivery.id).at(-1);
  return (
    <tr>
      <th scope="row">
        <a href={`${UI}/ipns/${delivery.id}`}>{delivery.identifier}</a>
        <span class="soft"> {delivery.status}</span>
      </th>
      <td class="long">
        <code>{delivery.url}</code>
      </td>
      <td>
        <Status of={delivery.state} />
      </td>
      <td>{delivery.attemptCount}</td>
      <td class="long">
        {last ? outcomeOf(last) : (delivery.note ?? 'not attempted yet')}
        {delivery.nextAttemptAt !== null && (
          <span class="soft">
            {' '}
            next at <Time at={delivery.nextAttemptAt} />
          </span>
        )}
      </td>
      <td>
        <Action to={`${UI}/ipns/${delivery.id}/resend`} inline>
          <input type="hidden" name="from" value={from} />
          <button type="submit" class="plain">
            Resend
          </button>
        </Action>
      </td>
    </tr>
  );
}

function outcomeOf({ error, responseStatus, durationMs }: Attempt): string {
  return `${error ?? `answered ${responseStatus}`} (${Math.round(durationMs)} ms)`;
}

/** The page of one delivery: its signature explained, and both sides of every attempt. */
export function IpnPage({ parts, delivery }: { parts: AppParts; delivery: Delivery }) {
  const { state } = parts.gateway;
  const path = `${UI}/ipns/${delivery.id}`;
  const attempts = state.attemptsOf(delivery.id).toReversed();
  return (
    <>
      <div class="heading">
        <h1>IPN of {delivery.identifier}</h1>
        <a href={`${UI}/ipns`}>Back to the list</a>
      </div>
      <div class="columns">
        <section class="box" aria-label="IPN" id="ipn" data-live>
          <Facts
            rows={[
              ['State', <Status of={delivery.state} />],
              ['To', <code>{delivery.url}</code>],
              ['Carries status', <code>{delivery.status}</code>],
              ['Delivery', <code>{delivery.id}</code>],
              ...(delivery.paymentId === null
                ? []
                : ([
                    ['Payment', <a href={`${UI}/payments/${delivery.paymentId}`}>{delivery.paymentId}</a>],
                  ] as const)),
              ['Created (UTC)', <Time at={delivery.createdAt} />],
              ...(delivery.nextAttemptAt === null
                ? []
                : ([['Next attempt', <Time at={delivery.nextAttemptAt} />]] as const)),
            ]}
          />
          {delivery.note !== null && <p class="warning">{delivery.note}</p>}
        </section>
        <section class="box" aria-labelledby="send">
          <h2 id="send">Send it</h2>
          <Action to={`${path}/resend`} inline>
            <input type="hidden" name="from" value={path} />
            <button type="submit">Resend</button>
          </Action>
          <Action to={`${path}/resend`} label="Somewhere else">
            <Field name="to" label="Another address" type="url" value={delivery.url} required />
            <button type="submit" class="plain">
              Send there
            </button>
          </Action>
          <Action to={`${path}/tamper`} label="Falsified">
            <Choice
              name="tamper"
              label="Falsify, so that it must be refused"
              options={TAMPERINGS.map((one) => [one, one])}
            />
            <button type="submit" class="plain">
              Send falsified
            </button>
          </Action>
          <details id="ipn-curl">
            <summary>As curl</summary>
            <Code
              id="curl"
              text={curlCommand(deliveryView(delivery, state))}
              what="The command that posts it"
            />
          </details>
        </section>
      </div>
      <Signature delivery={delivery} state={state} />
      <section class="box" aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        <div id="attempt-list" data-live>
          {attempts.length === 0 && <p class="soft">Not attempted yet.</p>}
          {attempts.map((attempt, index) => (
            <AttemptSides attempt={attempt} open={index === 0} />
          ))}
        </div>
      </section>
    </>
  );
}

function Signature({ delivery, state }: { delivery: Delivery; state: State }) {
  const merchant = state.merchants.get(delivery.merchantId);
  if (!merchant) return null;
  const others = new Map([['the public key', merchant.publicKey]]);
  const verdict = verify(delivery.body, { secretKey: merchant.secretKey, others });
  return (
    <section class="box" aria-labelledby="signature">
      <h2 id="signature">Signature</h2>
      <p>
        {verdict.authentic
          ? `Right: upper-case hex HMAC-SHA256 of the text below, with the secret key of ${merchant.name}.`
          : `Not right for the secret key of ${merchant.name}.`}
      </p>
      {verdict.reasons.map((reason) => (
        <p class="warning">{reason}</p>
      ))}
      <Facts
        rows={[
          ['Signed text', <code>{verdict.signedText ?? delivery.signedText}</code>],
          [
            'Is made of',
            `data.amount (${verdict.amount ?? 'missing'}) and identifier (${verdict.identifier ?? 'missing'})`,
          ],
          ['In the IPN', <code>{verdict.signature ?? 'missing'}</code>],
          ['Expected', <code>{verdict.expected ?? '–'}</code>],
        ]}
      />
    </section>
  );
}

function AttemptSides({ attempt, open }: { attempt: Attempt; open: boolean }) {
  const name = `attempt-${attempt.number}`;
  return (
    <details id={name} open={open}>
      <summary>
        Attempt {attempt.number}: <strong>{outcomeOf(attempt)}</strong>{' '}
        <span class="soft">
          <Time at={attempt.startedAt} />
        </span>
      </summary>
      <div class="sides">
        <div class="side">
          <h3>Request</h3>
          <Code text={pretty(attempt.requestBody)} what={`Body of request ${attempt.number}`} />
          <details id={`${name}-request`}>
            <summary>Raw request</summary>
            <Code
              text={`POST ${attempt.url}\n${headerLines(attempt.requestHeaders)}\n\n${attempt.requestBody}`}
              what={`Raw request ${attempt.number}`}
            />
          </details>
        </div>
        <div class="side">
          <h3>Response</h3>
          {attempt.responseStatus === null ? (
            <p class="warning">{attempt.error}</p>
          ) : (
            <>
              <Code
                text={`${attempt.responseStatus}\n${pretty(attempt.responseBody ?? '')}`}
                what={`Response ${attempt.number}`}
              />
              <details id={`${name}-response`}>
                <summary>Raw response</summary>
                <Code
                  text={`${attempt.responseStatus}\n${headerLines(attempt.responseHeaders)}\n\n${attempt.responseBody ?? ''}`}
                  what={`Raw response ${attempt.number}`}
                />
              </details>
            </>
          )}
        </div>
      </div>
    </details>
  );
}

function headerLines(headers: Attempt['requestHeaders']): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}

/** A body for reading: JSON indented, a form one decoded field a line, anything else as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    const isForm = /^[\w%.+*~[\]-]+=[^\s]*$/.test(body);
    if (!isForm) return body;
    return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${value}`).join('\n');
  }
}
