import type { TimelineEntry } from '../contract/payment.ts';
import { attemptText } from './format-attempt.ts';
import { onOneLine } from './printable.ts';

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
