import type { ChalkInstance } from 'chalk';
import { isTold } from '../contract/audit.ts';
import type { RecordedRequest, SimEvent } from '../contract/event.ts';
import type { Output } from './output.ts';

/** Shows an event: in lines, with --json as a document. */
export function showEvent(event: SimEvent, output: Output): void {
  if (output.json) output.line(JSON.stringify(event));
  else for (const line of eventLines(event, output.colour)) output.line(line);
}

/** The lines that describe an event: `-->` arrives, `<--` leaves. Empty where there is nothing to say. */
export function eventLines(activity: SimEvent, colour: ChalkInstance): string[] {
  // No line of a value can pass for one of ours.
  return linesOf(activity, colour).map((line) => line.replaceAll('\n', '\\u000a'));
}

function linesOf(activity: SimEvent, colour: ChalkInstance): string[] {
  switch (activity.type) {
    case 'request': {
      const { at, method, target, status, durationMs, notes } = activity.request;
      const path = target.split('?', 1)[0] ?? target;
      const answer = isRefused(activity.request)
        ? colour.yellow(`${status} refused`)
        : statusText(status, colour);
      const line = `${clockTime(at)}  -->  ${method} ${path}  ${answer}  ${durationMs} ms`;
      return [line, ...notes.map((note) => warning(note, colour))];
    }
    case 'payment': {
      const { id, identifier, mode, status, amount, currency, settledAt, createdAt } = activity.payment;
      // Pages opened and codes entered change a payment too; only its beginning and its end are news.
      if (status === 'pending' && activity.payment.payerEmail !== null) return [];
      const at = settledAt ?? createdAt;
      return [
        `${clockTime(at)}       payment ${identifier}  ${amount} ${currency}  ${mode}  ${colour.bold(status)}  ${id}`,
      ];
    }
    case 'delivery': {
      const { url, identifier, attempts, state, note, nextAttemptAt } = activity.delivery;
      const last = attempts.at(-1);
      if (!last) return [];
      const result =
        last.responseStatus === null ? colour.red('no answer') : statusText(last.responseStatus, colour);
      const line = `${clockTime(last.startedAt)}  <--  IPN POST ${url}  ${result}  ${last.durationMs} ms  ${identifier}  attempt ${last.number}`;
      if (state === 'delivered') return [line];
      const next = nextAttemptAt ? `; next attempt at ${clockTime(nextAttemptAt)}` : `; ${state}`;
      return [line, warning(`${note ?? 'not delivered'}${next}`, colour)];
    }
    case 'message': {
      const { sentAt, email, code, identifier } = activity.message;
      return [`${clockTime(sentAt)}  <--  code ${colour.bold(code)} to ${email}  ${identifier}`];
    }
    case 'cardTransaction': {
      const { createdAt, cardId, type, amount, currency, details } = activity.cardTransaction;
      return [
        `${clockTime(createdAt)}       card ${cardId}  ${type}${amount} ${currency}  ${details}`.trimEnd(),
      ];
    }
    case 'audit': {
      const { state, done, of, latest } = activity.audit;
      // The hundred that pass would bury what does not.
      if (latest && !isTold(latest.verdict)) return [];
      const what = latest ? `${colour.red(latest.verdict)} ${latest.name}` : state;
      return [`${clockTime(activity.at)}       audit ${done} of ${of}  ${what}`];
    }
    case 'notice':
      return [`${clockTime(activity.at)}  ${colour.yellow('!')}    ${activity.text}`];
  }
}

/** Refused initiates are answered 200, as deployments do: the status does not tell. */
function isRefused({ method, target, status, paymentId }: RecordedRequest): boolean {
  return (
    method === 'POST' && status === 200 && paymentId === null && /\/payment\/initiate(\?|$)/.test(target)
  );
}

function clockTime(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function statusText(status: number, colour: ChalkInstance): string {
  if (status >= 500) return colour.red(String(status));
  return status >= 400 ? colour.yellow(String(status)) : colour.green(String(status));
}

function warning(text: string, colour: ChalkInstance): string {
  return `          ${colour.yellow('!')}    ${text}`;
}
