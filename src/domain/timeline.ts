import { describeEvent } from '../contract/checkout.ts';
import { attemptView, outcomeOf } from '../contract/describe-delivery.ts';
import type { PaymentStep, TimelineEntry } from '../contract/payment.ts';
import type { TimelineEvent } from '../contract/vocabulary.ts';
import type { Delivery, Payment, State } from './state.ts';

/**
 * The order of events with the same time, which are common while the clock is frozen. The redirect waits for the first
 * attempt. Due attempts are last.
 */
const RANK: Partial<Record<TimelineEvent, number>> = {
  initiated: 0,
  settled: 2,
  ipn_attempted: 3,
  redirected: 4,
  ipn_due: 5,
};
/** The pages of the checkout: after initiate, before settling. */
const PAGE_RANK = 1;

/** Finds an event's request in the request log; null if it is not there. */
type FindRequest = (stored: string | undefined) => number | null;

/** The payment's own steps in order. */
export function paymentSteps(payment: Payment, requestIdOf: FindRequest): PaymentStep[] {
  const { createdAt: at, requestId, history } = payment;
  return [
    { at, event: 'initiated', detail: null, value: null, problem: null, requestId: requestIdOf(requestId) },
    ...history.map((happened) => ({
      ...happened,
      detail: describeEvent(happened),
      problem: happened.problem ?? null,
      requestId: requestIdOf(happened.requestId),
    })),
  ];
}

/** The whole timeline of a payment: initiate, pages, settling, attempts and redirect. */
export function timeline(payment: Payment, state: State, requestIdOf: FindRequest): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...paymentSteps(payment, requestIdOf).map((step) => ({
      ...step,
      warnings: step.event === 'initiated' ? payment.warnings : [],
      deliveryId: null,
      attempt: null,
    })),
    ...state.deliveriesOf(payment.id).flatMap((delivery) => deliveryEntries(delivery, state)),
  ];
  const rank = ({ event }: TimelineEntry) => RANK[event] ?? PAGE_RANK;
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : rank(a) - rank(b)));
}

/** The fields of events without a request or input. */
const OF_DELIVERY = { value: null, problem: null, requestId: null, warnings: [] };

function deliveryEntries(delivery: Delivery, state: State): TimelineEntry[] {
  const { id: deliveryId, nextAttemptAt, attemptCount } = delivery;
  const attempts = state.attemptsOf(deliveryId).map((stored) => {
    const attempt = attemptView(stored);
    const detail = `${deliveryId} attempt ${attempt.number}: ${outcomeOf(attempt)}`;
    return {
      ...OF_DELIVERY,
      at: attempt.startedAt,
      event: 'ipn_attempted',
      detail,
      deliveryId,
      attempt,
    } as const;
  });
  if (nextAttemptAt === null) return attempts;
  const detail = `${deliveryId} attempt ${attemptCount + 1} is due`;
  return [
    ...attempts,
    { ...OF_DELIVERY, at: nextAttemptAt, event: 'ipn_due', detail, deliveryId, attempt: null },
  ];
}
