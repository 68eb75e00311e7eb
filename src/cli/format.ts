import type { Attempt, Delivery } from '../contract/delivery.ts';
import { describeChanges } from '../contract/describe-changes.ts';
import { FORGED_IPN_ACCEPTED, fixLabel, originOf, outcomeOf } from '../contract/describe-delivery.ts';
import { command, type Hint, hint, renderHint } from '../contract/error.ts';
import type { SimEvent } from '../contract/event.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import { shownHeaders } from '../contract/secrets.ts';
import { moment, REDIRECT_WAIT_MS } from '../contract/time.ts';
import type { Verdict } from '../contract/verdict.ts';
import { PAYMENT_EVENTS, TIMELINE_EVENTS } from '../contract/vocabulary.ts';
import { linesOfPage, ownWords } from '../diagnosis/receiver-answer.ts';
import type { Verification } from '../diagnosis/verify.ts';
import { isRejectedInitiate } from '../service/merchant.ts';
import type { FiredIpn } from '../usecases/fire-ipn.ts';
import type { Output } from './output.ts';
import { columns, onOneLine, Printed, wrapped } from './printed.ts';

/*
 * IPNs, timelines and events as text.
 */

/** The address that the IPN was posted to. With `--forward-ipn`, it is not the delivery's own address. */
export function receiverOf({ url, forwardedTo }: Pick<Delivery, 'url' | 'forwardedTo'>): string {
  return forwardedTo === null ? `POST ${url}` : `forwarded to ${forwardedTo}`;
}

/** The result of a delivery so far. */
export function describeLastAttempt({ attempts, underWay, nextAttemptAt }: FiredIpn): string {
  if (underWay) {
    return `attempt ${underWay.number} is waiting up to ${underWay.timeoutMs / 1_000} s for a response`;
  }
  const last = attempts.at(-1);
  if (last) return outcomeOf(last);
  return nextAttemptAt === null ? 'no attempt' : `attempt 1 is due at ${moment(nextAttemptAt)} UTC`;
}

/** The response to the last attempt and the next retry, if any. */
export function progressFacts({ attempts, underWay, nextAttemptAt }: FiredIpn) {
  const last = attempts.at(-1);
  const hasNext = last && !underWay && nextAttemptAt !== null;
  return {
    Response: last && answerText(last),
    Next: hasNext ? `attempt ${attempts.length + 1} at ${moment(nextAttemptAt)} UTC` : undefined,
  };
}

export function verdictFacts(verdict: Verdict): Record<string, string | undefined> {
  return { Verdict: verdict.cause, [fixLabel(verdict)]: verdict.fix ?? undefined };
}

/** The state of a delivery. For a forged copy, it would say the opposite of the verdict. */
export function stateOf({ state, tampered, verdict }: Pick<Delivery, 'state' | 'tampered' | 'verdict'>) {
  if (verdict.forgeryAccepted) return FORGED_IPN_ACCEPTED;
  return tampered.length && verdict.tone === 'good' ? 'forged IPN rejected' : state;
}

/** The failure of `--require-delivery`; undefined if the receiver accepted every IPN. */
export function deliveryProblem(
  deliveries: readonly Pick<Delivery, 'state' | 'verdict'>[],
): string | undefined {
  const failed = deliveries.filter(({ state, verdict }) => state !== 'delivered' || verdict.tone === 'bad');
  const [first] = failed;
  if (!first) return undefined;
  const { cause, forgeryAccepted } = first.verdict;
  return forgeryAccepted ? cause : `${failed.length} of ${deliveries.length} IPNs not accepted: ${cause}`;
}

/** What the response to a rejected attempt says; undefined if its body is empty. */
export function answerText({ error, responseBody }: Pick<Attempt, 'error' | 'responseBody'>) {
  const words = error === null ? undefined : ownWords(responseBody ?? '');
  return words === undefined ? undefined : onOneLine(words);
}

/** What to run next if the last attempt was not accepted. */
export function whatToDo(ipn: FiredIpn): Hint[] {
  const { id, state, attempts, verdict, unexplained } = ipn;
  const last = attempts.at(-1);
  // The egress guard rejected it, so nothing was sent.
  if (id === null || !last || state === 'refused' || verdict.tone !== 'bad') return [];
  const isAnswered = last.responseStatus !== null && last.error !== null;
  return [
    ...(unexplained ? [hint`Find the cause: ${command('ipn diagnose', id)}`] : []),
    ...(isAnswered && !unexplained ? [hint`Request and response: ${command('ipn show', id)}`] : []),
    ...(state === 'failed' ? [hint`After the fix, resend it: ${command('ipn resend', id)}`] : []),
  ];
}

/**
 * An attempt, line by line: the request (`>`), the response (`<`) and the error (`!`), as they were on the wire, but only
 * the text of a page.
 */
export function attemptText(attempt: Attempt): string {
  const { number, startedAt, durationMs, url, error, responseStatus } = attempt;
  const origin = originOf(attempt);
  const side = (mark: string, first: string, headers: Attempt['requestHeaders'], body: string | null) =>
    [first, ...headers.map((pair) => pair.join(': ')), '', body ?? '']
      .flatMap((text) => text.split(/\r?\n/))
      .map((line) => `  ${mark} ${line}`);
  return [
    `Attempt ${number}${origin && `, ${origin},`} at ${startedAt}, ${durationMs} ms`,
    ...side('>', `POST ${url}`, shownHeaders(attempt.requestHeaders), attempt.requestBody),
    ...(responseStatus === null
      ? []
      : side('<', `HTTP ${responseStatus}`, attempt.responseHeaders, readable(attempt.responseBody ?? ''))),
    ...(error === null ? [] : [`  ! ${error}`]),
  ].join('\n');
}

function readable(body: string): string {
  const lines = linesOfPage(body);
  if (!lines) return body;
  return [...lines, `(the text of a page of ${body.length} characters, which --json shows)`].join('\n');
}

/** The timeline of a payment as text: one line per step, followed by its warnings and the attempt. */
export function timelineText(timeline: readonly TimelineEntry[]): string {
  const width = Math.max(...timeline.map(({ event }) => TIMELINE_EVENTS[event].length));
  return timeline
    .flatMap(({ at, event, detail, warnings, attempt }) => [
      wrapped(
        `${moment(at)}  ${TIMELINE_EVENTS[event].padEnd(width)}  ${onOneLine(detail ?? '')}`.trimEnd(),
        '    ',
      ),
      ...warnings.map((warning) => wrapped(`  ! ${onOneLine(warning)}`, '    ')),
      ...(attempt ? [attemptText(attempt).replace(/^(?=.)/gm, '  ')] : []),
    ])
    .join('\n');
}

/** The result of `ipn verify`. */
export function verificationText(verification: Verification): string {
  const { valid, reasons, fix, identifier, amount, status, expected } = verification;
  return [
    valid ? 'valid' : 'not valid',
    ...reasons.map((reason) => `  ${onOneLine(reason)}`),
    ...(fix === null ? [] : [`  Fix: ${fix}`]),
    ...(identifier === null
      ? []
      : [`  ${onOneLine(`identifier ${identifier}, amount ${amount}, status ${status}`)}`]),
    ...(valid || expected === null ? [] : [`  the signature must be ${expected}`]),
  ].join('\n');
}

/** The style of lines: their colours, and the commands in them. */
type LineStyle = Pick<Output, 'colour' | 'style'>;

/** Returns a function that prints events as lines, or with --json as documents. */
export function eventPrinter(output: Output): (event: SimEvent) => void {
  return (event) => {
    if (output.json) output.document(JSON.stringify(event));
    else for (const line of eventLines(event, output)) output.line(line);
  };
}

/** The lines that describe an event: `-->` is incoming, `<--` is outgoing. May be empty. */
export function eventLines(event: SimEvent, { colour, style }: LineStyle): Printed[] {
  const [first, ...notes] = linesOf(event, { colour, style });
  const indent = ' '.repeat(15);
  // A command stays on one line, so that it can be pasted.
  const program = style.command({ command: '' });
  return [
    ...(first === undefined ? [] : [Printed.line`${clockTime(event.at)}  ${first}`.wrapped(indent)]),
    ...notes.flatMap((text) => {
      if (text instanceof Printed) return Printed.line`${indent}${text}`.wrapped(indent);
      const whole = Printed.line`          ${colour.yellow('!')}    ${text}`;
      const at = text.indexOf(program);
      if (at === -1) return whole.wrapped(indent);
      if (whole.text.length <= columns()) return whole;
      const before = Printed.line`          ${colour.yellow('!')}    ${text.slice(0, at).trimEnd()}`;
      return [before, Printed.line`${indent}${text.slice(at)}`];
    }),
  ];
}

/** Reported by other lines: the request for a page, the sent code. */
const TOLD_ELSEWHERE: readonly string[] = ['opened', 'code_sent'];

/** The event without its time, followed by what needs somebody (texts), and by what does not. May be empty. */
type Lines = [] | [first: Printed, ...notes: (string | Printed)[]];

function linesOf(event: SimEvent, as: LineStyle): Lines {
  const { colour } = as;
  switch (event.type) {
    case 'request': {
      const { method, target, status, durationMs, notes } = event.request;
      const path = target.split('?', 1)[0] ?? target;
      // As in deployments, the response to a rejected initiate request has status 200, so the status is not enough.
      const isRejected = status === 200 && isRejectedInitiate(event.request);
      const answer = isRejected ? colour.yellow(`${status} rejected`) : statusText(status, colour);
      return [Printed.line`-->  ${method} ${path}  ${answer}  ${durationMs} ms`, ...notes];
    }
    case 'payment': {
      // One line for the last step of a change. Other lines report the steps before it.
      const step = event.steps.findLast((one) => !TOLD_ELSEWHERE.includes(one.event));
      if (!step) return [];
      const { id, identifier, mode, status, amount, currency } = event.payment;
      if (step.event !== 'initiated' && step.event !== 'settled') {
        const detail = step.detail === null ? '' : `: ${step.detail}`;
        return [Printed.line`     payment ${identifier}  ${PAYMENT_EVENTS[step.event]}${detail}`];
      }
      const line = Printed.line`     payment ${identifier}  ${amount} ${currency}  ${mode}  ${colour.bold(status)}  ${id}`;
      // The line of the initiate request reports its warnings.
      return step.event === 'settled' ? [line, ...event.warnings] : [line];
    }
    case 'delivery':
      return deliveryLines(event, as);
    case 'message': {
      const { email, code, identifier } = event.message;
      return [Printed.line`<--  code ${colour.bold(code)} to ${email}  ${identifier}`];
    }
    case 'cardTransaction': {
      const { cardId, type, amount, currency, details } = event.cardTransaction;
      const about = details ? `  ${details}` : '';
      return [Printed.line`     card ${cardId}  ${type}${amount} ${currency}${about}`];
    }
    case 'notice':
      return [Printed.line`${event.warning ? colour.yellow('!') : ' '}    ${event.text}`];
  }
}

function deliveryLines(
  { delivery, step, at }: Extract<SimEvent, { type: 'delivery' }>,
  { colour, style }: LineStyle,
): Lines {
  const { identifier, attempts, note, postponedBy, nextAttemptAt, state, underWay, verdict } = delivery;
  const line = (what: string | Printed, number: number) =>
    Printed.line`<--  IPN ${receiverOf(delivery)}  ${what}  ${identifier}  attempt ${number}`;
  if (step === 'planned') {
    const isPutOff = postponedBy !== null && nextAttemptAt !== null && nextAttemptAt > at;
    return isPutOff
      ? [Printed.line`     IPN ${identifier}  ${note ?? ''}; next attempt at ${clockTime(nextAttemptAt)}`]
      : [];
  }
  if (step === 'waiting') {
    if (!underWay) return [];
    const wait = `no response after ${REDIRECT_WAIT_MS / 1_000} s, waiting up to ${underWay.timeoutMs / 1_000} s`;
    return [line(colour.yellow(wait), underWay.number)];
  }
  const last = attempts.at(-1);
  if (!last) return [];
  const { responseStatus, durationMs, number, error } = last;
  const isBad = verdict.tone === 'bad';
  let result = colour.red(state === 'refused' ? 'not sent' : 'no response');
  if (responseStatus !== null) result = statusText(responseStatus, colour);
  // A body can reject what its status accepts.
  if (isBad && error === null)
    result = colour.red(
      `${responseStatus} ${verdict.forgeryAccepted ? FORGED_IPN_ACCEPTED : 'not accepted'}`,
    );
  const first = line(Printed.line`${result}  ${durationMs} ms`, number);
  const changed = delivery.changes?.length
    ? [Printed.line`your shop: ${describeChanges(delivery.changes)}`]
    : [];
  if (error === null && !isBad && verdict.tone !== 'warning') return [first, ...changed];
  const { cause, fix } = verdict;
  const [next] = whatToDo(delivery);
  return [
    first,
    ...changed,
    cause,
    ...(fix === null ? [] : [`${fixLabel(verdict)}: ${fix}`]),
    ...(next ? [renderHint(next, style)] : []),
  ];
}

/** The local time, to the second. */
function clockTime(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function statusText(status: number, colour: Output['colour']): Printed {
  if (status >= 500) return colour.red(String(status));
  return status >= 400 ? colour.yellow(String(status)) : colour.green(String(status));
}
