import type { ChalkInstance } from 'chalk';
import { isReportable } from '../contract/audit.ts';
import type { Attempt, Delivery } from '../contract/delivery.ts';
import { outcomeOf } from '../contract/describe-delivery.ts';
import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import type { SimEvent } from '../contract/event.ts';
import { command, type Hint, type HintStyle, hint, renderHint } from '../contract/hint.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import type { Verdict } from '../contract/verdict.ts';
import { PAYMENT_EVENTS } from '../contract/vocabulary.ts';
import { isRefusedInitiate } from '../library/merchant-client.ts';
import { moment, type Output, onOneLine } from './output.ts';

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

/** The style of lines: their colours, and the commands in them. */
interface LineStyle {
  colour: ChalkInstance;
  style: HintStyle;
}

/** Prints an event as lines, or with --json as a document. */
export function showEvent(event: SimEvent, output: Output): void {
  if (output.json) output.line(JSON.stringify(event));
  else for (const line of eventLines(event, output)) output.line(line);
}

/** The lines that describe an event: `-->` is incoming, `<--` is outgoing. May be empty. */
export function eventLines(event: SimEvent, { colour, style }: LineStyle): string[] {
  const [first, ...warnings] = linesOf(event, { colour, style });
  const lines = [
    ...(first === undefined ? [] : [`${clockTime(event.at)}  ${first}`]),
    ...warnings.map((text) => `          ${colour.yellow('!')}    ${text}`),
  ];
  // A line break in a value must not fake a line of the log.
  return lines.map((line) => line.replaceAll('\n', '\\u000a'));
}

/** The event without its time, followed by warnings and hints. */
function linesOf(event: SimEvent, as: LineStyle): string[] {
  const { colour } = as;
  switch (event.type) {
    case 'request': {
      const { method, target, status, durationMs, notes } = event.request;
      const path = target.split('?', 1)[0] ?? target;
      // As in deployments, the response to a rejected initiate request has status 200, so the status is not enough.
      const isRefused = status === 200 && isRefusedInitiate(event.request);
      const answer = isRefused ? colour.yellow(`${status} refused`) : statusText(status, colour);
      return [`-->  ${method} ${path}  ${answer}  ${durationMs} ms`, ...notes];
    }
    case 'payment':
      return paymentLines(event, colour);
    case 'delivery':
      return deliveryLines(event, as);
    case 'message': {
      const { email, code, identifier } = event.message;
      return [`<--  code ${colour.bold(code)} to ${email}  ${identifier}`];
    }
    case 'cardTransaction': {
      const { cardId, type, amount, currency, details } = event.cardTransaction;
      return [`     card ${cardId}  ${type}${amount} ${currency}  ${details}`.trimEnd()];
    }
    case 'audit': {
      const { state, done, of, latest } = event.audit;
      // Passed cases would hide the others.
      if (latest && !isReportable(latest.verdict)) return [];
      const what = latest ? `${colour.red(latest.verdict)} ${latest.name}` : state;
      return [`     audit ${done} of ${of}  ${what}`];
    }
    case 'notice':
      return [`${colour.yellow('!')}    ${event.text}`];
  }
}

/** Reported by other lines: the request for a page, the sent code. */
const TOLD_ELSEWHERE: readonly string[] = ['opened', 'code_sent'];

/** One line for the last step of a change. Other lines report the steps before it. */
function paymentLines(
  { payment, steps, warnings }: Extract<SimEvent, { type: 'payment' }>,
  colour: ChalkInstance,
): string[] {
  const step = steps.findLast(({ event }) => !TOLD_ELSEWHERE.includes(event));
  if (!step) return [];
  const { id, identifier, mode, status, amount, currency } = payment;
  if (step.event !== 'initiated' && step.event !== 'settled') {
    const detail = step.detail === null ? '' : `: ${step.detail}`;
    return [`     payment ${identifier}  ${PAYMENT_EVENTS[step.event]}${detail}`];
  }
  const line = `     payment ${identifier}  ${amount} ${currency}  ${mode}  ${colour.bold(status)}  ${id}`;
  // The line of the initiate request reports its warnings.
  return step.event === 'settled' ? [line, ...warnings] : [line];
}

function deliveryLines(
  { delivery, step, at }: Extract<SimEvent, { type: 'delivery' }>,
  { colour, style }: LineStyle,
): string[] {
  const { identifier, attempts, note, postponedBy, nextAttemptAt, underWay } = delivery;
  const line = (what: string, number: number) =>
    `<--  IPN ${receiverOf(delivery)}  ${what}  ${identifier}  attempt ${number}`;
  if (step === 'planned') {
    const isPutOff = postponedBy !== null && nextAttemptAt !== null && nextAttemptAt > at;
    return isPutOff ? [`     IPN ${identifier}  ${note}; next attempt at ${clockTime(nextAttemptAt)}`] : [];
  }
  if (step === 'waiting') {
    if (!underWay) return [];
    const wait = `no response after ${REDIRECT_WAIT_MS / 1_000} s, waiting up to ${underWay.timeoutMs / 1_000} s`;
    return [line(colour.yellow(wait), underWay.number)];
  }
  const last = attempts.at(-1);
  if (!last) return [];
  const result = line(`${resultText(delivery, last, colour)}  ${last.durationMs} ms`, last.number);
  if (last.error === null) return [result];
  const firstTime = attempts.filter(({ error }) => error !== null).length === 1;
  const advice = firstTime ? whatToDo(delivery).map((hint) => renderHint(hint, style)) : [];
  return [result, `${note ?? last.error}${responseText(last)}; ${nextText(delivery)}`, ...advice];
}

function resultText({ state }: Delivery, { responseStatus }: Attempt, colour: ChalkInstance): string {
  if (responseStatus !== null) return statusText(responseStatus, colour);
  return colour.red(state === 'refused' ? 'not sent' : 'no response');
}

function responseText(attempt: Attempt): string {
  const text = answerText(attempt);
  return text === undefined ? '' : `; response: ${text}`;
}

function nextText({ state, nextAttemptAt }: Delivery): string {
  return nextAttemptAt === null ? state : `next attempt at ${clockTime(nextAttemptAt)}`;
}

/** The local time, to the second. */
function clockTime(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function statusText(status: number, colour: ChalkInstance): string {
  if (status >= 500) return colour.red(String(status));
  return status >= 400 ? colour.yellow(String(status)) : colour.green(String(status));
}
