import { errorOf, outcomeOf } from '../../../contract/describe-delivery.ts';
import { duration } from '../../../contract/duration.ts';
import { command } from '../../../contract/hint.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import type { Tone } from '../../../contract/verdict.ts';
import { TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Attempt, Payment } from '../../../domain/state.ts';
import type { Step } from '../../../usecases/story.ts';
import { faultBehind, faultOf } from '../../../usecases/verdict.ts';
import type { AppParts } from '../../environment.ts';
import { CommandCode, Section, Time } from './blocks.tsx';
import { StepDetails } from './story-step.tsx';
import { type TimeScale, timeScale, WIDTH } from './time-scale.ts';

/** Maximum steps shown: the first ones and the newest. */
const FIRST = 20;
const NEWEST = 79;
/** Maximum attempts whose two sides are shown. */
const SIDES = 20;

interface TimelineProps {
  steps: readonly Step[];
  payment: Payment;
  parts: AppParts;
}

/**
 * What happened to a payment as a waterfall, and beside it both sides of the step that is chosen: the target of the
 * page's address, so that each step has a link and none needs a script.
 */
export function Timeline({ steps, payment, parts }: TimelineProps) {
  const skipped = Math.max(0, steps.length - FIRST - NEWEST);
  const shown = steps.filter((_, index) => index < FIRST || index >= FIRST + skipped);
  const scale = timeScale(shown);
  const attempts = shown.filter(({ ipn }) => ipn?.attempt);
  const inFull = new Set(attempts.slice(-SIDES));
  // Steps that come while somebody reads must not take away what is read: only an attempt does.
  const chosen = attempts.at(-1) ?? shown[0];
  const begin = Date.parse(payment.createdAt);
  const isAlone = parts.state.current.deliveriesOf(payment.id).length === 1;
  return (
    <Section id="story" title={['Timeline ', <StartedAt payment={payment} />]}>
      <Legend scale={scale} />
      <ol class="waterfall">
        {shown.map((step, index) => (
          <>
            {index === FIRST && skipped > 0 && <Skipped count={skipped} payment={payment} />}
            <li id={step.id} class={step === chosen ? 'chosen' : undefined}>
              <Row step={step} begin={begin} scale={scale} isAlone={isAlone} parts={parts} />
              <div class="details">
                <StepDetails step={step} payment={payment} parts={parts} brief={!inFull.has(step)} />
              </div>
            </li>
          </>
        ))}
      </ol>
    </Section>
  );
}

function StartedAt({ payment }: { payment: Payment }) {
  return (
    <span class="soft">
      from <Time at={payment.createdAt} precise zone />
    </span>
  );
}

function Skipped({ count, payment }: { count: number; payment: Payment }) {
  return (
    <li id="skipped" class="skipped">
      <p class="soft">{count} steps between are not shown here:</p>
      <CommandCode id="show" run={command('payments show', payment.id)} does="shows all steps" />
    </li>
  );
}

/** The cuts are drawn once, and used by each row. */
function Legend({ scale: { cuts, unit } }: { scale: TimeScale }) {
  const waits = cuts.map(({ at, end }) => duration(end - at));
  return (
    <p class="legend soft">
      <span>
        Bars are to scale.
        {waits.length > 0 &&
          ` Long waits are cut (//): ${waits.slice(0, 5).join(', ')}${waits.length > 5 ? ' and more' : ''}.`}
      </span>
      <svg class="ruler" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
        <defs>
          <g id="story-cuts">
            {cuts.map(({ x, width }) => (
              <>
                <rect class="cut" x={x} width={width} height={20} />
                <path class="slash" d={`M${x} 20L${x + width} 0`} />
              </>
            ))}
          </g>
        </defs>
        <path class="slash" d={`M1 0V10M1 5H${unit.width}M${unit.width} 0V10`} />
      </svg>
      <span class="took">= {duration(unit.milliseconds)}</span>
    </p>
  );
}

interface RowProps {
  step: Step;
  begin: number;
  scale: TimeScale;
  /** With one IPN only, its id says nothing. */
  isAlone: boolean;
  parts: AppParts;
}

function Row({ step, begin, scale, isAlone, parts }: RowProps) {
  const { at, end, waited = 0, event, ipn } = step;
  const tone = toneOf(step, parts);
  const took = end - at;
  return (
    <a class="row" href={`#${step.id}`}>
      <time class="offset" datetime={timestamp(at)}>
        +{at === begin ? '0 s' : duration(at - begin)}
      </time>
      <span class="what">
        <strong class={tone}>{titleOf(step)}</strong> <span class="soft">{told(step, isAlone, parts)}</span>
      </span>
      <svg class="bars" viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" aria-hidden="true">
        <use href="#story-cuts" />
        {waited > 0 && (
          <rect
            class="bar-line"
            x={scale.x(at - waited)}
            y={9}
            width={scale.x(at) - scale.x(at - waited)}
            height={2}
          />
        )}
        <rect
          class={`${ipn ? 'bar-ipn' : 'bar-browser'} ${tone ?? ''}`}
          x={Math.min(scale.x(at), WIDTH - MIN_BAR)}
          y={4}
          width={Math.max(MIN_BAR, scale.x(end) - scale.x(at))}
          height={12}
        />
      </svg>
      <span class="took soft">{event === 'ipn_due' ? 'due' : took > 0 && duration(took)}</span>
    </a>
  );
}

/** In units of the line: seen, however short the step was. */
const MIN_BAR = 10;

type StepTone = Exclude<Tone, 'waiting'> | 'due';

/** What is not known yet, or is your own doing, is nobody's failure. */
function toneOf({ event, ipn }: Step, parts: AppParts): StepTone | undefined {
  if (event === 'ipn_due') return 'due';
  if (!ipn?.attempt) return event === 'email_refused' || event === 'code_refused' ? 'bad' : undefined;
  const { tone } = parts.ipns.verdictOnAttempt(ipn.delivery, ipn.attempt);
  return tone === 'waiting' ? 'due' : tone;
}

function titleOf({ id, event, request, ipn }: Step): string {
  if (event === 'requested') return `${request?.method} ${request?.target.split('?', 1)[0]}`;
  if (event === 'opened' && id !== 'step-opened-1') return 'Page shown again';
  return ipn ? `${TIMELINE_EVENTS[event]} ${ipn.number}` : TIMELINE_EVENTS[event];
}

function told(step: Step, isAlone: boolean, parts: AppParts): string {
  const { event, detail, ipn, waited, request, views = 1 } = step;
  if (event === 'requested') return String(request?.status);
  if (event === 'opened' && views > 1) return `shown ${views} times`;
  if (!ipn) return detail ?? '';
  const { attempt, delivery } = ipn;
  const fault = attempt && faultBehind(delivery, attempt);
  const forged = parts.ipns.verdictOnForgery(delivery);
  return [
    forged ? 'forged copy' : '',
    fault ? fault.cause.replace(/\.$/, '') : attempt && inShort(attempt),
    fault || !attempt ? null : faultOf(attempt),
    waited === undefined ? '' : `after ${duration(waited)}`,
    isAlone || forged ? '' : delivery.id,
  ]
    .filter(Boolean)
    .join(', ');
}

function inShort(attempt: TimelineAttempt): string {
  const { responseStatus, failure } = attempt;
  const isPlain = responseStatus !== null && (failure === null || responseStatus >= 300);
  return isPlain ? `answered ${responseStatus}` : outcomeOf({ responseStatus, error: errorOf(attempt) });
}

type TimelineAttempt = Omit<Attempt, 'deliveryId'>;

export function describeAttempt(attempt: Attempt): string {
  return `${outcomeOf({ ...attempt, error: errorOf(attempt) })} ${tookText(attempt)}`;
}

export function tookText({ durationMs }: Pick<Attempt, 'durationMs'>): string {
  return `(${Math.round(durationMs)}\u00a0ms)`;
}
