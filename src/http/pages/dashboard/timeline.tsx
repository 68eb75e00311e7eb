import type { Child } from 'hono/jsx';
import { curlCommand, curlRequest } from '../../../contract/curl.ts';
import { originOf } from '../../../contract/describe-delivery.ts';
import { command } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { duration, timestamp } from '../../../contract/time.ts';
import type { Tone } from '../../../contract/verdict.ts';
import { SETTLERS, TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import { ownWords } from '../../../diagnosis/receiver-words.ts';
import type { Attempt, Delivery, Payment } from '../../../domain/state.ts';
import { attemptId, type StoryStep } from '../../../usecases/story.ts';
import { deliveryView, maskedRequest } from '../../control/views.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Ago, Copyable, More, Section, Time, Warnings } from './blocks.tsx';
import { attemptSides, BothSides, recordedSides } from './exchange.tsx';
import { Form } from './forms.tsx';
import { recordPath } from './paths.ts';
import { missingFromLog } from './requests.tsx';
import { capitalized, clip } from './text.ts';

/** Maximum number of rows shown at the beginning, and at the end. */
const SHOWN = 20;

interface TimelineProps {
  steps: readonly StoryStep[];
  /** Null for an IPN without a payment. */
  payment: Payment | null;
  deliveries: readonly Delivery[];
  /** The delivery whose last attempt the verdict explains. */
  judged: string | null;
  parts: AppDependencies;
}

/**
 * Shows what customer, gateway and shop did, in order, and what the shop said. The newest attempt is open; a link to a row
 * opens it.
 */
export function Timeline({ steps, payment, deliveries, judged, parts }: TimelineProps) {
  const attempts = new Map(
    deliveries.flatMap((delivery) =>
      parts.store.state
        .attemptsOf(delivery.id)
        .map((attempt) => [attemptId(delivery.id, attempt.number), { delivery, attempt }] as const),
    ),
  );
  const made = steps.filter(({ event }) => event !== 'ipn_due');
  const newest = made.findLast(({ id }) => attempts.has(id));
  const due = deliveries.filter(({ id, nextAttemptAt }) => nextAttemptAt !== null || parts.ipns.underWay(id));
  const begin = made[0]?.at ?? parts.clock.now();
  const rowOf = (step: StoryStep) => {
    const of = attempts.get(step.id);
    return of ? (
      <AttemptRow
        {...of}
        begin={begin}
        isNewest={step === newest}
        isJudged={of.delivery.id === judged && of.attempt.number === of.delivery.attemptCount}
        place={deliveries.length > 1 ? ` ${deliveries.indexOf(of.delivery) + 1}` : ''}
        parts={parts}
      />
    ) : (
      payment && (
        <StepRow step={step} begin={begin} isAhead={isAhead(step, made)} payment={payment} parts={parts} />
      )
    );
  };
  const rest = made.slice(SHOWN, -SHOWN).length;
  const more = payment ? command('payments show', payment.id) : command('ipn show', deliveries[0]?.id ?? '');
  return (
    <Section
      id="story"
      title={[
        'Timeline ',
        <span class="soft">
          from <Time at={timestamp(begin)} zone />
        </span>,
      ]}
    >
      <ol class="steps">
        {made.slice(0, rest ? SHOWN : undefined).map(rowOf)}
        {rest > 0 && [
          <li>
            <More count={rest} run={more} />
          </li>,
          made.slice(-SHOWN).map(rowOf),
        ]}
        {due.map((delivery) => (
          <DueRow delivery={delivery} parts={parts} />
        ))}
      </ol>
    </Section>
  );
}

/** Whether the browser was redirected before the shop had responded to an IPN. */
function isAhead({ event, at }: StoryStep, steps: readonly StoryStep[]): boolean {
  const attempt = steps.find((one) => one.event === 'ipn_attempted');
  // Times are whole milliseconds, and equal while the clock is paused.
  const isLater = attempt !== undefined && attempt.at !== at && attempt.end - at >= 1;
  return event === 'redirected' && isLater;
}

interface RowProps {
  id: string;
  /** In milliseconds since 1970, like the time of the first row. */
  at: number;
  begin: number;
  who: string;
  title: string;
  tone?: Tone | undefined;
  said: Child;
  took: number;
  isOpen?: boolean;
  attempt?: number;
  children: Child;
}

function Row({ id, at, begin, who, title, tone, said, took, isOpen, attempt, children }: RowProps) {
  return (
    <li>
      <details open={isOpen}>
        <summary>
          <time class="offset" datetime={timestamp(at)}>
            +{at === begin ? '0 s' : duration(at - begin)}
          </time>
          <span class="who">{who}</span>
          <span>
            <strong class={tone}>{title}</strong> <span class="soft">{said}</span>
          </span>
          <span class="took">{took > 0 && duration(took)}</span>
        </summary>
        <div class="details" id={id} data-attempt={attempt}>
          {children}
        </div>
      </details>
    </li>
  );
}

interface AttemptRowProps {
  delivery: Delivery;
  attempt: Attempt;
  begin: number;
  isNewest: boolean;
  isJudged: boolean;
  /** The number of the IPN, if there are several. */
  place: string;
  parts: AppDependencies;
}

function AttemptRow({ delivery, attempt, begin, isNewest, isJudged, place, parts }: AttemptRowProps) {
  const { number, durationMs, startedAt } = attempt;
  const { mask } = parts.secrets;
  const id = attemptId(delivery.id, number);
  const { words, tone } = parts.ipns.shopStateAt(delivery, attempt);
  const own = ownWords(attempt.responseBody ?? '');
  const origin = originOf(attempt);
  return (
    <Row
      id={id}
      at={Date.parse(startedAt)}
      begin={begin}
      who="Gateway"
      title={`${parts.ipns.verdictOnForgery(delivery) ? 'Forged IPN' : 'IPN'}${place}, attempt ${number}`}
      tone={tone}
      said={[origin && `${capitalized(origin)}. `, `Your shop: ${words} `, own && `“${clip(own, mask)}”`]}
      took={durationMs}
      isOpen={isNewest}
      attempt={number}
    >
      {!(isJudged && place === '') && (
        <p class="soft">
          {!isJudged && `${parts.ipns.verdictOnAttempt(delivery, attempt).cause} `}
          {place !== '' && ['IPN ', <code>{delivery.id}</code>]}
        </p>
      )}
      <BothSides
        id={id}
        name={`of attempt ${number}`}
        {...attemptSides(attempt)}
        curl={curlCommand({ ...deliveryView(delivery, parts), attempts: [attempt] })}
      />
    </Row>
  );
}

/** The next attempt. If the clock was moved, a button skips the wait. */
function DueRow({ delivery, parts }: { delivery: Delivery; parts: AppDependencies }) {
  const { id, paymentId, attemptCount, nextAttemptAt } = delivery;
  const { frozen, ahead } = parts.clock.read();
  const underWay = parts.ipns.underWay(id);
  const number = attemptCount + 1;
  return (
    <li id={attemptId(id, number)} class="due">
      <span class="who">Gateway</span>
      <span>
        <strong>IPN, attempt {number}</strong>{' '}
        <span class="soft">
          {underWay ? (
            `Waiting up to ${underWay.timeoutMs / 1_000} s for the response.`
          ) : (
            <>
              Due <Ago at={nextAttemptAt ?? ''} />.
            </>
          )}
        </span>
      </span>
      {!underWay && paymentId !== null && (frozen || ahead !== 0) && (
        <Form
          to={`${recordPath('payments', paymentId)}/run`}
          hidden={{ ipn: id, attempt: String(number) }}
          submit="Run until this attempt"
          look="primary"
        />
      )}
    </li>
  );
}

interface StepRowProps extends StepProps {
  begin: number;
  /** Whether the browser was there before the IPN. */
  isAhead: boolean;
}

function StepRow({ step, begin, isAhead, payment, parts }: StepRowProps) {
  return (
    <Row
      id={step.id}
      at={step.at}
      begin={begin}
      who={whoDid(step, payment)}
      title={titleOf(step)}
      tone={REFUSALS.has(step.event) ? 'bad' : undefined}
      said={[
        detailOf(step),
        isAhead && ' Before the IPN: your success page must not expect a paid order yet.',
      ]}
      took={step.end - step.at}
    >
      <StepDetails step={step} payment={payment} parts={parts} />
    </Row>
  );
}

function whoDid({ event }: StoryStep, { settledBy }: Payment): string {
  if (event === 'initiated') return 'Your shop';
  if (event === 'redirected' || event === 'code_sent') return 'Gateway';
  if (event !== 'settled' || settledBy === 'customer') return 'Customer';
  return settledBy === 'panel' || settledBy === 'control' ? 'You' : 'Gateway';
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
  const { id, event, at, request, requestedBy } = step;
  if (request) return <Requested step={step} request={request} parts={parts} />;
  const { settledBy } = payment;
  const isSettledElsewhere = event === 'settled' && settledBy && !['customer', 'panel'].includes(settledBy);
  const sent =
    event === 'code_sent' &&
    parts.store.state.messagesOf(payment.id).find(({ sentAt }) => Date.parse(sentAt) === at);
  return (
    <>
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
