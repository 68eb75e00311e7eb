import { curlCommand } from '../../domain/curl.ts';
import { TAMPERINGS } from '../../domain/settings.ts';
import type { Attempt, Delivery, Merchant, State } from '../../domain/state.ts';
import { verify } from '../../domain/verify.ts';
import { deliveryView } from '../control/ipns.ts';
import type { AppParts } from '../environment.ts';
import { Action, Choice, Code, Facts, Field, type Given, Heading, Status, Time } from './blocks.tsx';
import { outcomeOf } from './ipns.tsx';
import { UI } from './places.ts';
import { pretty } from './text.ts';

/** So many attempts are shown; each may have 64 KiB of answer. */
const SHOWN = 10;

/** The page of one delivery: its signature explained, and both sides of every attempt. */
export function IpnPage(props: { parts: AppParts; delivery: Delivery; given: Given }) {
  const { parts, delivery, given } = props;
  const { state } = parts.gateway;
  const attempts = state.attemptsOf(delivery.id).toReversed();
  const earlier = attempts.length - SHOWN;
  return (
    <>
      <Heading title={`IPN of ${delivery.identifier}`} place="ipns">
        <Status of={delivery.state} />
      </Heading>
      <div class="columns">
        <DeliveryFacts delivery={delivery} />
        <Send delivery={delivery} state={state} given={given} />
      </div>
      <Signature delivery={delivery} sent={attempts[0]?.requestBody ?? delivery.body} state={state} />
      <section class="box" id="attempts" aria-labelledby="attempts-name">
        <h2 id="attempts-name">Attempts</h2>
        {attempts.length === 0 && <p class="soft">Not attempted yet.</p>}
        {attempts.slice(0, SHOWN).map((attempt, index) => (
          <AttemptSides attempt={attempt} open={index === 0} />
        ))}
        {earlier > 0 && (
          <p class="soft">
            And {earlier} earlier: <code>gateway-sim ipn show {delivery.id}</code>
          </p>
        )}
      </section>
    </>
  );
}

function DeliveryFacts({ delivery }: { delivery: Delivery }) {
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
          nextAttemptAt === null ? undefined : ['Next attempt', <Time at={nextAttemptAt} />],
        ]}
      />
      {note !== null && <p class="warning">{note}</p>}
    </section>
  );
}

function Send({ delivery, state, given }: { delivery: Delivery; state: State; given: Given }) {
  const path = `${UI}/ipns/${delivery.id}`;
  return (
    <section class="box" id="send" aria-labelledby="send-name">
      <h2 id="send-name">Send it</h2>
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
        <summary>As curl</summary>
        <Code id="curl" text={curlCommand(deliveryView(delivery, state))} what="The command that posts it" />
      </details>
    </section>
  );
}

/** Checks what was sent as a careful receiver does, and shows the working. */
function Signature({ delivery, sent, state }: { delivery: Delivery; sent: string; state: State }) {
  const merchant = state.merchants.get(delivery.merchantId);
  if (!merchant) return null;
  const verdict = verify(sent, { secretKey: merchant.secretKey, others: otherKeys(merchant, state) });
  const isOldPair = delivery.signedWith !== '' && delivery.signedWith !== merchant.publicKey;
  return (
    <section class="box" id="signature" aria-labelledby="signature-name">
      <h2 id="signature-name">Signature</h2>
      <p class={`verdict ${verdict.authentic ? 'right' : 'wrong'}`}>
        {verdict.authentic
          ? `Right: upper-case hex HMAC-SHA256 of the text below, with the secret key of ${merchant.name}.`
          : `Not right for the secret key of ${merchant.name}.`}
      </p>
      {isOldPair && (
        <p class="warning">
          It was signed with the pair of {delivery.signedWith}, which was replaced since. Resend signs it
          anew.
        </p>
      )}
      {verdict.reasons.map((reason) => (
        <p class="warning">{reason}</p>
      ))}
      <Facts
        rows={[
          ['Signed text', <code>{verdict.signedText ?? delivery.signedText}</code>],
          [
            'Is made of',
            <>
              data.amount (<code>{verdict.amount ?? 'missing'}</code>) and identifier (
              <code>{verdict.identifier ?? 'missing'}</code>), nothing between
            </>,
          ],
          ['Key', `the secret key of ${merchant.name}, whose public key is ${merchant.publicKey}`],
          ['Expected', <code>{verdict.expected ?? '–'}</code>],
          ['Sent', <code>{verdict.signature ?? 'missing'}</code>],
        ]}
      />
    </section>
  );
}

/** So many other merchants are tried. */
const TRIED = 20;

/** Keys that a signature may have been made with by mistake. */
function otherKeys(own: Merchant, state: State): ReadonlyMap<string, string> {
  const others = [...state.merchants.values()].filter(({ id }) => id !== own.id).slice(0, TRIED);
  return new Map([
    ['the public key', own.publicKey],
    ...others.map(({ name, secretKey }) => [`the secret key of ${name}`, secretKey] as const),
  ]);
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
      <Code text={`${status}\n${pretty(body)}`} what={`Response ${attempt.number}`} />
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
