import { curlCommand } from '../../../contract/curl.ts';
import { command } from '../../../contract/hint.ts';
import { TAMPERINGS } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, State } from '../../../domain/state.ts';
import { deliveryView } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { Code, CopyButton, FactsBox, FoldedCode, More, Section, Status, Time } from './blocks.tsx';
import { Form, type FormValues } from './forms.tsx';
import { describeAttempt } from './ipns.tsx';
import { recordPath } from './navigation.ts';
import { type PageRenderer, recordPage } from './page.tsx';
import { Signature } from './signature.tsx';
import { pretty } from './text.ts';

/** Maximum attempts shown; each may have 64 KiB of response. */
const SHOWN = 10;

/** The page of one delivery: its signature explained, and both sides of every attempt. */
export const ipnPage: PageRenderer = ({ parts, id, given }) => {
  const { current: state } = parts.state;
  const delivery = parts.ipns.require(id);
  const attempts = state.attemptsOf(delivery.id).toReversed();
  return recordPage({
    place: 'ipns',
    id: delivery.id,
    title: `IPN of ${delivery.identifier}`,
    status: <Status of={delivery.state} />,
    sections: (
      <>
        <div class="columns uneven">
          <Send delivery={delivery} state={state} given={given} />
          <DeliveryFacts delivery={delivery} lastError={attempts[0]?.error ?? null} />
        </div>
        <Attempts parts={parts} id={delivery.id} attempts={attempts} />
        <Signature parts={parts} delivery={delivery} sent={attempts[0]?.requestBody ?? delivery.body} />
      </>
    ),
  });
};

function DeliveryFacts({ delivery, lastError }: { delivery: Delivery; lastError: string | null }) {
  const { paymentId, nextAttemptAt, note } = delivery;
  return (
    <FactsBox
      id="ipn"
      label="IPN"
      rows={[
        ['To', <code>{delivery.url}</code>],
        ['Carries status', <code>{delivery.status}</code>],
        ['Delivery', <code>{delivery.id}</code>],
        ['Payment', paymentId && <a href={recordPath('payments', paymentId)}>{paymentId}</a>],
        ['Created (UTC)', <Time at={delivery.createdAt} />],
        ['Next attempt (UTC)', nextAttemptAt && <Time at={nextAttemptAt} />],
      ]}
    >
      {note !== null && note !== lastError && <p class="warning">{note}</p>}
    </FactsBox>
  );
}

/** It takes the focus: a press on Resend comes back to here. */
function Send({ delivery, state, given }: { delivery: Delivery; state: State; given: FormValues }) {
  const path = recordPath('ipns', delivery.id);
  const last = state.attemptsOf(delivery.id).at(-1);
  return (
    <section class="box" id="send" tabindex={-1} aria-labelledby="send-name">
      <h2 id="send-name">Send it</h2>
      <p id="outcome" role="status">
        {last ? <Outcome attempt={last} /> : 'Not attempted yet.'}
      </p>
      <Form to={`${path}/resend`} hidden={{ from: path }} submit="Resend" look="primary">
        <span class="soft">The same once more: one further attempt.</span>
      </Form>
      <Form
        to={`${path}/resend`}
        label="Somewhere else"
        given={given}
        fields={[
          {
            name: 'to',
            label: 'Another address',
            type: 'url',
            wide: true,
            value: delivery.url,
            required: true,
            placeholder: 'http://localhost:3000/ipn',
          },
        ]}
        submit="Send there"
      />
      <Form
        to={`${path}/tamper`}
        label="Falsified"
        given={given}
        fields={[{ name: 'tamper', label: 'Falsify, so that it must be refused', options: TAMPERINGS }]}
        submit="Send falsified"
      />
      <FoldedCode
        id="ipn-curl"
        title="Copy as curl"
        code="curl"
        text={curlCommand(deliveryView(delivery, state))}
        what="The command that posts it"
      />
    </section>
  );
}

function Outcome({ attempt }: { attempt: Attempt }) {
  const verdict = attempt.error === null ? 'right' : 'wrong';
  return (
    <>
      Attempt {attempt.number}: <strong class={`verdict ${verdict}`}>{describeAttempt(attempt)}</strong>{' '}
      <span class="soft">
        <Time at={attempt.startedAt} zone />
      </span>
    </>
  );
}

function Attempts(props: { parts: AppParts; id: string; attempts: readonly Attempt[] }) {
  const { parts, id, attempts } = props;
  return (
    <Section id="attempts" title="Attempts">
      {attempts.length === 0 && <p class="soft">Not attempted yet.</p>}
      {attempts.slice(0, SHOWN).map((attempt, index) => (
        <AttemptSides attempt={attempt} open={index === 0} />
      ))}
      <More
        id="earlier"
        count={attempts.length - SHOWN}
        parts={parts}
        run={command('ipn show', id)}
        what="attempts"
      />
    </Section>
  );
}

/** Both sides of an attempt, for reading and byte by byte. */
function AttemptSides({ attempt, open }: { attempt: Attempt; open: boolean }) {
  const { number, url, requestHeaders, requestBody, responseStatus, responseHeaders } = attempt;
  const responseBody = attempt.responseBody ?? '';
  const id = `attempt-${number}`;
  const raw = (
    <>
      {`POST ${url}\n${headerLines(requestHeaders)}\n\n`}
      <span id={`${id}-body`}>{requestBody}</span>
    </>
  );
  const rawResponse = `${responseStatus}\n${headerLines(responseHeaders)}\n\n${responseBody}`;
  return (
    <details id={id} open={open}>
      <summary>
        <Outcome attempt={attempt} />
      </summary>
      <div class="sides">
        <div class="side">
          <h3>Request</h3>
          <Code text={pretty(requestBody)} what={`Body of request ${number}`} wraps />
          <CopyButton target={`${id}-body`} what={`the body of request ${number} as sent`} />
          <FoldedCode id={`${id}-request`} title="Raw request" text={raw} what={`Raw request ${number}`} />
        </div>
        <div class="side">
          <h3>Response</h3>
          {responseStatus === null ? (
            <p class="warning">{attempt.error}</p>
          ) : (
            <>
              <Code text={`${responseStatus}\n${pretty(responseBody)}`} what={`Response ${number}`} wraps />
              <FoldedCode
                id={`${id}-response`}
                title="Raw response"
                text={rawResponse}
                what={`Raw response ${number}`}
              />
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
