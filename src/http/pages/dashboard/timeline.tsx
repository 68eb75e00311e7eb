import { curlRequest } from '../../../contract/curl.ts';
import { duration } from '../../../contract/duration.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { command } from '../../../contract/hint.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import { SETTLERS, TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { Step } from '../../../usecases/story.ts';
import { maskedRequest } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { Code, Copyable, More, Section, Time } from './blocks.tsx';
import { recordPath } from './page.tsx';
import { Replay, requireRecorded } from './requests.tsx';
import { curlOf } from './samples.tsx';
import { BothSides, recordedSides, SHOWN_BODY } from './sides.tsx';

/** Maximum number of steps shown. The first are kept. */
const SHOWN = 60;

/** Shows what the shop and the customer did, without IPN attempts. A link to a step expands it. */
export function Timeline(props: { steps: readonly Step[]; payment: Payment; parts: AppParts }) {
  const { steps, payment, parts } = props;
  const ofCheckout = steps.filter(({ ipn }) => !ipn);
  const begin = Date.parse(payment.createdAt);
  return (
    <Section
      id="story"
      title={[
        'Checkout ',
        <span class="soft">
          from <Time at={payment.createdAt} precise zone />
        </span>,
      ]}
    >
      <ol class="steps">
        {ofCheckout.slice(0, SHOWN).map((step) => (
          <li data-key={step.id}>
            <details open={step === ofCheckout[0] && ofCheckout.length === steps.length}>
              <summary>
                <time class="offset" datetime={timestamp(step.at)}>
                  +{step.at === begin ? '0 s' : duration(step.at - begin)}
                </time>
                <span class="what">
                  <strong class={REFUSALS.has(step.event) ? 'bad' : undefined}>{titleOf(step)}</strong>{' '}
                  <span class="soft">{detailOf(step)}</span>
                </span>
                <span class="took soft">{step.end > step.at && duration(step.end - step.at)}</span>
              </summary>
              <div class="details" id={step.id}>
                <StepDetails step={step} payment={payment} parts={parts} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      <More
        id="show"
        count={ofCheckout.length - SHOWN}
        run={command('payments show', payment.id)}
        of="steps"
      />
    </Section>
  );
}

const REFUSALS: ReadonlySet<Step['event']> = new Set(['email_refused', 'code_refused']);

function titleOf({ id, event, request }: Step): string {
  if (event === 'requested') return `${request?.method} ${request?.target.split('?', 1)[0]}`;
  return event === 'opened' && id !== 'step-opened-1' ? 'Page shown again' : TIMELINE_EVENTS[event];
}

function detailOf({ event, detail, request, views = 1 }: Step): string {
  if (event === 'requested') return String(request?.status);
  return event === 'opened' && views > 1 ? `shown ${views} times` : (detail ?? '');
}

interface StepProps {
  step: Step;
  payment: Payment;
  parts: AppParts;
}

/** Shows the details of a step: its request and response, and its actions. */
function StepDetails({ step, payment, parts }: StepProps) {
  const { id, event, detail, request, requestedBy } = step;
  if (request) return <Requested step={step} request={request} parts={parts} />;
  if (event === 'initiated') return <Rebuilt step={step} payment={payment} parts={parts} />;
  return (
    <>
      {event === 'redirected' && detail !== null && (
        <Code
          id={`${id}-curl-text`}
          text={curlRequest({ url: detail, headers: [] })}
          what="The command that opens the page"
        />
      )}
      {event === 'code_sent' && <SentCode step={step} payment={payment} parts={parts} />}
      <p class="soft">
        {requestedBy ? (
          <>
            Part of the request in <a href={`#${requestedBy}`}>this step</a>.
          </>
        ) : (
          withoutRequest(step, payment)
        )}
      </p>
    </>
  );
}

function SentCode({ step, payment, parts }: StepProps) {
  const sent = parts.checkout.messagesOf(payment.id).find(({ sentAt }) => Date.parse(sentAt) === step.at);
  if (!sent) return null;
  return (
    <p>
      Code <Copyable id={`${step.id}-code`} text={sent.code} what="the verification code" /> for{' '}
      <code>{sent.email}</code>
    </p>
  );
}

function withoutRequest({ event }: Step, { settledBy }: Payment): string {
  const isOutside = settledBy !== 'customer' && settledBy !== 'panel';
  return event === 'settled' && settledBy && isOutside
    ? `Settled by ${SETTLERS[settledBy]}, without a checkout request.`
    : 'Its request is no longer in the request log.';
}

function Requested(props: Omit<StepProps, 'payment'> & { request: RecordedRequest }) {
  const { step, request: recorded, parts } = props;
  const shown = maskedRequest(recorded, parts);
  const { method, target, requestBody: body, status, id, notes } = shown;
  const { request, response } = recordedSides(shown);
  if (step.location) response.line += `\nLocation: ${step.location}`;
  else if (response.body === null) response.note = isRedirect(status) ? TO_CHECKOUT : NOT_KEPT;
  const curl = curlRequest({
    url: parts.runtime.baseUrl() + target,
    headers: request.headers,
    ...(body === null ? method !== 'GET' && { method } : { body }),
  });
  return (
    <>
      {step.detail !== null && step.event === 'requested' && <p class="warning">{step.detail}</p>}
      {step.event !== 'requested' &&
        step.event !== 'initiated' &&
        notes.map((note) => <p class="warning">{note}</p>)}
      <p>
        <a href={recordPath('requests', id)}>Request {id} in the request log</a>
      </p>
      <Replay of={requireRecorded(parts, String(id))} parts={parts} />
      <BothSides
        id={step.id}
        name={String(id)}
        request={request}
        response={response}
        curl={curl}
        limit={SHOWN_BODY}
      />
    </>
  );
}

const TO_CHECKOUT = 'Redirects back to the checkout.';
const NOT_KEPT = 'A page. The request log does not store pages.';
const isRedirect = (status: number) => status >= 300 && status < 400;

/** Rebuilds an initiate request that is not in the request log, which starts empty. */
function Rebuilt({ step, payment, parts }: StepProps) {
  const { dialect, runtime, merchants } = parts;
  const merchant = merchants.of(payment) ?? merchants.default;
  const { publicKey } = merchant;
  const call = dialect.merchant.initiate(payment.mode, { publicKey, ...payment });
  return (
    <>
      <p class="warning">Rebuilt from the payment, because this request is no longer in the request log.</p>
      <BothSides
        id={step.id}
        name="of initiate"
        request={{
          line: `POST ${call.path}`,
          headers: [['content-type', 'application/x-www-form-urlencoded']],
          body: String(new URLSearchParams(call.form)),
        }}
        response={{
          line: '200',
          headers: [],
          body: JSON.stringify(dialect.initiateAnswer(payment, runtime.baseUrl())),
        }}
        curl={curlOf(call, runtime.baseUrl())}
        limit={SHOWN_BODY}
      />
    </>
  );
}
