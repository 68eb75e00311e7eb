import { Hono } from 'hono';
import { ClockInput } from '../../contract/clock.ts';
import { timestamp } from '../../domain/settings.ts';
import type { ClockReading } from '../../system/clock.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { jsonInput } from '../input.ts';

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
export function clockRoutes({ clock }: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/', (c) => c.json(clockView(clock.read())))
    .post('/', jsonInput(ClockInput), async (c) => c.json(clockView(await clock.move(c.req.valid('json')))));
}
