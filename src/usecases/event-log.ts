import type { CardTransaction } from '../contract/card.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { Attempt, Change, Delivery, Message, Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';

/** Something that happened; records are those of the moment. */
export type SimEvent =
  | { seq: number; type: 'request'; exchange: RecordedRequest }
  | { seq: number; type: 'payment'; payment: Payment }
  | { seq: number; type: 'delivery'; delivery: Delivery; attempt: Attempt | null }
  | { seq: number; type: 'message'; message: Message }
  | { seq: number; type: 'cardTransaction'; cardTransaction: CardTransaction }
  /** Something about the emulator itself: its clock was moved, a fault was set. */
  | { seq: number; type: 'notice'; at: string; text: string };

type Unnumbered<T> = T extends unknown ? Omit<T, 'seq'> : never;
export type SimEventListener = (event: SimEvent) => void;

/** Maximum number of events, and of requests, that are kept. */
const RING_SIZE = 1_000;

/** The newest events, in memory only, and their listeners. */
export class EventLog {
  readonly #ring: SimEvent[] = [];
  readonly #requests: RecordedRequest[] = [];
  readonly #listeners = new Set<SimEventListener>();
  #seq = 0;
  #requestId = 0;

  /** Turns every stored change into events. */
  follow(store: Store): void {
    store.onChange((change, replaced) => {
      if (!replaced) this.#onChange(change);
    });
  }

  #onChange(change: Change): void {
    for (const payment of change.payments ?? []) this.#emit({ type: 'payment', payment });
    for (const message of change.messages ?? []) this.#emit({ type: 'message', message });
    for (const cardTransaction of change.cardTransactions ?? []) {
      this.#emit({ type: 'cardTransaction', cardTransaction });
    }
    for (const delivery of change.deliveries ?? []) {
      this.#emit({ type: 'delivery', delivery, attempt: change.attempts?.at(-1) ?? null });
    }
  }

  /** Keeps a request. */
  record(request: Omit<RecordedRequest, 'id'>): void {
    const numbered = { id: ++this.#requestId, ...request };
    remember(this.#requests, numbered);
    this.#emit({ type: 'request', exchange: numbered });
  }

  /** Reports something about the emulator itself. */
  notice(at: string, text: string): void {
    this.#emit({ type: 'notice', at, text });
  }

  /** Forgets everything but the numbers. */
  forget(): void {
    this.#ring.length = 0;
    this.#requests.length = 0;
  }

  /** The requests that are kept, newest first. */
  exchanges(): RecordedRequest[] {
    return this.#requests.toReversed();
  }

  /** The events after a sequence number, oldest first. */
  since(seq: number): SimEvent[] {
    return this.#ring.filter((event) => event.seq > seq);
  }

  /** The sequence number of the newest event. */
  get newest(): number {
    return this.#seq;
  }

  /** Calls the listener for every event from now on, until the returned function is called. */
  subscribe(listener: SimEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #emit(unnumbered: Unnumbered<SimEvent>): void {
    const event = { seq: ++this.#seq, ...unnumbered } as SimEvent;
    remember(this.#ring, event);
    for (const listener of this.#listeners) listener(event);
  }
}

/** Appends, and drops the oldest half when the list has twice its size: cheaper than moving all of it each time. */
function remember<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length >= 2 * RING_SIZE) list.splice(0, list.length - RING_SIZE);
}
