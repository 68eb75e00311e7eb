import { describeEvent } from '../contract/checkout.ts';
import { attemptView, outcomeOf, remarksOn } from '../contract/describe-delivery.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { PaymentStep, TimelineEntry } from '../contract/payment.ts';
import type { TimelineEvent } from '../contract/vocabulary.ts';
import type { Delivery, Payment, State } from '../domain/state.ts';

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

/** The attempts of a delivery, and the one that is due. */
export function deliveryEntries(delivery: Delivery, state: State): TimelineEntry[] {
  const { id: deliveryId, nextAttemptAt, attemptCount } = delivery;
  const attempts = state.attemptsOf(deliveryId).map((stored) => {
    const attempt = attemptView(stored);
    const outcome = [outcomeOf(attempt), ...remarksOn(delivery)].join('; ');
    const detail = `${deliveryId} attempt ${attempt.number}: ${outcome}`;
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

/** A step in the story of a payment. */
export interface StoryStep {
  /** Unique and stable, because links use it. */
  id: string;
  /** `requested`: a request that did not change the payment. */
  event: TimelineEvent | 'requested';
  detail: string | null;
  /** The id in the request log of the request that caused the step, or null. */
  requestId: number | null;
  /** The emulator's time in milliseconds since 1970. The duration until `end` is real time. */
  at: number;
  end: number;
  /** The entry in the request log. */
  request?: RecordedRequest | undefined;
  /** The redirect of the response. */
  location?: string | null | undefined;
  /** The id of the first step of the same request. */
  requestedBy?: string | undefined;
  /** Whether it is an attempt of an IPN, not a step of the checkout. */
  isAttempt?: true;
  /** How many times in a row the page was shown, if more than once. */
  views?: number;
}

/**
 * All steps of a payment in order, each with its request if the request log still has it.
 *
 * @param entries the timeline of the payment
 * @param requests the logged requests about the payment
 */
export function storyOf(
  entries: readonly TimelineEntry[],
  requests: readonly RecordedRequest[],
): StoryStep[] {
  const steps = stepsOf(entries);
  const others: StoryStep[] = [];
  for (const request of requests) {
    const [first, ...more] = steps.filter(({ requestId }) => requestId === request.id);
    if (!first) {
      others.push(stepOfRequest(request));
      continue;
    }
    first.request = request;
    first.end = first.at + request.durationMs;
    first.location = [first, ...more].find(({ event }) => event === 'redirected')?.detail;
    for (const step of more) step.requestedBy = first.id;
  }
  return withoutRepeatedViews([...steps, ...others].sort((one, other) => one.at - other.at));
}

/** Form submissions that show the same page again. */
const RELOADING: ReadonlySet<StoryStep['event']> = new Set([
  'email_entered',
  'email_refused',
  'code_sent',
  'code_refused',
]);

/** Removes repeated page views, and page views that follow a form. */
function withoutRepeatedViews(steps: readonly StoryStep[]): StoryStep[] {
  const kept: StoryStep[] = [];
  for (const step of steps) {
    const before = kept.at(-1);
    if (step.event !== 'opened' || !before) kept.push(step);
    else if (before.event === 'opened') before.views = (before.views ?? 1) + 1;
    else if (!RELOADING.has(before.event)) kept.push(step);
  }
  return kept;
}

function stepsOf(entries: readonly TimelineEntry[]): StoryStep[] {
  const counts = new Map<string, number>();
  return entries.map(({ at: time, event, detail, requestId, attempt, deliveryId }) => {
    const at = Date.parse(time);
    const step = { event, detail, requestId, at, end: at + (attempt?.durationMs ?? 0) };
    const count = (counts.get(deliveryId ?? event) ?? 0) + 1;
    counts.set(deliveryId ?? event, count);
    return deliveryId === null
      ? { ...step, id: `step-${event.replaceAll('_', '-')}-${count}` }
      : { ...step, id: attemptId(deliveryId, attempt?.number ?? count), isAttempt: true };
  });
}

/** The id of an attempt's step, known before the attempt. */
export function attemptId(deliveryId: string, number: number): string {
  return `step-${deliveryId}-${number}`;
}

function stepOfRequest(request: RecordedRequest): StoryStep {
  const { id, at, durationMs, notes } = request;
  const end = Date.parse(at);
  return {
    id: `step-request-${id}`,
    event: 'requested',
    detail: notes.join('. ') || null,
    requestId: id,
    at: end - durationMs,
    end,
    request,
  };
}
