import { curlCommand, curlRequest } from '../../../contract/curl.ts';
import { describeChanges } from '../../../contract/describe-changes.ts';
import type { Diagnosis } from '../../../contract/diagnosis.ts';
import { command } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import type { RowChange } from '../../../contract/row-change.ts';
import { duration, span, timestamp } from '../../../contract/time.ts';
import type { Tone } from '../../../contract/verdict.ts';
import { SETTLERS, TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, Payment } from '../../../domain/state.ts';
import { attemptId, type Step } from '../../../usecases/story.ts';
import type { FullVerdict } from '../../../usecases/verdict.ts';
import { deliveryView, maskedRequest } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Code, Copyable, Difference, Facts, Languages, More, Section, Time, Warnings } from './blocks.tsx';
import { attemptSides, BothSides, curlOf, recordedSides } from './exchange.tsx';
import { Field, Form } from './forms.tsx';
import { docsPath, PLACES, recordPath } from './paths.ts';
import { Replay } from './requests.tsx';
import { clip } from './text.ts';

/**
 * Says what happened to an IPN, where, why, and how to fix it, on top of its page and its payment's page.
 *
 * @param props `ipn`: the delivery, if there is one; `changes`: what it changed in the shop, if that is known; `url`: of the receiver; `from`: the page to return to; `test`: the
 *   link to the payment as a test
 */
export function VerdictCard(props: {
  of: FullVerdict;
  ipn: Delivery | undefined;
  changes: readonly RowChange[] | null;
  url: string;
  from: string;
  test?: string | undefined;
}) {
  const { of, ipn, changes, url, from, test } = props;
  const { tone, headline, where, cause, fix, signed, code, action, to, unexplained } = of;
  const page = ipn === undefined ? null : recordPath('ipns', ipn.id);
  const mayAsk = tone === 'bad' && where === 'receiver' && ipn?.paymentId != null && ipn.signedWith !== '';
  const isOwnPage = page !== null && from.startsWith(page);
  const right = signed ? signed.amount + signed.identifier : '';
  return (
    <section class="box" id="verdict" data-verdict={tone} aria-label="Verdict">
      <div class={code ? 'columns' : undefined}>
        <div>
          <h2>{headline}</h2>
          <Facts
            rows={[
              ['Where', where && WHERE[where](url)],
              ['Why', cause === headline ? null : cause],
              ['Fix', fix && <strong>{fix}</strong>],
              ['In your shop', changes?.length ? describeChanges(changes) : null],
              ['Your code signed', signed && <SignedText text={signed.found} from={right} {...signed} />],
              ['In the IPN', signed && <SignedText text={right} from={signed.found} {...signed} />],
            ]}
          />
        </div>
        {code && <Languages of={code} />}
      </div>
      {ipn?.diagnosis && <Asked of={ipn.diagnosis} />}
      {unexplained && ipn && (
        <Form to={PLACES.signature.path} hidden={{ body: ipn.id }} submit="Explain">
          <Field name="signature" label="Signature that your code computed" scope="verdict-" wide required />
        </Form>
      )}
      <div class="inline after">
        {page && mayAsk && (
          <Form
            to={`${page}/diagnose`}
            hidden={{ from }}
            submit="Find the cause"
            look={unexplained ? 'primary' : 'plain'}
            note="Sends variants of this IPN. A shop that undoes an order on a wrong signature may need a reset."
          />
        )}
        {page && (action !== null || (tone !== 'waiting' && !isOwnPage)) && (
          <Form
            to={`${page}/resend`}
            hidden={to === null ? { from } : { from, to }}
            submit={to === null ? 'Send again' : `Send to ${clip(to)}`}
            look={action === 'resend' && !unexplained ? 'primary' : 'plain'}
          />
        )}
        {action === 'faults' && <Link href={PLACES.faults.path}>Show the rules</Link>}
        {fix && where && <Link href={docsPath(signed ? SIGNATURES : DOCS[where])}>Documentation</Link>}
        {test !== undefined && <a href={test}>Copy as test</a>}
        {page && !isOwnPage && <Link href={page}>Open this IPN</Link>}
      </div>
    </section>
  );
}

/** The requests of a diagnosis, folded. */
function Asked({ of: { tried, summary, at } }: { of: Diagnosis }) {
  return (
    <details id="diagnosis">
      <summary>Your receiver was asked why, with {tried.length} requests</summary>
      <p>
        {summary} (<Time at={at} /> UTC)
      </p>
      <ol>
        {tried.map(({ name, status, answer }) => (
          <li>
            <code>{name}</code> {status ?? 'no response'} <span class="soft">{clip(answer)}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

function SignedText({ text, from, identifier }: { text: string; from: string; identifier: string }) {
  if (!text.endsWith(identifier) || !from.endsWith(identifier)) return <Difference text={text} from={from} />;
  const amountIn = (signed: string) => signed.slice(0, signed.length - identifier.length);
  return (
    <span class="parts">
      <Difference text={amountIn(text)} from={amountIn(from)} />
      <code>{identifier}</code>
    </span>
  );
}

const SIGNATURES = 'ipns-by-hand.md#why-a-signature-does-not-match';
const DOCS = { receiver: 'receive-and-verify.md', rule: 'faults.md', emulator: 'retries.md' } as const;

const WHERE = {
  receiver: (url: string) => (
    <>
      Your receiver, <code>{url}</code>
    </>
  ),
  rule: () => 'Your fault rule, not your code',
  emulator: () => "The emulator's options, not your code",
} as const;

const LANES = ['Customer', 'Gateway', 'Your shop'] as const;
/** All in pixels. */
const [FIRST_LANE, LANE, HEAD] = [14, 40, 6];
/** Maximum number of IPNs in the drawing. The newest are kept. */
const MAX_IPNS = 3;

/** An arrow between two lanes, by index; a dot if both are the same. */
interface Arrow {
  at: number;
  from: number;
  to: number;
  text: string;
  tone?: Tone;
}

/** Draws the messages between customer, gateway and shop in order, to show where a payment stopped. */
export function Lanes(props: { steps: readonly Step[]; payment: Payment; parts: AppParts }) {
  const arrows = [...ofCheckout(props.steps, props.payment), ...ofIpns(props.payment, props.parts)].sort(
    (one, other) => one.at - other.at,
  );
  const messages = arrows.map(({ from, to, text }) => [LANES[from], from !== to && `to ${LANES[to]}`, text]);
  const alternative = messages.map((words) => words.filter(Boolean).join(' ')).join('; ');
  return (
    <svg data-lanes="" role="img" aria-label={`Message flow: ${alternative}.`}>
      {LANES.map((name, lane) => (
        <>
          <text class="name" x={-72} y={yOf(lane) + 4}>
            {name}
          </text>
          <line class="lane" x2="100%" y1={yOf(lane)} y2={yOf(lane)} />
        </>
      ))}
      {arrows.map((arrow, index) => (
        <svg aria-hidden="true" x={placeOf(index, arrows.length)} class={arrow.tone ?? 'step'}>
          <Drawn {...arrow} />
        </svg>
      ))}
    </svg>
  );
}

const yOf = (lane: number) => FIRST_LANE + lane * LANE;
const placeOf = (index: number, count: number) => `${((index + 0.1) / (count + 0.3)) * 100}%`;

function Drawn({ from, to, text }: Arrow) {
  const end = yOf(to);
  const back = Math.sign(from - to) * HEAD;
  return (
    <>
      {from === to ? (
        <circle cy={end} r={5} />
      ) : (
        <path d={`M0 ${yOf(from)}V${end}m${-HEAD} ${back}L0 ${end}l${HEAD} ${back}`} />
      )}
      <text x={8} y={from === to ? end - 8 : (yOf(from) + end) / 2 + 4}>
        {text}
      </text>
    </>
  );
}

function ofCheckout(steps: readonly Step[], { status, settledBy }: Payment): Arrow[] {
  const arrows: Readonly<Record<string, Omit<Arrow, 'at'>>> = {
    initiated: { from: 2, to: 1, text: 'initiate' },
    opened: { from: 0, to: 1, text: 'checkout' },
    settled: {
      from: settledBy === 'customer' ? 0 : 1,
      to: 1,
      text: status === 'succeeded' ? 'paid' : status,
    },
    redirected: { from: 1, to: 0, text: 'redirect' },
  };
  return Object.entries(arrows).flatMap(([name, arrow]) => {
    const step = steps.find(({ event }) => event === name);
    return step ? [{ ...arrow, at: step.at }] : [];
  });
}

function ofIpns({ id }: Payment, { ipns }: AppParts): Arrow[] {
  const deliveries = ipns.of(id).slice(-MAX_IPNS);
  return deliveries.map((delivery) => {
    const attempts = ipns.attemptsOf(delivery.id);
    const last = attempts.at(-1);
    const [status, times] = [last?.responseStatus ?? 'no response', attempts.length];
    return {
      at: Date.parse(attempts[0]?.startedAt ?? delivery.createdAt),
      from: 1,
      to: 2,
      text: last
        ? `${ipns.verdictOnForgery(delivery) ? 'forged' : 'IPN'} ${status}${times > 1 ? ` ×${times}` : ''}`
        : 'IPN due',
      tone: ipns.verdict(delivery).tone,
    };
  });
}

/** Says which came first, IPN or redirect: a success page must expect both orders. Null if one is missing. */
export function whoCameFirst(steps: readonly Step[]): string | null {
  const attempt = steps.find(({ event }) => event === 'ipn_attempted');
  const redirect = steps.find(({ event }) => event === 'redirected');
  if (!attempt || !redirect) return null;
  // Times are whole milliseconds. In the same millisecond, the IPN came first if the redirect waited for it.
  const ahead = redirect.at - attempt.end;
  if (redirect.at === attempt.at && ahead <= -1)
    return 'Both happened at the same instant, because the clock was paused.';
  if (ahead > -1) {
    const by = ahead < 1 ? 'less than a millisecond' : duration(ahead);
    return `The IPN came first: its attempt ended ${by} before the redirect.`;
  }
  const how =
    redirect.at < attempt.at
      ? `${duration(attempt.at - redirect.at)} before the IPN`
      : `${duration(-ahead)} before your receiver responded to the IPN`;
  return `The redirect came first, ${how}: your success page must not expect the order to be paid yet.`;
}

/** Maximum number of attempts shown, each with its request and response. */
const SHOWN_ATTEMPTS = 20;

/** Shows attempts as a row of dots. The newest is open unless the URL names another. Works without a script. */
export function Attempts({ deliveries, parts }: { deliveries: readonly Delivery[]; parts: AppParts }) {
  const all = deliveries
    .flatMap((delivery) => {
      const attempts = parts.ipns.attemptsOf(delivery.id);
      return attempts.map((attempt, index) => ({ delivery, attempt, before: attempts[index - 1] }));
    })
    .sort((one, other) => Date.parse(one.attempt.startedAt) - Date.parse(other.attempt.startedAt));
  const due = deliveries.filter(({ id, nextAttemptAt }) => nextAttemptAt !== null || parts.ipns.underWay(id));
  if (all.length + due.length === 0) return null;
  const newest = all.at(-1);
  return (
    <Section id="attempts" title="IPN attempts">
      <More
        id="earlier"
        count={all.length - SHOWN_ATTEMPTS}
        run={command('ipn show', all[0]?.delivery.id ?? '')}
        of="attempts"
      />
      <ol class="dots">
        {all.slice(-SHOWN_ATTEMPTS).map((one) => (
          <Made {...one} isNewest={one === newest} isOne={deliveries.length === 1} parts={parts} />
        ))}
        {due.map((delivery) => (
          <Due delivery={delivery} parts={parts} />
        ))}
      </ol>
    </Section>
  );
}

/** The width of a wait in pixels, on a logarithmic scale, so that both 1 s and 10 min are visible. */
const gapOf = (milliseconds: number) => Math.round(8 * Math.log10(1 + milliseconds));

/**
 * An attempt that was made.
 *
 * @param props `before`: the previous attempt of the same delivery; `isOne`: whether all are of one delivery
 */
function Made(props: {
  delivery: Delivery;
  attempt: Attempt;
  before: Attempt | undefined;
  isNewest: boolean;
  isOne: boolean;
  parts: AppParts;
}) {
  const { delivery, attempt, before, isNewest, isOne, parts } = props;
  const { number, durationMs, startedAt } = attempt;
  const id = attemptId(delivery.id, number);
  const wait =
    before && Math.max(0, Date.parse(startedAt) - Date.parse(before.startedAt) - before.durationMs);
  const { tone, cause } = parts.ipns.verdictOnAttempt(delivery, attempt);
  return (
    <li id={id} class={isNewest ? 'chosen' : undefined}>
      <a class={`dot ${tone}`} href={`#${id}`}>
        {wait !== undefined && <svg class="gap" width={gapOf(wait)} height="2" aria-hidden="true" />}
        <span>
          <span class="unseen">IPN attempt {number}: </span>
          {attempt.responseStatus ?? 'no response'}
          {parts.ipns.verdictOnForgery(delivery) && <small>forged</small>}
          {wait !== undefined && <small>after {duration(wait)}</small>}
        </span>
      </a>
      <div class="details" data-attempt={number}>
        <p>
          <strong class={tone}>Attempt {number}</strong>: {cause}{' '}
          <span class="soft">
            Took {duration(durationMs)}, at <Time at={startedAt} zone />
            {!isOne && [', IPN ', <Link href={recordPath('ipns', delivery.id)}>{delivery.id}</Link>]}
          </span>
        </p>
        <BothSides
          id={id}
          name={`of attempt ${number}`}
          {...attemptSides(attempt)}
          curl={curlCommand({ ...deliveryView(delivery, parts), attempts: [attempt] })}
        />
      </div>
    </li>
  );
}

/** The next attempt. If the clock was moved, a button skips the wait. */
function Due({ delivery, parts }: { delivery: Delivery; parts: AppParts }) {
  const { id, paymentId, attemptCount, nextAttemptAt } = delivery;
  const { now, frozen, ahead } = parts.clock.read();
  const underWay = parts.ipns.underWay(id);
  const left = Math.max(0, Date.parse(nextAttemptAt ?? '') - now);
  const step = attemptId(id, attemptCount + 1);
  return (
    <li id={step} class={attemptCount === 0 ? 'chosen' : undefined}>
      <a class="dot due" href={`#${step}`}>
        {attemptCount > 0 && !underWay && (
          <svg class="gap" width={gapOf(left)} height="2" aria-hidden="true" />
        )}
        <span>
          {underWay ? 'waiting' : 'due'}
          <small>attempt {attemptCount + 1}</small>
        </span>
      </a>
      <div class="details">
        {underWay ? (
          <p>Waiting up to {underWay.timeoutMs / 1_000} s for the response.</p>
        ) : (
          <p>
            Due in <span data-left={frozen ? undefined : Math.ceil(left / 1_000)}>{span(left)}</span>.
          </p>
        )}
        {!underWay && paymentId !== null && (frozen || ahead !== 0) && (
          <Form
            to={`${recordPath('payments', paymentId)}/run`}
            hidden={{ ipn: id, attempt: String(attemptCount + 1) }}
            submit="Run until this attempt"
            look="primary"
          />
        )}
        {!underWay && !frozen && ahead === 0 && (
          <p class="soft">
            Pause or move the <Link href={PLACES.clock.path}>clock</Link> to run this attempt without waiting.
          </p>
        )}
      </div>
    </li>
  );
}

/** Maximum number of steps shown. The first are kept. */
const SHOWN_STEPS = 60;

/** Shows what the shop and the customer did, without IPN attempts. A link to a step expands it. */
export function Timeline(props: { steps: readonly Step[]; payment: Payment; parts: AppParts }) {
  const { steps, payment, parts } = props;
  const ofCheckout = steps.filter(({ isAttempt }) => !isAttempt);
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
          'Its request is no longer in the request log.'
        )}
      </p>
    </>
  );
}

function Requested(props: { step: Step; request: RecordedRequest; parts: AppParts }) {
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
      <Replay of={recorded} parts={parts} />
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
      />
    </>
  );
}
