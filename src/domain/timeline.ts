import { describeEvent } from '../contract/checkout.ts';
import { attemptView, outcomeOf } from '../contract/describe-delivery.ts';
import type { PaymentStep, TimelineEntry } from '../contract/payment.ts';
import type { TimelineEvent } from '../contract/vocabulary.ts';
import type { Delivery, Payment, State } from './state.ts';

/**
 * What comes first of what happened at the same instant, which on a frozen clock is everything. The redirect waits for
 * the first attempt; what is due comes last.
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

/** What finds the request that an event carries in the request log; null where it is not there. */
type FindRequest = (stored: string | undefined) => number | null;

/** What happened to a payment itself, in order. */
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

/** The whole story of a payment in order: initiate, pages, settling, every attempt with both sides, redirect. */
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

/** What no request caused, and nobody entered. */
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
