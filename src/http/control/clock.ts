import { Hono } from 'hono';
import * as z from 'zod/mini';
import { parseDuration } from '../../contract/duration.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { timestamp } from '../../domain/settings.ts';
import type { Clock, ClockReading, MoveResult } from '../../system/clock.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { jsonInput } from '../input.ts';

/** No clock goes further: every wait that begins then still ends in a year of four digits (chosen). */
const LATEST = Date.UTC(9999, 0, 1);
/** ISO 8601 with a zone; a date alone is its midnight in UTC. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Reads an instant as milliseconds since 1970; undefined for what is none. */
function parseInstant(text: string): number | undefined {
  const [, date] = INSTANT.exec(text) ?? [];
  // 30 February would silently become a day in March.
  if (date === undefined || !new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function checked(isValid: (text: string) => boolean, expected: string) {
  return z.string().check(z.refine(isValid, { error: expected }));
}

/** One move of the clock: exactly one of the three. */
export const ClockInput = z
  .strictObject({
    advance: z.optional(
      checked(
        (text) => parseDuration(text) !== undefined,
        'must be a duration such as 500ms, 2s, 1m or 1h: the clock only moves forward',
      ),
    ),
    freeze: z.optional(
      checked(
        (text) => text === 'now' || parseInstant(text) !== undefined,
        'must be now, or a time with its zone such as 2027-01-01T00:00:00Z',
      ),
    ),
    resume: z.optional(z.literal(true)),
  })
  .check((move) => {
    if (Object.values(move.value).filter((value) => value !== undefined).length === 1) return;
    const message = 'the input must have exactly one of advance, freeze and resume';
    move.issues.push({ code: 'custom', input: move.value, message });
  });

/** How the clock stands, as the control API shows it. */
export interface ClockView {
  now: string;
  frozen: boolean;
  /** How far the emulator's time is ahead of real time, in milliseconds. */
  aheadMs: number;
  /** When the next thing is due: a retry, an expiry; null when nothing waits. */
  nextDue: string | null;
}

/** The public record of the clock. */
export function clockView({ now, frozen, ahead, nextDue }: ClockReading): ClockView {
  return {
    now: timestamp(now),
    frozen,
    aheadMs: ahead,
    nextDue: nextDue === null ? null : timestamp(nextDue),
  };
}

/** Routes below `/_sim/clock`. */
export function clockRoutes(parts: AppParts) {
  const { clock } = parts;
  return new Hono<AppEnvironment>()
    .get('/', (c) => c.json(clockView(clock.read())))
    .post('/', jsonInput(ClockInput), async (c) => {
      return c.json(await moveClock(parts, c.req.valid('json')));
    });
}

/**
 * Moves the clock and says so in the log.
 *
 * @throws GatewayError `invalid_fields` for what would go backwards, `timed_out` when what fell due takes too long
 */
export async function moveClock(
  { clock, activity }: AppParts,
  input: z.output<typeof ClockInput>,
): Promise<ClockView> {
  await move(clock, input);
  const view = clockView(clock.read());
  activity.notice(view.now, `the clock ${view.frozen ? 'stands still' : 'goes on'} at ${view.now}`);
  return view;
}

async function move(clock: Clock, { advance, freeze }: z.output<typeof ClockInput>): Promise<void> {
  if (advance !== undefined) {
    const milliseconds = parseDuration(advance) ?? 0;
    requireReachable('advance', clock.now() + milliseconds);
    report(await clock.advance(milliseconds), 'advance', clock);
  } else if (freeze !== undefined) {
    const at = freeze === 'now' ? undefined : parseInstant(freeze);
    requireReachable('freeze', at ?? 0);
    report(await clock.freeze(at), 'freeze', clock);
  } else await clock.resume();
}

function requireReachable(field: string, at: number): void {
  if (at <= LATEST) return;
  throw new GatewayError('invalid_fields', `${field} must not lead beyond ${timestamp(LATEST)}`);
}

function report(moved: MoveResult, field: string, clock: Clock): void {
  const now = timestamp(clock.now());
  if (moved === 'past') {
    throw new GatewayError(
      'invalid_fields',
      `${field} must not move the clock backwards: it stands at ${now}`,
      {
        hint: hint`A fresh emulator starts at real time again: ${command('start')}.`,
      },
    );
  }
  if (moved === 'late') {
    throw new GatewayError('timed_out', `what is due takes long: the clock got as far as ${now}`, {
      hint: hint`Move it again for the rest; a receiver that never answers costs its whole ${option('ipnTimeout')}.`,
    });
  }
}
