import type { Attempt, Delivery } from '../contract/delivery.ts';
import { outcomeOf } from '../contract/describe-delivery.ts';
import { command, type Hint, hint } from '../contract/hint.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import type { Verdict } from '../contract/verdict.ts';
import { moment } from './layout.ts';
import { onOneLine } from './printable.ts';

/** What is told of a delivery; one that was fired without a server has no id. */
export type ToldDelivery = Pick<
  Delivery,
  'url' | 'forwardedTo' | 'state' | 'tampered' | 'underWay' | 'nextAttemptAt'
> & {
  id: string | null;
  attempts: readonly Pick<Attempt, 'number' | 'error' | 'responseStatus' | 'responseBody'>[];
};

/** Where it was posted: with `--forward-ipn` never its own address. */
export function receiverOf({ url, forwardedTo }: Pick<ToldDelivery, 'url' | 'forwardedTo'>): string {
  return forwardedTo === null ? `POST ${url}` : `forwarded to ${forwardedTo}`;
}

/** What came of a delivery so far, in a few words. */
export function describeLastAttempt({ attempts, underWay, nextAttemptAt }: ToldDelivery): string {
  if (underWay) {
    return `attempt ${underWay.number} is still waiting, at most ${underWay.timeoutMs / 1_000} s`;
  }
  const last = attempts.at(-1);
  if (last) return outcomeOf(last);
  return nextAttemptAt === null ? 'no attempt' : `attempt 1 is due at ${moment(nextAttemptAt)} UTC`;
}

/** When it is tried next, where it was tried before; undefined when it is not. */
export function nextAttempt({ attempts, underWay, nextAttemptAt }: ToldDelivery): string | undefined {
  if (underWay || nextAttemptAt === null || !attempts.length) return undefined;
  return `attempt ${attempts.length + 1} at ${moment(nextAttemptAt)} UTC`;
}

/** A verdict among other facts. */
export function verdictFacts({ cause, fix }: Verdict): Record<string, string | undefined> {
  return { Verdict: cause, Fix: fix ?? undefined };
}

/** What `--require-delivery` fails for; undefined where every IPN was delivered and nothing is wrong with its answer. */
export function deliveryProblem(
  deliveries: readonly Pick<Delivery, 'state' | 'verdict'>[],
): string | undefined {
  const failed = deliveries.filter(({ state, verdict }) => state !== 'delivered' || verdict.tone === 'bad');
  const [first] = failed;
  return first && `${failed.length} of ${deliveries.length} IPNs not delivered: ${first.verdict.cause}`;
}

/** Maximum characters of a receiver's answer in a line. */
const SHOWN_OF_ANSWER = 200;

/** The first line of what a receiver answered to a refused attempt, without markup; undefined when there is none. */
export function answerText({ error, responseBody }: ToldDelivery['attempts'][number]): string | undefined {
  if (error === null) return undefined;
  const body = (responseBody ?? '').slice(0, 16_384);
  const text = /^\s*</.test(body)
    ? body.replace(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, '\n').replace(/<[^>]*>/g, '\n')
    : body;
  const first = text.split('\n').find((line) => line.trim());
  return first === undefined ? undefined : onOneLine(first.trim().slice(0, SHOWN_OF_ANSWER));
}

/** With these a receiver that checks the signature refuses it. */
const SIGNATURE_REFUSALS: readonly unknown[] = [400, 401, 403];

/** Where to look when the last attempt was refused or had no answer. */
export function whatToDo({ id, state, tampered, attempts }: ToldDelivery): Hint[] {
  const last = attempts.at(-1);
  // Of what the egress guard refused there are no two sides.
  if (id === null || !last || last.error === null || state === 'refused') return [];
  const show = hint`Both sides of it: ${command('ipn show', id)}`;
  // What was tampered with is meant to be refused.
  if (tampered.length || !SIGNATURE_REFUSALS.includes(last.responseStatus)) return [show];
  const verify = command('ipn verify', id, '--secret', '<the key in your code>');
  return [show, hint`Does your code have the right key? ${verify}`];
}

/** An attempt as it was on the wire, line by line: what went out (`>`), what came back (`<`), what went wrong (`!`). */
export function attemptText(attempt: Attempt): string {
  const { number, startedAt, durationMs, url, error } = attempt;
  const side = (mark: string, first: string, headers: Attempt['requestHeaders'], body: string | null) =>
    [first, ...headers.map((pair) => pair.join(': ')), '', body ?? '']
      .flatMap((text) => text.split(/\r?\n/))
      .map((line) => `  ${mark} ${line}`);
  return [
    `Attempt ${number} at ${startedAt}, ${durationMs} ms`,
    ...side('>', `POST ${url}`, attempt.requestHeaders, attempt.requestBody),
    ...(attempt.responseStatus === null
      ? []
      : side('<', `HTTP ${attempt.responseStatus}`, attempt.responseHeaders, attempt.responseBody)),
    ...(error === null ? [] : [`  ! ${error}`]),
  ].join('\n');
}

/** The timeline of a payment for people: a line for each step, below it the warnings and both sides of an attempt. */
export function timelineText(timeline: readonly TimelineEntry[]): string {
  const width = Math.max(...timeline.map(({ event }) => event.length));
  return timeline
    .flatMap(({ at, event, detail, warnings, attempt }) => [
      `${at}  ${event.padEnd(width)}  ${onOneLine(detail ?? '')}`.trimEnd(),
      ...warnings.map((warning) => `  ! ${onOneLine(warning)}`),
      ...(attempt ? [attemptText(attempt).replace(/^(?=.)/gm, '  ')] : []),
    ])
    .join('\n');
}
