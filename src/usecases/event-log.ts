import type { CardTransaction } from '../contract/card.ts';
import type { RecordedRequest } from '../contract/event.ts';
import type { Attempt, Change, Delivery, Message, Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';

/** Something that happened, as it stands in the ring; records are those of the moment. */
export type SimEvent =
  | { seq: number; type: 'request'; exchange: RecordedRequest }
  | { seq: number; type: 'payment'; payment: Payment }
  | { seq: number; type: 'delivery'; delivery: Delivery; attempt: Attempt | null }
  | { seq: number; type: 'message'; message: Message }
  | { seq: number; type: 'cardTransaction'; cardTransaction: CardTransaction }
  /** Something about the emulator itself: its clock was moved, a fault was set. */
  | { seq: number; type: 'notice'; at: string; text: string };

type Untold<T> = T extends unknown ? Omit<T, 'seq'> : never;
/** Hears of everything that happens, as it happens. */
export type SimEventListener = (activity: SimEvent) => void;

/** So many happenings, and so many requests, are remembered. */
const RING_SIZE = 1_000;

/** The last things that happened, in memory only, and who wants to hear of the next. */
export class EventLog {
  readonly #ring: SimEvent[] = [];
  readonly #exchanges: RecordedRequest[] = [];
  readonly #listeners = new Set<SimEventListener>();
  #seq = 0;
  #exchangeId = 0;

  /** Turns every stored change into what happened. */
  follow(store: Store): void {
    store.onChange((change, replaced) => {
      if (!replaced) this.#hear(change);
    });
  }

  #hear(change: Change): void {
    for (const payment of change.payments ?? []) this.#tell({ type: 'payment', payment });
    for (const message of change.messages ?? []) this.#tell({ type: 'message', message });
    for (const cardTransaction of change.cardTransactions ?? []) {
      this.#tell({ type: 'cardTransaction', cardTransaction });
    }
    for (const delivery of change.deliveries ?? []) {
      this.#tell({ type: 'delivery', delivery, attempt: change.attempts?.at(-1) ?? null });
    }
  }

  /** Remembers an exchange and tells of it. */
  record(exchange: Omit<RecordedRequest, 'id'>): void {
    const numbered = { id: ++this.#exchangeId, ...exchange };
    remember(this.#exchanges, numbered);
    this.#tell({ type: 'request', exchange: numbered });
  }

  /** Tells of something about the emulator itself. */
  notice(at: string, text: string): void {
    this.#tell({ type: 'notice', at, text });
  }

  /** Forgets what happened, and goes on counting. */
  forget(): void {
    this.#ring.length = 0;
    this.#exchanges.length = 0;
  }

  /** The remembered exchanges, newest first. */
  exchanges(): RecordedRequest[] {
    return this.#exchanges.toReversed();
  }

  /** What happened after a sequence number, oldest first. */
  since(seq: number): SimEvent[] {
    return this.#ring.filter((activity) => activity.seq > seq);
  }

  /** The sequence number of the newest happening. */
  get newest(): number {
    return this.#seq;
  }

  /** Calls the listener for all that happens from now on, until the returned function is called. */
  subscribe(listener: SimEventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(untold: Untold<SimEvent>): void {
    const activity = { seq: ++this.#seq, ...untold } as SimEvent;
    remember(this.#ring, activity);
    for (const listener of this.#listeners) listener(activity);
  }
}

/** Appends, and drops the oldest half when the list has twice its size: cheaper than moving all of it each time. */
function remember<Item>(list: Item[], item: Item): void {
  list.push(item);
  if (list.length >= 2 * RING_SIZE) list.splice(0, list.length - RING_SIZE);
}
