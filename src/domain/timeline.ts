import type { TimelineEntry } from '../contract/payment.ts';
import type { TimelineEvent } from '../contract/vocabulary.ts';
import type { Attempt, Delivery, Payment, State } from './state.ts';

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

/** The whole story of a payment in order: initiate, pages, settling, every attempt with both sides, redirect. */
export function timeline(payment: Payment, state: State): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    entry(payment.createdAt, 'initiated', { warnings: payment.warnings }),
    ...payment.history.map(({ at, event, detail }) => entry(at, event, { detail })),
    ...state.deliveriesOf(payment.id).flatMap((delivery) => deliveryEntries(delivery, state)),
  ];
  const rank = ({ event }: TimelineEntry) => RANK[event] ?? PAGE_RANK;
  return entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : rank(a) - rank(b)));
}

function entry(at: string, event: TimelineEvent, more: Partial<TimelineEntry> = {}): TimelineEntry {
  return { at, event, detail: null, warnings: [], deliveryId: null, attempt: null, ...more };
}

function deliveryEntries(delivery: Delivery, state: State): TimelineEntry[] {
  const { id: deliveryId, nextAttemptAt, attemptCount } = delivery;
  const attempts = state.attemptsOf(deliveryId).map(({ deliveryId: _, ...attempt }) =>
    entry(attempt.startedAt, 'ipn_attempted', {
      deliveryId,
      attempt,
      detail: `${deliveryId} attempt ${attempt.number}: ${attempt.error ?? `answered ${attempt.responseStatus}`}`,
    }),
  );
  if (nextAttemptAt === null) return attempts;
  const detail = `${deliveryId} attempt ${attemptCount + 1} is due`;
  return [...attempts, entry(nextAttemptAt, 'ipn_due', { deliveryId, detail })];
}
