import * as z from 'zod/mini';
import { dueTime, field, nullableText, record, request, TIME, time, yesOrNo } from './field.ts';
import { textThat } from './input.ts';
import { CLOCK_FIELDS, sentencesOf } from './request-fields.ts';
import { DURATION_PATTERN, isDuration, LONGEST_MOVE_MS, parseDuration, parseInstant } from './time.ts';

export const Clock = record('Clock', "The emulator's clock.", {
  now: time("The emulator's time."),
  frozen: field(yesOrNo, 'Whether it is paused.'),
  aheadMs: field(z.number(), 'Milliseconds ahead of real time.'),
  nextDue: field(
    nullableText,
    'Time of the next scheduled event, such as a retry or an expiry; null when nothing is scheduled.',
    TIME,
  ),
});
export type Clock = z.output<typeof Clock>;

/** Stored after the first move of the clock, so that a restart does not change what is due. */
export const StoredClock = record('StoredClock', 'The clock setting, stored once the clock has been moved.', {
  id: field(z.literal('clock'), 'Always `clock`.'),
  aheadMs: field(z.int(), 'Milliseconds ahead of real time, unless it is paused.'),
  frozenAt: field(z.nullable(dueTime), 'The time at which it is paused; null when it runs.', TIME),
});
export type StoredClock = z.output<typeof StoredClock>;

export const ClockInput = request(
  'ClockInput',
  'One move of the clock: exactly one of `advance`, `freeze`, `resume` and `reset`.',
  {
    advance: field(
      z.optional(
        textThat(
          (value) => parseDuration(value) !== undefined,
          'must be a duration such as 500ms, 2s, 1m or 1h: the clock only moves forward, and clock reset returns it to real time',
        ),
      ),
      'How far to advance. Everything that falls due on the way runs in order.',
      { pattern: DURATION_PATTERN },
    ),
    freeze: field(
      z.optional(
        textThat(
          (value) => value === 'now' || parseInstant(value) !== undefined,
          'must be now, or a time with its zone such as 2027-01-01T00:00:00Z',
        ),
      ),
      '`now`, or a time with its zone such as 2027-01-01T00:00:00Z; never backwards.',
    ),
    resume: field(z.optional(z.literal(true)), 'Resumes a paused clock.'),
    reset: field(
      z.optional(z.literal(true)),
      "Returns to the system's time, which may be earlier. What is scheduled keeps its time.",
    ),
    timeout: field(
      z.optional(
        textThat(
          (value) => isDuration(value, LONGEST_MOVE_MS),
          'must be a duration such as 500ms or 10s, at most 240s',
        ),
      ),
      sentencesOf(CLOCK_FIELDS.timeout),
      { pattern: DURATION_PATTERN },
    ),
  },
  { advance: '2h' },
  ({ value: move, issues }) => {
    const { timeout: _, ...moves } = move;
    if (Object.values(moves).filter((value) => value !== undefined).length === 1) return;
    const message = 'must have exactly one of advance, freeze, resume and reset';
    issues.push({ code: 'custom', input: move, message });
  },
);
export type ClockInput = z.output<typeof ClockInput>;
