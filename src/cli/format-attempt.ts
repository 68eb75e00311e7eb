import type { Attempt } from '../contract/delivery.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import { onOneLine } from './printable.ts';

/** What came of a delivery so far, in a few words. */
export function describeLastAttempt({
  attempts,
}: {
  attempts: readonly Pick<Attempt, 'error' | 'responseStatus'>[];
}): string {
  const last = attempts.at(-1);
  return last ? (last.error ?? `answered ${last.responseStatus}`) : 'no attempt yet';
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
