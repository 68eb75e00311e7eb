import type { ChalkInstance } from 'chalk';
import { isReportable } from '../contract/audit.ts';
import type { Attempt, Delivery } from '../contract/delivery.ts';
import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import type { SimEvent } from '../contract/event.ts';
import { type HintStyle, renderHint } from '../contract/hint.ts';
import { PAYMENT_EVENTS } from '../contract/vocabulary.ts';
import { isRefusedInitiate } from '../library/merchant-client.ts';
import { answerText, receiverOf, whatToDo } from './format-attempt.ts';
import type { Output } from './output.ts';

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
