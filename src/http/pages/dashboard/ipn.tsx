import { TAMPERINGS } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, State } from '../../../domain/state.ts';
import { curlCommand } from '../../../wire/curl.ts';
import { deliveryView } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import {
  Action,
  Choice,
  Code,
  CopyButton,
  Facts,
  Field,
  type FormValues,
  Heading,
  Status,
  Time,
} from './blocks.tsx';
import { outcomeOf } from './ipns.tsx';
import { UI } from './navigation.ts';
import { Signature } from './signature.tsx';
import { pretty } from './text.ts';

/** So many attempts are shown; each may have 64 KiB of answer. */
const SHOWN = 10;

/** The page of one delivery: its signature explained, and both sides of every attempt. */
export function IpnPage(props: { parts: AppParts; delivery: Delivery; given: FormValues }) {
  const { parts, delivery, given } = props;
  const { state } = parts.gateway;
  const attempts = state.attemptsOf(delivery.id).toReversed();
  const earlier = attempts.length - SHOWN;
  return (
    <>
      <Heading title={`IPN of ${delivery.identifier}`} place="ipns">
        <Status of={delivery.state} />
      </Heading>
      <div class="columns uneven">
        <Send delivery={delivery} state={state} given={given} />
        <DeliveryFacts delivery={delivery} lastError={attempts[0]?.error ?? null} />
      </div>
      <section class="box" id="attempts" aria-labelledby="attempts-name">
        <h2 id="attempts-name">Attempts</h2>
        {attempts.length === 0 && <p class="soft">Not attempted yet.</p>}
        {attempts.slice(0, SHOWN).map((attempt, index) => (
          <AttemptSides attempt={attempt} open={index === 0} />
        ))}
        {earlier > 0 && (
          <>
            <p class="soft">And {earlier} earlier:</p>
            <Code
              id="earlier"
              text={parts.facts.command(`gateway-sim ipn show ${delivery.id}`)}
              what="The command that shows all attempts"
            />
          </>
        )}
      </section>
      <Signature delivery={delivery} sent={attempts[0]?.requestBody ?? delivery.body} state={state} />
    </>
  );
}

function DeliveryFacts({ delivery, lastError }: { delivery: Delivery; lastError: string | null }) {
  const { paymentId, nextAttemptAt, note } = delivery;
  return (
    <section class="box" id="ipn" aria-label="IPN">
      <Facts
        rows={[
          ['To', <code>{delivery.url}</code>],
          ['Carries status', <code>{delivery.status}</code>],
          ['Delivery', <code>{delivery.id}</code>],
          paymentId === null
            ? undefined
            : ['Payment', <a href={`${UI}/payments/${paymentId}`}>{paymentId}</a>],
          ['Created (UTC)', <Time at={delivery.createdAt} />],
          nextAttemptAt === null ? undefined : ['Next attempt (UTC)', <Time at={nextAttemptAt} />],
        ]}
      />
      {note !== null && note !== lastError && <p class="warning">{note}</p>}
    </section>
  );
}

function Send({ delivery, state, given }: { delivery: Delivery; state: State; given: FormValues }) {
  const path = `${UI}/ipns/${delivery.id}`;
  const last = state.attemptsOf(delivery.id).at(-1);
  return (
    <section class="box" id="send" tabindex={-1} aria-labelledby="send-name">
      <h2 id="send-name">Send it</h2>
      {/* A press on Resend comes back to here. */}
      <p id="outcome" role="status">
        {last ? <Outcome attempt={last} /> : 'Not attempted yet.'}
      </p>
      <Action to={`${path}/resend`} inline>
        <input type="hidden" name="from" value={path} />
        <button type="submit">Resend</button>
        <span class="soft">The same once more: one further attempt.</span>
      </Action>
      <Action to={`${path}/resend`} label="Somewhere else">
        <Field
          name="to"
          label="Another address"
          type="url"
          wide
          value={given['to'] ?? delivery.url}
          hint="http://localhost:3000/ipn"
          required
        />
        <button type="submit" class="plain">
          Send there
        </button>
      </Action>
      <Action to={`${path}/tamper`} label="Falsified">
        <Choice
          name="tamper"
          label="Falsify, so that it must be refused"
          value={given['tamper']}
          options={TAMPERINGS.map((one) => [one, one])}
        />
        <button type="submit" class="plain">
          Send falsified
        </button>
      </Action>
      <details id="ipn-curl">
        <summary>Copy as curl</summary>
        <Code id="curl" text={curlCommand(deliveryView(delivery, state))} what="The command that posts it" />
      </details>
    </section>
  );
}

function Outcome({ attempt }: { attempt: Attempt }) {
  return (
    <>
      Attempt {attempt.number}:{' '}
      <strong class={`verdict ${attempt.error === null ? 'right' : 'wrong'}`}>{outcomeOf(attempt)}</strong>{' '}
      <span class="soft">
        <Time at={attempt.startedAt} zone />
      </span>
    </>
  );
}

function AttemptSides({ attempt, open }: { attempt: Attempt; open: boolean }) {
  const name = `attempt-${attempt.number}`;
  return (
    <details id={name} open={open}>
      <summary>
        <Outcome attempt={attempt} />
      </summary>
      <div class="sides">
        <div class="side">
          <h3>Request</h3>
          <Code text={pretty(attempt.requestBody)} what={`Body of request ${attempt.number}`} wraps />
          <CopyButton target={`${name}-body`} what={`the body of request ${attempt.number} as sent`} />
          <details id={`${name}-request`}>
            <summary>Raw request</summary>
            <Code
              text={
                <>
                  {`POST ${attempt.url}\n${headerLines(attempt.requestHeaders)}\n\n`}
                  <span id={`${name}-body`}>{attempt.requestBody}</span>
                </>
              }
              what={`Raw request ${attempt.number}`}
            />
          </details>
        </div>
        <div class="side">
          <h3>Response</h3>
          {attempt.responseStatus === null ? (
            <p class="warning">{attempt.error}</p>
          ) : (
            <Response attempt={attempt} status={attempt.responseStatus} name={name} />
          )}
        </div>
      </div>
    </details>
  );
}

function Response({ attempt, status, name }: { attempt: Attempt; status: number; name: string }) {
  const body = attempt.responseBody ?? '';
  return (
    <>
      <Code text={`${status}\n${pretty(body)}`} what={`Response ${attempt.number}`} wraps />
      <details id={`${name}-response`}>
        <summary>Raw response</summary>
        <Code
          text={`${status}\n${headerLines(attempt.responseHeaders)}\n\n${body}`}
          what={`Raw response ${attempt.number}`}
        />
      </details>
    </>
  );
}

function headerLines(headers: Attempt['requestHeaders']): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join('\n');
}
