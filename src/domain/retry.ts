import type { EgressFailure } from '../contract/failure.ts';
import type { FaultRule } from '../contract/fault.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Context } from './settings.ts';
import type { Attempt, Delivery, RuleResult, State } from './state.ts';

/** The result of an attempt, before it has an id and a number. */
export type AttemptReport = Omit<Attempt, 'id' | 'deliveryId' | 'number' | 'startedAt'>;

/** Maximum fraction by which a retry is early, to spread retries that are due together (chosen). */
const JITTER = 0.1;

type Facts = AttemptReport & { startedAt: string };

/** The updated delivery; undefined if a reset removed it during the attempt. */
type Recorded = RuleResult<Delivery | undefined>;

/** Rule: stores an attempt, which decides whether the delivery succeeds, fails or is retried, and when. */
export function recordAttempt(state: State, deliveryId: string, facts: Facts, context: Context): Recorded {
  return keep(state, deliveryId, facts, context, (delivery) => {
    const attempts = state.attemptsOf(deliveryId);
    // A delivery that succeeded once stays delivered and is not retried automatically (chosen: ipn-answer-ignored).
    const isDelivered = attempts.some(({ failure }) => failure === null);
    const next = isDelivered ? DELIVERED : verdict(facts, delivery, context);
    return { ...next, postponedBy: null };
  });
}

/** Rule: stores an extra attempt, such as a duplicate, without changing the delivery's state. */
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
 * Rule: postpones a delivery.
 *
 * @param rule the fault rule that caused it; default: the previous one
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

/** Why the egress guard blocked the last attempt of a delivery; undefined if it did not. */
export function egressFailure(state: State, delivery: Delivery): EgressFailure | undefined {
  const failure = state.attemptsOf(delivery.id).at(-1)?.failure;
  return failure?.code === 'egress' ? failure : undefined;
}

type Verdict = Pick<Delivery, 'state' | 'nextAttemptAt'>;

const DELIVERED: Verdict = { state: 'delivered', nextAttemptAt: null };

function verdict(report: AttemptReport, delivery: Delivery, { settings, ids, now }: Context): Verdict {
  if (report.failure === null) return DELIVERED;
  // A retry would not help.
  if (report.failure.code === 'egress') return { state: 'refused', nextAttemptAt: null };
  const wait = settings.ipn.schedule[delivery.attemptCount];
  if (wait === undefined || delivery.once) return { state: 'failed', nextAttemptAt: null };
  const shortened = Math.ceil(wait * (1 - JITTER * ids.fraction('jitter')));
  const requested = retryAfter(report.responseHeaders, now);
  return { state: 'pending', nextAttemptAt: timestamp(now + Math.max(shortened, requested)) };
}

/** Maximum delay that a receiver can request (chosen). */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * The delay requested with `Retry-After`, in milliseconds. A date is relative to the `Date` of the response, because the
 * emulator's clock may differ. It can delay a retry but never bring it forward (chosen).
 */
function retryAfter(headers: readonly (readonly [string, string])[], now: number): number {
  const header = (lowerCase: string) =>
    headers.find(([name]) => name.toLowerCase() === lowerCase)?.[1].trim();
  const delay = header('retry-after') ?? '';
  const sentAt = Date.parse(header('date') ?? '');
  const wait = /^\d+$/.test(delay)
    ? Number(delay) * 1_000
    : Date.parse(delay) - (Number.isNaN(sentAt) ? now : sentAt);
  return Number.isNaN(wait) ? 0 : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
