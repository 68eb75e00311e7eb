import { duration } from '../../../contract/time.ts';
import type { Tone } from '../../../contract/verdict.ts';
import type { Payment } from '../../../domain/state.ts';
import type { StoryStep } from '../../../usecases/story.ts';
import type { AppDependencies } from '../../environment.ts';

const LANES = ['Customer', 'Gateway', 'Your shop'] as const;
/** All in pixels. */
const [FIRST_LANE, LANE, HEAD] = [14, 40, 6];
/** Maximum number of outcomes of IPNs in the drawing. The newest are kept. */
const MAX_OUTCOMES = 5;
/** Maximum number of messages with the shop whose texts fit on a phone. */
const MAX_TEXTS = 3;

/** An arrow between two lanes, by index; a dot if both are the same. */
interface Arrow {
  at: number;
  from: number;
  to: number;
  text: string;
  /** `due`: it is still to come. */
  look?: Tone | 'due';
}

/** Draws the messages between customer, gateway and shop in order, to show where a payment stopped. */
export function Lanes(props: { steps: readonly StoryStep[]; payment: Payment; parts: AppDependencies }) {
  const arrows = [...ofCheckout(props.steps, props.payment), ...ofIpns(props.payment, props.parts)].sort(
    (one, other) => one.at - other.at,
  );
  const touching = (lane: number) => arrows.filter(({ from, to }) => from === lane || to === lane).length;
  const looks = [touching(0) === 0 && 'alone', touching(2) > MAX_TEXTS && 'many'].filter(Boolean).join(' ');
  const messages = arrows.map(({ from, to, text }) => [LANES[from], from !== to && `to ${LANES[to]}`, text]);
  const alternative = messages.map((words) => words.filter(Boolean).join(' ')).join('; ');
  return (
    <svg data-lanes="" class={looks} role="img" aria-label={`Message flow: ${alternative}.`}>
      {LANES.map((name, lane) => (
        <>
          <text class="name" x={-72} y={yOf(lane) + 4}>
            {name}
          </text>
          <line class="lane" x2="100%" y1={yOf(lane)} y2={yOf(lane)} />
        </>
      ))}
      {arrows.map((arrow, index) => (
        <svg aria-hidden="true" x={placeOf(index, arrows.length)} class={arrow.look ?? 'step'}>
          <ArrowShape {...arrow} isLow={isLow(arrow, arrows)} isLast={index === arrows.length - 1} />
        </svg>
      ))}
    </svg>
  );
}

const yOf = (lane: number) => FIRST_LANE + lane * LANE;
/** The texts between two lanes alternate in height. */
const isLow = (arrow: Arrow, all: readonly Arrow[]) =>
  all.filter(({ from, to }) => from + to === arrow.from + arrow.to).indexOf(arrow) % 2 === 1;
const placeOf = (index: number, count: number) => `${((index + 0.1) / (count + 0.3)) * 100}%`;

/** @param arrow the text of the last is on the left, so that it fits on a phone */
function ArrowShape({ from, to, text, isLow, isLast }: Arrow & { isLow: boolean; isLast: boolean }) {
  const end = yOf(to);
  const back = Math.sign(from - to) * HEAD;
  return (
    <>
      {from === to ? (
        <circle cy={end} r={5} />
      ) : (
        <path d={`M0 ${yOf(from)}V${end}m${-HEAD} ${back}L0 ${end}l${HEAD} ${back}`} />
      )}
      <text
        x={isLast && from !== to ? -8 : 8}
        y={from === to ? end - 8 : (yOf(from) + end) / 2 + (isLow ? 12 : -2)}
        text-anchor={isLast && from !== to ? 'end' : undefined}
      >
        {text}
      </text>
    </>
  );
}

function ofCheckout(steps: readonly StoryStep[], { status, settledBy }: Payment): Arrow[] {
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
  const made = Object.entries(arrows).flatMap(([name, arrow]) => {
    const step = steps.find(({ event }) => event === name);
    return step ? [{ ...arrow, at: step.at }] : [];
  });
  if (status !== 'pending') return made;
  return [...made, { at: Number.POSITIVE_INFINITY, from: 0, to: 1, text: 'not paid yet', look: 'due' }];
}

/** One arrow for each outcome of an IPN, however often it was seen in a row, and one for the attempt that is due. */
function ofIpns({ id }: Payment, { ipns }: AppDependencies): Arrow[] {
  const outcomes: (Arrow & { times: number })[] = [];
  const due: Arrow[] = [];
  for (const delivery of ipns.of(id)) {
    const name = ipns.verdictOnForgery(delivery) ? 'forged' : 'IPN';
    let last: (typeof outcomes)[number] | undefined;
    for (const attempt of ipns.attemptsOf(delivery.id)) {
      const text = `${name} ${attempt.responseStatus ?? 'no response'}`;
      const look = ipns.verdictOnAttempt(delivery, attempt).tone;
      if (last?.text === text && last.look === look) {
        last.times++;
        continue;
      }
      last = { at: Date.parse(attempt.startedAt), from: 1, to: 2, text, look, times: 1 };
      outcomes.push(last);
    }
    const isUnderWay = ipns.underWay(delivery.id) !== null;
    if (delivery.nextAttemptAt === null && !isUnderWay) continue;
    const text = `${name} ${isUnderWay ? 'waiting' : 'due'}`;
    due.push({ at: Number.POSITIVE_INFINITY, from: 1, to: 2, text, look: 'due' });
  }
  const shown = outcomes.slice(-MAX_OUTCOMES).map(({ times, ...arrow }) => ({
    ...arrow,
    text: times > 1 ? `${arrow.text} ×${times}` : arrow.text,
  }));
  return [...shown, ...due.slice(0, 1)];
}

/** Says which came first, IPN or redirect: a success page must expect both orders. Null if one is missing. */
export function whoCameFirst(steps: readonly StoryStep[]): string | null {
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
      : `${duration(-ahead)} before your handler responded to the IPN`;
  return `The redirect came first, ${how}: your success page must not expect the order to be paid yet.`;
}
