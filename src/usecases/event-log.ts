import type { AuditProgress } from '../contract/audit-report.ts';
import type { CardTransaction } from '../contract/card.ts';
import type { RecordedRequest } from '../contract/event.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { Attempt, Change, Delivery, Message, Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Something that happened; records are those of the moment. */
type Happening =
  | { type: 'request'; exchange: RecordedRequest }
  | { type: 'payment'; payment: Payment }
  | { type: 'delivery'; delivery: Delivery; attempt: Attempt | null }
  | { type: 'message'; message: Message }
  | { type: 'cardTransaction'; cardTransaction: CardTransaction }
  | { type: 'audit'; at: string; audit: AuditProgress }
  /** Something about the emulator itself: its clock was moved, a fault was set. */
  | { type: 'notice'; at: string; text: string };

export type SimEvent = Happening & { seq: number };

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
    store.onChange((change, replaced) => {
      if (!replaced) this.#onChange(change);
    });
  }

  #onChange({
    payments = [],
    messages = [],
    cardTransactions = [],
    deliveries = [],
    attempts,
  }: Change): void {
    for (const payment of payments) this.#emit({ seq: this.#next(), type: 'payment', payment });
    for (const message of messages) this.#emit({ seq: this.#next(), type: 'message', message });
    for (const cardTransaction of cardTransactions) {
      this.#emit({ seq: this.#next(), type: 'cardTransaction', cardTransaction });
    }
    const attempt = attempts?.at(-1) ?? null;
    for (const delivery of deliveries) this.#emit({ seq: this.#next(), type: 'delivery', delivery, attempt });
  }

  record(request: Omit<RecordedRequest, 'id'>): void {
    const newest = this.#requests.at(-1)?.requestHeaders;
    // A client sends the same headers with each of its requests.
    const requestHeaders =
      newest && areEqual(newest, request.requestHeaders) ? newest : request.requestHeaders;
    const exchange = { id: ++this.#requestId, ...request, requestHeaders };
    remember(this.#requests, exchange);
    this.#emit({ seq: this.#next(), type: 'request', exchange });
  }

  notice(text: string, at = timestamp(this.#clock.now())): void {
    this.#emit({ seq: this.#next(), type: 'notice', at, text });
  }

  /** Reports a step of an audit. */
  audit(audit: AuditProgress): void {
    this.#emit({ seq: this.#next(), type: 'audit', at: timestamp(this.#clock.now()), audit });
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

  #next(): number {
    return ++this.#seq;
  }

  #emit(event: SimEvent): void {
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
  const names = Object.keys(one);
  const others = Object.keys(other);
  return (
    names.length === others.length &&
    names.every((name, index) => name === others[index] && one[name] === other[name])
  );
}

type Headers = RecordedRequest['requestHeaders'];
