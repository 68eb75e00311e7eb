import type { Attempt, Delivery } from '../contract/delivery.ts';
import { outcomeOf } from '../contract/describe-delivery.ts';
import { command, type Hint, hint } from '../contract/hint.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import type { Verdict } from '../contract/verdict.ts';
import { moment } from './layout.ts';
import { onOneLine } from './printable.ts';

/** The reported part of a delivery. It has no id if it was sent without a server. */
type ToldDelivery = Pick<
  Delivery,
  'url' | 'forwardedTo' | 'state' | 'tampered' | 'underWay' | 'nextAttemptAt'
> & {
  id: string | null;
  attempts: readonly Pick<Attempt, 'number' | 'error' | 'responseStatus' | 'responseBody'>[];
};

/** The address that the IPN was posted to. With `--forward-ipn`, it is not the delivery's own address. */
export function receiverOf({ url, forwardedTo }: Pick<ToldDelivery, 'url' | 'forwardedTo'>): string {
  return forwardedTo === null ? `POST ${url}` : `forwarded to ${forwardedTo}`;
}

/** The result of a delivery so far. */
export function describeLastAttempt({ attempts, underWay, nextAttemptAt }: ToldDelivery): string {
  if (underWay) {
    return `attempt ${underWay.number} is waiting up to ${underWay.timeoutMs / 1_000} s for a response`;
  }
  const last = attempts.at(-1);
  if (last) return outcomeOf(last);
  return nextAttemptAt === null ? 'no attempt' : `attempt 1 is due at ${moment(nextAttemptAt)} UTC`;
}

/** The time of the next retry; undefined if there is none. */
export function nextAttempt({ attempts, underWay, nextAttemptAt }: ToldDelivery): string | undefined {
  if (underWay || nextAttemptAt === null || !attempts.length) return undefined;
  return `attempt ${attempts.length + 1} at ${moment(nextAttemptAt)} UTC`;
}

export function verdictFacts({ cause, fix }: Verdict): Record<string, string | undefined> {
  return { Verdict: cause, Fix: fix ?? undefined };
}

/** The failure of `--require-delivery`; undefined if every IPN was delivered with a correct response. */
export function deliveryProblem(
  deliveries: readonly Pick<Delivery, 'state' | 'verdict'>[],
): string | undefined {
  const failed = deliveries.filter(({ state, verdict }) => state !== 'delivered' || verdict.tone === 'bad');
  const [first] = failed;
  return first && `${failed.length} of ${deliveries.length} IPNs not delivered: ${first.verdict.cause}`;
}

/** Maximum characters of a response in a line. */
const SHOWN_OF_ANSWER = 200;

/** The first line of the response to a rejected attempt, without markup; undefined if there is none. */
export function answerText({ error, responseBody }: ToldDelivery['attempts'][number]): string | undefined {
  if (error === null) return undefined;
  const body = (responseBody ?? '').slice(0, 16_384);
  const text = /^\s*</.test(body)
    ? body.replace(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, '\n').replace(/<[^>]*>/g, '\n')
    : body;
  const first = text.split('\n').find((line) => line.trim());
  return first === undefined ? undefined : onOneLine(first.trim().slice(0, SHOWN_OF_ANSWER));
}

/** Statuses with which receivers reject a signature. */
const SIGNATURE_REFUSALS: readonly unknown[] = [400, 401, 403];

/** What to run next if the last attempt was rejected or got no response. */
export function whatToDo({ id, state, tampered, attempts }: ToldDelivery): Hint[] {
  const last = attempts.at(-1);
  // The egress guard rejected it, so nothing was sent.
  if (id === null || !last || last.error === null || state === 'refused') return [];
  const show = hint`Request and response: ${command('ipn show', id)}`;
  // A tampered IPN should be rejected.
  if (tampered.length || !SIGNATURE_REFUSALS.includes(last.responseStatus)) return [show];
  const key = command('ipn verify', id, '--secret', '<the key in your code>');
  const signature = command('ipn verify', id, '--signature', '<the signature that your code computed>');
  return [show, hint`Check the key in your code: ${key}`, hint`Find out what your code signed: ${signature}`];
}

/** An attempt as it was on the wire, line by line: the request (`>`), the response (`<`) and the error (`!`). */
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

/** The timeline of a payment as text: one line per step, followed by its warnings and the attempt. */
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
