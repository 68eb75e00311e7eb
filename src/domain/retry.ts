import type { EgressFailure } from '../contract/failure.ts';
import type { FaultRule } from '../contract/fault.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Context } from './settings.ts';
import type { Attempt, Delivery, RuleResult, State } from './state.ts';

/** What one attempt brought, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'startedAt'>;

/** A retry comes at most this much earlier than planned, so that many due at once spread out (chosen). */
const JITTER = 0.1;

type Facts = AttemptReport & { startedAt: string };

/** The delivery as it is now; none where a reset took it away while it was on its way. */
type Recorded = RuleResult<Delivery | undefined>;

/** Rule: an attempt is kept, and decides whether the delivery is done, given up, or tried again and when. */
export function recordAttempt(state: State, deliveryId: string, facts: Facts, context: Context): Recorded {
  return keep(state, deliveryId, facts, context, (delivery) => {
    const attempts = state.attemptsOf(deliveryId);
    // What arrived once stays delivered, and is not tried again by itself: the receiver has it (chosen: ipn-answer-ignored).
    const isReceived = attempts.some(({ failure }) => failure === null);
    const next = isReceived ? RECEIVED : verdict(facts, delivery, context);
    return { ...next, postponedBy: null };
  });
}

/** Rule: an attempt beyond those that count, such as a duplicate, is kept and decides nothing. */
export function recordExtraAttempt(
  state: State,
  deliveryId: string,
  facts: Facts,
  context: Context,
): Recorded {
  return keep(state, deliveryId, facts, context, () => ({}));
}

function keep(
  state: State,
  deliveryId: string,
  { startedAt, ...report }: Facts,
  { ids }: Context,
  decide: (delivery: Delivery) => Partial<Delivery>,
): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (!delivery) return { change: {}, result: undefined };
  const number = delivery.attemptCount + 1;
  const attempt: Attempt = { id: ids.attempt(), deliveryId, number, startedAt, ...report };
  const updated = { ...delivery, attemptCount: number, ...decide(delivery) };
  return { change: { attempts: [attempt], deliveries: [updated] }, result: updated };
}

/**
 * Rule: a delivery goes out at another time than planned.
 *
 * @param rule the fault rule that wants it; default: the one that did so before
 */
export function postpone(state: State, deliveryId: string, at: number, rule?: FaultRule): Recorded {
  const delivery = state.deliveries.get(deliveryId);
  if (delivery?.state !== 'pending') return { change: {}, result: undefined };
  const moved = {
    ...delivery,
    nextAttemptAt: timestamp(at),
    postponedBy: rule ?? delivery.postponedBy,
  };
  return { change: { deliveries: [moved] }, result: moved };
}

/** Why the egress guard blocked the last attempt of a delivery; undefined where it did not. */
export function egressFailure(state: State, delivery: Delivery): EgressFailure | undefined {
  const failure = state.attemptsOf(delivery.id).at(-1)?.failure;
  return failure?.code === 'egress' ? failure : undefined;
}

type Verdict = Pick<Delivery, 'state' | 'nextAttemptAt'>;

const RECEIVED: Verdict = { state: 'delivered', nextAttemptAt: null };

function verdict(report: AttemptReport, delivery: Delivery, { settings, ids, now }: Context): Verdict {
  if (report.failure === null) return RECEIVED;
  // A retry would change nothing.
  if (report.failure.code === 'egress') return { state: 'refused', nextAttemptAt: null };
  const wait = settings.ipn.schedule[delivery.attemptCount];
  if (wait === undefined || delivery.once) return { state: 'failed', nextAttemptAt: null };
  const shortened = Math.ceil(wait * (1 - JITTER * ids.fraction('jitter')));
  const requested = retryAfter(report.responseHeaders, now);
  return { state: 'pending', nextAttemptAt: timestamp(now + Math.max(shortened, requested)) };
}

/** A receiver that asks for more time than this gets this (chosen). */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * How long a receiver asks to be left alone, in milliseconds: seconds, or a date, which is read against the answer's
 * own `Date`, since the emulator's clock may stand elsewhere. It can put a retry off, never bring it forward (chosen).
 */
function retryAfter(headers: readonly (readonly [string, string])[], now: number): number {
  const header = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1].trim();
  const asked = header('retry-after') ?? '';
  const sentAt = Date.parse(header('date') ?? '');
  const wait = /^\d+$/.test(asked)
    ? Number(asked) * 1_000
    : Date.parse(asked) - (Number.isNaN(sentAt) ? now : sentAt);
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
