import type { CardTransaction } from '../contract/card.ts';
import type { AttemptUnderWay } from '../contract/delivery.ts';
import type { RecordedRequest } from '../contract/event.ts';
import { timestamp } from '../contract/time.ts';
import type { DeliveryStep } from '../contract/vocabulary.ts';
import type { Change, Delivery, Message, Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Maximum number of events, and of requests (chosen). */
export const KEPT_ITEMS = 1_000;
/** Maximum number of hosts whose rejection is reported (chosen). */
const MAX_HOSTS = 100;

/** Adds an item to a log, which keeps only the newest ones. */
function addNewest<Item>(items: Item[], item: Item): void {
  items.push(item);
  if (items.length > KEPT_ITEMS) items.shift();
}

/** What happened, with the records at that moment. */
type EventContent =
  | { type: 'request'; request: RecordedRequest }
  /** `before`: the payment before the change; undefined for a new one. */
  | { type: 'payment'; payment: Payment; before: Payment | undefined }
  | { type: 'delivery'; delivery: Delivery; step: DeliveryStep; underWay: AttemptUnderWay | null }
  | { type: 'message'; message: Message }
  | { type: 'cardTransaction'; cardTransaction: CardTransaction }
  /** A change of the emulator itself, such as its clock or its faults. */
  | { type: 'notice'; text: string; warning?: true; host?: string };

export type SimEvent = EventContent & { seq: number; at: string };

/** The newest events, in memory only, and their listeners. */
export class EventLog {
  /** Oldest first. */
  readonly #events: SimEvent[] = [];
  /** In the order of their responses. */
  readonly #requests: RecordedRequest[] = [];
  readonly #listeners = new Set<(event: SimEvent) => void>();
  readonly #rejectedHosts = new Set<string>();
  /** New payments, by the request that made them: it is reported first, once it was answered. */
  readonly #created = new Map<number, Payment>();
  #saidSameSite = false;
  readonly #clock: Clock;
  readonly #whenKnown: (deliveryId: string) => Promise<void> | undefined;
  #seq = 0;
  #requestId = 0;
  /** Distinguishes request ids of this run from ids of earlier runs. */
  readonly #run: string;

  /**
   * Turns every change that is stored from now on into events.
   *
   * @param run unique for each start
   * @param whenKnown resolves when it is known what an attempt changed in the shop, which its event then shows
   */
  constructor(
    store: Store,
    clock: Clock,
    run: string,
    whenKnown: (deliveryId: string) => Promise<void> | undefined = () => undefined,
  ) {
    this.#clock = clock;
    this.#run = run;
    this.#whenKnown = whenKnown;
    store.onChange((change, replaced, before) => {
      if (!replaced) this.#onChange(change, before);
    });
  }

  #onChange(
    { payments = [], messages = [], cardTransactions = [], deliveries = [], attempts = [] }: Change,
    before: readonly (Payment | undefined)[],
  ): void {
    for (const [index, payment] of payments.entries()) this.#onPayment(payment, before[index]);
    for (const message of messages) this.#emit({ type: 'message', message });
    for (const cardTransaction of cardTransactions) this.#emit({ type: 'cardTransaction', cardTransaction });
    for (const delivery of deliveries) {
      const isAttempted = attempts.some(({ deliveryId }) => deliveryId === delivery.id);
      const step = isAttempted ? 'attempted' : 'planned';
      const emit = () => this.#emit({ type: 'delivery', delivery, step, underWay: null });
      const known = isAttempted ? this.#whenKnown(delivery.id) : undefined;
      if (known) void known.then(emit);
      else emit();
    }
  }

  #onPayment(payment: Payment, before: Payment | undefined): void {
    const requestId = this.requestIdOf(payment.requestId);
    if (requestId !== null && before === undefined) {
      this.#created.set(requestId, payment);
      return;
    }
    if (requestId !== null) this.#reportCreated(requestId);
    this.#emit({ type: 'payment', payment, before });
  }

  #reportCreated(requestId: number): void {
    const payment = this.#created.get(requestId);
    if (!this.#created.delete(requestId) || !payment) return;
    this.#emit({ type: 'payment', payment, before: undefined });
  }

  /** Reports that an attempt is taking a long time. */
  waiting(delivery: Delivery, underWay: AttemptUnderWay): void {
    this.#emit({ type: 'delivery', delivery, step: 'waiting', underWay });
  }

  nextRequestId(): number {
    return ++this.#requestId;
  }

  /** The form in which a payment's events store the id of a request. */
  storedRequestId(id: number): string {
    return `${this.#run}-${id}`;
  }

  /** The id of the request that caused an event; null if an earlier run received it. */
  requestIdOf(stored: string | undefined): number | null {
    const [run, id] = stored?.split('-') ?? [];
    return run === this.#run ? Number(id) : null;
  }

  /** @param request has an id only if one was assigned on arrival */
  record(request: Omit<RecordedRequest, 'id'> & { id?: number | undefined }): RecordedRequest {
    const recorded = { ...request, id: request.id ?? this.nextRequestId() };
    addNewest(this.#requests, recorded);
    this.#emit({ type: 'request', request: recorded });
    this.#reportCreated(recorded.id);
    return recorded;
  }

  notice(text: string): void {
    this.#emit({ type: 'notice', text });
  }

  /** A notice that needs somebody. */
  warn(text: string): void {
    this.#emit({ type: 'notice', text, warning: true });
  }

  /** Reports, once for each host, why a request that a client sent to the emulator as its proxy was rejected. */
  rejectedHost(host: string, why: string): void {
    if (this.#rejectedHosts.has(host) || this.#rejectedHosts.size >= MAX_HOSTS) return;
    this.#rejectedHosts.add(host);
    this.#emit({ type: 'notice', text: why, warning: true, host });
  }

  /** Reports, once, that the shop and the checkout are the same site. @param find why they are; undefined if they are not */
  sameSite(find: () => string | undefined): void {
    const why = this.#saidSameSite ? undefined : find();
    if (why === undefined) return;
    this.#saidSameSite = true;
    this.warn(why);
  }

  /** Deletes all events and requests, continues the numbering and reports why. */
  forget(why: string): void {
    this.#events.length = 0;
    this.#requests.length = 0;
    this.#created.clear();
    this.notice(why);
  }

  /** Newest first. */
  requests(): RecordedRequest[] {
    return this.#requests.toSorted((one, other) => other.id - one.id);
  }

  requestsAbout(paymentId: string): RecordedRequest[] {
    return this.requests().filter((request) => request.paymentId === paymentId);
  }

  /** The first event that is still in the log after a sequence number. */
  after(seq: number): SimEvent | undefined {
    const [oldest] = this.#events;
    // No event is missing between the oldest and the newest.
    return oldest && this.#events[Math.max(0, seq + 1 - oldest.seq)];
  }

  get newest(): number {
    return this.#seq;
  }

  /** Calls the listener for every new event until the returned function is called. */
  subscribe(listener: (event: SimEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #emit(content: EventContent): void {
    const event = { seq: ++this.#seq, at: timestamp(this.#clock.now()), ...content };
    addNewest(this.#events, event);
    for (const listener of this.#listeners) listener(event);
  }
}
