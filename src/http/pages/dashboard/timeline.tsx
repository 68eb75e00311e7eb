import { curlRequest } from '../../../contract/curl.ts';
import { command } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { duration, timestamp } from '../../../contract/time.ts';
import { SETTLERS, TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { StoryStep } from '../../../usecases/story.ts';
import { maskedRequest } from '../../control/views.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Code, Copyable, More, Section, Time, Warnings } from './blocks.tsx';
import { BothSides, curlOf, recordedSides } from './exchange.tsx';
import { recordPath } from './paths.ts';
import { missingFromLog } from './requests.tsx';

/** Maximum number of steps shown. The first are kept. */
const SHOWN_STEPS = 60;

/** Shows what the shop and the customer did, without IPN attempts. A link to a step expands it. */
export function Timeline(props: { steps: readonly StoryStep[]; payment: Payment; parts: AppDependencies }) {
  const { steps, payment, parts } = props;
  const ofCheckout = steps.filter(({ isAttempt }) => !isAttempt);
  const begin = Date.parse(payment.createdAt);
  return (
    <Section
      id="story"
      title={[
        'Checkout ',
        <span class="soft">
          from <Time at={payment.createdAt} zone />
        </span>,
      ]}
    >
      <ol class="steps">
        {ofCheckout.slice(0, SHOWN_STEPS).map((step) => (
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
        count={ofCheckout.length - SHOWN_STEPS}
        run={command('payments show', payment.id)}
        of="steps"
      />
    </Section>
  );
}

const REFUSALS: ReadonlySet<StoryStep['event']> = new Set(['email_refused', 'code_refused']);

function titleOf({ id, event, request }: StoryStep): string {
  if (event === 'requested') return `${request?.method} ${request?.target.split('?', 1)[0]}`;
  return event === 'opened' && id !== 'step-opened-1' ? 'Page shown again' : TIMELINE_EVENTS[event];
}

function detailOf({ event, detail, request, views = 1 }: StoryStep): string {
  if (event === 'requested') return String(request?.status);
  return event === 'opened' && views > 1 ? `shown ${views} times` : (detail ?? '');
}

interface StepProps {
  step: StoryStep;
  payment: Payment;
  parts: AppDependencies;
}

/** The request and response of a step, or why there are none, and its actions. */
function StepDetails({ step, payment, parts }: StepProps) {
  const { id, event, detail, at, request, requestedBy } = step;
  if (request) return <Requested step={step} request={request} parts={parts} />;
  if (event === 'initiated') return <Rebuilt step={step} payment={payment} parts={parts} />;
  const { settledBy } = payment;
  const isSettledElsewhere = event === 'settled' && settledBy && !['customer', 'panel'].includes(settledBy);
  const sent =
    event === 'code_sent' &&
    parts.checkout.messagesOf(payment.id).find(({ sentAt }) => Date.parse(sentAt) === at);
  return (
    <>
      {event === 'redirected' && detail !== null && (
        <Code
          id={`${id}-curl-text`}
          text={curlRequest({ url: detail, headers: [] })}
          what="The command that opens the page"
        />
      )}
      {sent && (
        <p>
          Code <Copyable id={`${id}-code`} text={sent.code} what="the verification code" /> for{' '}
          <code>{sent.email}</code>
        </p>
      )}
      <p class="soft">
        {requestedBy ? (
          <>
            Part of the request in <a href={`#${requestedBy}`}>this step</a>.
          </>
        ) : isSettledElsewhere ? (
          `Settled by ${SETTLERS[settledBy]}, without a checkout request.`
        ) : (
          missingFromLog(step)
        )}
      </p>
    </>
  );
}

function Requested(props: { step: StoryStep; request: RecordedRequest; parts: AppDependencies }) {
  const { step, request: recorded, parts } = props;
  const { event, detail, location } = step;
  const shown = maskedRequest(recorded, parts);
  const { method, target, requestBody: body, status, id, notes } = shown;
  const { request, response } = recordedSides(shown);
  if (location) response.line += `\nLocation: ${location}`;
  else if (response.body === null) {
    const isRedirect = status >= 300 && status < 400;
    response.note = isRedirect
      ? 'Redirects back to the checkout.'
      : 'A page. The request log does not store pages.';
  }
  const curl = curlRequest({
    url: parts.runtime.baseUrl() + target,
    headers: request.headers,
    ...(body === null ? method !== 'GET' && { method } : { body }),
  });
  return (
    <>
      {event === 'requested' && detail !== null && <p class="warning">{detail}</p>}
      {/* The page shows the warnings of initiate on top. */}
      {event !== 'requested' && event !== 'initiated' && <Warnings of={notes} />}
      <p>
        <Link href={recordPath('requests', id)}>Request {id} in the request log</Link>
      </p>
      <BothSides id={step.id} name={String(id)} request={request} response={response} curl={curl} />
    </>
  );
}

/** Rebuilds an initiate request that is not in the request log, which starts empty. */
function Rebuilt({ step, payment, parts }: StepProps) {
  const { dialect, runtime, merchants } = parts;
  const merchant = merchants.of(payment) ?? merchants.default;
  const { publicKey } = merchant;
  const call = dialect.merchant.initiate(payment.mode, { publicKey, ...payment });
  return (
    <>
      <p class="warning">Rebuilt from the payment. {missingFromLog(step)}</p>
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
      />
    </>
  );
}
