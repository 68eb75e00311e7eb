import type { RecordedRequest } from '../contract/event.ts';
import type { TimelineEntry } from '../contract/payment.ts';
import type { TimelineEvent } from '../contract/vocabulary.ts';
import type { Delivery, State } from '../domain/state.ts';

/** A step in the story of a payment. */
export interface Step {
  /** Its own for as long as the payment is stored: links lead to it. */
  id: string;
  /** `requested`: a request about the payment that changed nothing about it. */
  event: TimelineEvent | 'requested';
  detail: string | null;
  /** Of the request that caused it, in the request log; null for none. */
  requestId: number | null;
  /** By the emulator's clock, in milliseconds since 1970; it took real time from there to `end`. */
  at: number;
  end: number;
  /** What the request log holds of it. */
  request?: RecordedRequest | undefined;
  /** Where its response sends the browser. */
  location?: string | null | undefined;
  /** The id of the step that began the same request. */
  requestedBy?: string | undefined;
  ipn?: { delivery: Delivery; number: number; attempt: TimelineEntry['attempt'] };
  /** Milliseconds since the attempt before it ended. */
  waited?: number;
  /** How often the page was shown in a row, where that was more than once. */
  views?: number;
}

/**
 * All steps of a payment in their order, each with the request behind it while the request log holds that.
 *
 * @param entries its timeline
 * @param requests those about it that the request log holds
 */
export function storyOf(
  entries: readonly TimelineEntry[],
  requests: readonly RecordedRequest[],
  state: State,
): Step[] {
  const steps = stepsOf(entries, state);
  const others: Step[] = [];
  for (const request of requests) {
    const [first, ...more] = steps.filter(({ requestId }) => requestId === request.id);
    if (!first) {
      others.push(withoutStep(request));
      continue;
    }
    first.request = request;
    first.end = first.at + request.durationMs;
    first.location = [first, ...more].find(({ event }) => event === 'redirected')?.detail;
    for (const step of more) step.requestedBy = first.id;
  }
  return withoutIdleViews([...steps, ...others].sort((one, other) => one.at - other.at));
}

/** Posts of the customer, which lead back to the page. */
const LEAD_BACK: ReadonlySet<Step['event']> = new Set([
  'email_entered',
  'email_refused',
  'code_sent',
  'code_refused',
]);

/** Without the views that tell nothing: where a form led back to the page, or it was loaded once more. */
function withoutIdleViews(steps: readonly Step[]): Step[] {
  const kept: Step[] = [];
  for (const step of steps) {
    const before = kept.at(-1);
    if (step.event !== 'opened' || !before) kept.push(step);
    else if (before.event === 'opened') before.views = (before.views ?? 1) + 1;
    else if (!LEAD_BACK.has(before.event)) kept.push(step);
  }
  return kept;
}

function stepsOf(entries: readonly TimelineEntry[], state: State): Step[] {
  const counts = new Map<string, number>();
  const attempts = new Map<string, { number: number; end: number }>();
  return entries.flatMap(({ at: time, event, detail, requestId, deliveryId, attempt }) => {
    const at = Date.parse(time);
    const delivery = state.deliveries.get(deliveryId ?? '');
    if (!delivery) {
      const count = (counts.get(event) ?? 0) + 1;
      counts.set(event, count);
      return [{ id: `step-${event.replaceAll('_', '-')}-${count}`, event, detail, requestId, at, end: at }];
    }
    const before = attempts.get(delivery.id);
    const number = attempt?.number ?? delivery.attemptCount + 1;
    const end = at + (attempt?.durationMs ?? 0);
    attempts.set(delivery.id, { number, end });
    const ipn = { delivery, number, attempt };
    const waited = before && { waited: Math.max(0, at - before.end) };
    return [{ id: attemptId(delivery.id, number), event, detail, requestId, at, end, ipn, ...waited }];
  });
}

/** The id of the step that an attempt is, also before it was made. */
export function attemptId(deliveryId: string, number: number): string {
  return `step-${deliveryId}-${number}`;
}

function withoutStep(request: RecordedRequest): Step {
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
