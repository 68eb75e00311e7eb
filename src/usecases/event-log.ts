import type { AuditProgress } from '../contract/audit-report.ts';
import type { CardTransaction } from '../contract/card.ts';
import type { AttemptUnderWay } from '../contract/delivery.ts';
import type { RecordedRequest } from '../contract/event.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { DeliveryStep } from '../contract/vocabulary.ts';
import type { Change, Delivery, Message, Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Something that happened; records are those of the moment. */
type Happening =
  | { type: 'request'; exchange: RecordedRequest }
  /** `before` it changed; undefined for a new one. */
  | { type: 'payment'; payment: Payment; before: Payment | undefined }
  | { type: 'delivery'; delivery: Delivery; step: DeliveryStep; underWay: AttemptUnderWay | null }
  | { type: 'message'; message: Message }
  | { type: 'cardTransaction'; cardTransaction: CardTransaction }
  | { type: 'audit'; audit: AuditProgress }
  /** Something about the emulator itself: its clock was moved, a fault was set. */
  | { type: 'notice'; text: string };

export type SimEvent = Happening & { seq: number; at: string };

/** Maximum number of events, and of requests, that are kept. */
const RING_SIZE = 1_000;

/** The newest events, in memory only, and their listeners. */
export class EventLog {
  readonly #ring: SimEvent[] = [];
  readonly #requests: RecordedRequest[] = [];
  readonly #listeners = new Set<(event: SimEvent) => void>();
  readonly #clock: Clock;
  #seq = 0;
  #requestId = 0;

  /** Turns every change that is stored from now on into events. */
  constructor(store: Store, clock: Clock) {
    this.#clock = clock;
    store.onChange((change, replaced, before) => {
      if (!replaced) this.#onChange(change, before);
    });
  }

  #onChange(
    { payments = [], messages = [], cardTransactions = [], deliveries = [], attempts = [] }: Change,
    before: readonly (Payment | undefined)[],
  ): void {
    for (const [index, payment] of payments.entries()) {
      this.#emit({ type: 'payment', payment, before: before[index] });
    }
    for (const message of messages) this.#emit({ type: 'message', message });
    for (const cardTransaction of cardTransactions) this.#emit({ type: 'cardTransaction', cardTransaction });
    for (const delivery of deliveries) {
      const isAttempted = attempts.some(({ deliveryId }) => deliveryId === delivery.id);
      const step = isAttempted ? 'attempted' : 'planned';
      this.#emit({ type: 'delivery', delivery, step, underWay: null });
    }
  }

  /** An attempt takes long. */
  waiting(delivery: Delivery, underWay: AttemptUnderWay): void {
    this.#emit({ type: 'delivery', delivery, step: 'waiting', underWay });
  }

  record(request: Omit<RecordedRequest, 'id'>): RecordedRequest {
    const newest = this.#requests.at(-1)?.requestHeaders;
    // A client sends the same headers with each of its requests.
    const requestHeaders =
      newest && areEqual(newest, request.requestHeaders) ? newest : request.requestHeaders;
    const exchange = { id: ++this.#requestId, ...request, requestHeaders };
    remember(this.#requests, exchange);
    this.#emit({ type: 'request', exchange });
    return exchange;
  }

  notice(text: string): void {
    this.#emit({ type: 'notice', text });
  }

  /** Reports a step of an audit. */
  audit(audit: AuditProgress): void {
    this.#emit({ type: 'audit', audit });
  }

  /** Forgets everything but the numbers, and reports why. */
  forget(why: string): void {
    this.#ring.length = 0;
    this.#requests.length = 0;
    this.notice(why);
  }

  /** The requests that are kept, newest first. */
  exchanges(): RecordedRequest[] {
    return this.#requests.toReversed();
  }

  /** The events after a sequence number, oldest first. */
  since(seq: number): SimEvent[] {
    return this.#ring.filter((event) => event.seq > seq);
  }

  /** A sequence number. */
  get newest(): number {
    return this.#seq;
  }

  /** Calls the listener for every event from now on, until the returned function is called. */
  subscribe(listener: (event: SimEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #emit(happening: Happening): void {
    const event = { seq: ++this.#seq, at: timestamp(this.#clock.now()), ...happening };
    remember(this.#ring, event);
    for (const listener of this.#listeners) listener(event);
  }
}

/** Appends, and drops the oldest half when the list has twice its size: cheaper than moving all of it each time. */
function remember<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length >= 2 * RING_SIZE) list.splice(0, list.length - RING_SIZE);
}

/** Whether two requests had the same headers, in the same order. */
function areEqual(one: Headers, other: Headers): boolean {
  if (one === other) return true;
  const names = Object.keys(one);
  const others = Object.keys(other);
  return (
    names.length === others.length &&
    names.every((name, index) => name === others[index] && one[name] === other[name])
  );
}

type Headers = RecordedRequest['requestHeaders'];
