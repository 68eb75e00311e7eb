import type { ClockInput } from '../contract/clock.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import { parseDuration, parseInstant, timestamp } from '../contract/time.ts';
import type { State } from '../domain/state.ts';
import type { Clock, ClockReading, MoveResult } from '../system/clock.ts';
import { dueOf } from './auto-settle.ts';
import type { UseCaseDependencies } from './dependencies.ts';

/** The latest time of the clock: every wait from then still ends in a year with four digits (chosen). */
const LATEST = Date.UTC(9999, 0, 1);

export function clockUseCases({ clock, events, store }: UseCaseDependencies) {
  /** Stores the new reading before a move, so that after a crash no record is later than the stored clock. */
  const save = (setting: ClockSetting) =>
    store.commit(() => ({ change: { clock: [recordOf(setting)] }, result: null }));
  /** A move that timed out ended before the stored time. */
  const ended = async (move: Promise<MoveResult>) => {
    const result = await move;
    if (result === 'late') await save(clock.read());
    requireMoved(result, clock.now());
  };
  return {
    /** The emulator's time, in milliseconds since 1970. */
    now: (): number => clock.now(),
    read: (): ClockReading => clock.read(),

    /** Starts the work that is due, so that a reader does not see the state before it. */
    runDue: (): void => clock.runDue(),

    /** When the first task is due after the next start, including interrupted attempts; null if there is none. */
    nextAfterRestart: (): number | null => firstDue(store.state),

    /**
     * Moves the clock and reports it in the log.
     *
     * @throws GatewayError `invalid_fields` for a move backwards, `timed_out` if the due tasks take too long
     */
    async move(input: ClockInput): Promise<ClockReading> {
      const { advance, freeze, timeout } = input;
      const limitMs = parseDuration(timeout);
      if (advance !== undefined) {
        const milliseconds = parseDuration(advance) ?? 0;
        const { now, ahead, frozen } = clock.read();
        requireReachable('advance', now + milliseconds);
        await save({ now: now + milliseconds, ahead: ahead + milliseconds, frozen });
        await ended(clock.advance(milliseconds, limitMs));
      } else if (freeze !== undefined) {
        const at = freeze === 'now' ? undefined : parseInstant(freeze);
        const { now, ahead } = clock.read();
        requireReachable('freeze', at ?? 0);
        if (at !== undefined && at < now) requireMoved('past', now);
        await save({ now: at ?? now, ahead, frozen: true });
        await ended(clock.freeze(at, limitMs));
      } else await (input.reset ? clock.reset() : clock.resume());
      const reading = clock.read();
      await save(reading);
      const at = timestamp(reading.now);
      events.notice(`the clock ${reading.frozen ? 'is paused at' : 'runs from'} ${at}`);
      return reading;
    },
  };
}

type ClockSetting = Pick<ClockReading, 'now' | 'ahead' | 'frozen'>;

function recordOf({ now, ahead, frozen }: ClockSetting) {
  return { id: 'clock', aheadMs: Math.round(ahead), frozenAt: frozen ? timestamp(now) : null } as const;
}

function firstDue({ deliveries, payments }: State): number | null {
  let first = Number.POSITIVE_INFINITY;
  for (const { state, nextAttemptAt } of deliveries.values()) {
    if (state === 'pending' && nextAttemptAt !== null) first = Math.min(first, Date.parse(nextAttemptAt));
  }
  for (const payment of payments.values()) first = Math.min(first, dueOf(payment)?.at ?? first);
  return first === Number.POSITIVE_INFINITY ? null : first;
}

/** Restores the clock from the state. */
export function resumeClock(clock: Clock, { clock: stored }: Pick<State, 'clock'>): void {
  const setting = stored.get('clock');
  if (!setting) return;
  clock.restore(setting.aheadMs, setting.frozenAt === null ? null : Date.parse(setting.frozenAt));
}

function requireReachable(field: string, at: number): void {
  if (at <= LATEST) return;
  throw new GatewayError('invalid_fields', `${field} must not move the clock beyond ${timestamp(LATEST)}`);
}

function requireMoved(result: MoveResult, at: number): void {
  const now = timestamp(at);
  if (result === 'past') {
    const problem = `freeze must not move the clock backwards: it is at ${now}`;
    throw new GatewayError('invalid_fields', problem, {
      hint: hint`Return to the system's time with: ${command('clock reset')}`,
    });
  }
  if (result === 'late') {
    throw new GatewayError('timed_out', `the due tasks took too long: the clock stopped at ${now}`, {
      hint: hint`Move it again to continue. A receiver that never responds uses up its whole time limit (ipnTimeout).`,
    });
  }
}
