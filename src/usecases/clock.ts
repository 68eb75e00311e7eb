import { type ClockInput, parseInstant } from '../contract/clock.ts';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import type { PaymentOutcome } from '../contract/outcomes.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Delivery, Payment, State } from '../domain/state.ts';
import type { Clock, ClockReading, MoveResult } from '../system/clock.ts';
import { dueOf } from './auto-settle.ts';
import type { UseCaseParts } from './parts.ts';

/** The clock goes no further: every wait that begins then still ends in a year of four digits (chosen). */
const LATEST = Date.UTC(9999, 0, 1);

export function clockUseCases({ clock, events, store }: UseCaseParts) {
  /** Keeps how the clock stands, or is about to: a kill on the way leaves nothing ahead of it. */
  const keep = (standing: Standing) =>
    store.commit(() => ({ change: { clock: [recordOf(standing)] }, result: null }));
  /** A move that took too long ended before the instant that is kept. */
  const ended = async (move: Promise<MoveResult>) => {
    const result = await move;
    if (result === 'late') await keep(clock.read());
    requireMoved(result, clock.now());
  };
  return {
    /** The emulator's time, in milliseconds since 1970. */
    now: (): number => clock.now(),
    read: (): ClockReading => clock.read(),

    /** When the first thing is due that the next start goes on with, an attempt that was ended included; null when there is none. */
    nextAfterRestart: (): number | null => firstDue(store.state),

    /** What is to be done next, soonest first: at most `limit`. */
    upcoming: (limit: number): Upcoming[] =>
      clock.upcoming(limit).flatMap(({ id, at }) => upcomingOf(store.state, id, at) ?? []),

    /**
     * Moves the clock and reports it in the log.
     *
     * @throws GatewayError `invalid_fields` for what would go backwards, `timed_out` when what fell due takes too long
     */
    async move({ advance, freeze, timeout }: ClockInput): Promise<ClockReading> {
      const limitMs = parseDuration(timeout);
      if (advance !== undefined) {
        const milliseconds = parseDuration(advance) ?? 0;
        const { now, ahead, frozen } = clock.read();
        requireReachable('advance', now + milliseconds);
        await keep({ now: now + milliseconds, ahead: ahead + milliseconds, frozen });
        await ended(clock.advance(milliseconds, limitMs));
      } else if (freeze !== undefined) {
        const at = freeze === 'now' ? undefined : parseInstant(freeze);
        const { now, ahead } = clock.read();
        requireReachable('freeze', at ?? 0);
        if (at !== undefined && at < now) requireMoved('past', now);
        await keep({ now: at ?? now, ahead, frozen: true });
        await ended(clock.freeze(at, limitMs));
      } else await clock.resume();
      const reading = clock.read();
      await keep(reading);
      const at = timestamp(reading.now);
      events.notice(`the clock ${reading.frozen ? 'stands still' : 'goes on'} at ${at}`);
      return reading;
    },
  };
}

type Standing = Pick<ClockReading, 'now' | 'ahead' | 'frozen'>;

function recordOf({ now, ahead, frozen }: Standing) {
  return { id: 'clock', aheadMs: Math.round(ahead), frozenAt: frozen ? timestamp(now) : null } as const;
}

/** What waits for its time: an attempt at an IPN, or a payment that settles itself or expires. */
export type Upcoming = { at: number } & (
  | { what: 'attempt'; delivery: Delivery }
  | { what: 'settle'; payment: Payment; outcome: PaymentOutcome }
);

function firstDue({ deliveries, payments }: State): number | null {
  let first = Number.POSITIVE_INFINITY;
  for (const { state, nextAttemptAt } of deliveries.values()) {
    if (state === 'pending' && nextAttemptAt !== null) first = Math.min(first, Date.parse(nextAttemptAt));
  }
  for (const payment of payments.values()) first = Math.min(first, dueOf(payment)?.at ?? first);
  return first === Number.POSITIVE_INFINITY ? null : first;
}

function upcomingOf({ payments, deliveries }: State, id: string, at: number): Upcoming | undefined {
  const delivery = deliveries.get(id);
  if (delivery) return { at, what: 'attempt', delivery };
  const payment = payments.get(id);
  const due = dueOf(payment);
  return payment && due && { at, what: 'settle', payment, outcome: due.command.outcome };
}

/** Lets the clock go on as the state says that it stood. */
export function resumeClock(clock: Clock, { clock: stored }: Pick<State, 'clock'>): void {
  const standing = stored.get('clock');
  if (!standing) return;
  clock.restore(standing.aheadMs, standing.frozenAt === null ? null : Date.parse(standing.frozenAt));
}

function requireReachable(field: string, at: number): void {
  if (at <= LATEST) return;
  throw new GatewayError('invalid_fields', `${field} must not lead beyond ${timestamp(LATEST)}`);
}

function requireMoved(result: MoveResult, at: number): void {
  const now = timestamp(at);
  if (result === 'past') {
    const problem = `freeze must not move the clock backwards: it stands at ${now}`;
    throw new GatewayError('invalid_fields', problem, {
      hint: hint`A fresh emulator starts at real time again: ${command('start')}.`,
    });
  }
  if (result === 'late') {
    throw new GatewayError('timed_out', `what is due takes long: the clock got as far as ${now}`, {
      hint: hint`Move it again for the rest; a receiver that never answers costs its whole ${option('ipnTimeout')}.`,
    });
  }
}
