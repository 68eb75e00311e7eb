import type { Courier } from '../delivery/courier.ts';
import { isNeeded, type Retention, removePayments } from '../domain/retention.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Payments removed in one change, which takes some milliseconds. */
const BATCH = 500;
/** Real milliseconds between two checks. */
const EVERY_MS = 1_000;

interface RetentionParts {
  store: Store;
  clock: Pick<Clock, 'now'>;
  courier: Pick<Courier, 'isUnderWay'>;
  retention: Retention;
}

/** Removes the oldest settled payments. Checks each one when it is old enough and after every change of its IPNs. */
export class Retainer {
  readonly #parts: RetentionParts;
  /** Settled payments, oldest first. */
  readonly #settled = new Set<string>();
  /** Old payments that are still needed, and payments whose IPNs have changed. */
  readonly #needed = new Set<string>();
  readonly #changed = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#load();
    parts.store.onChange(({ payments = [], deliveries = [] }, replaced) => {
      if (replaced) return this.#load();
      for (const { id, status } of payments) {
        if (status !== 'pending' && !this.#needed.has(id)) this.#settled.add(id);
      }
      for (const { paymentId } of deliveries) {
        if (paymentId !== null && this.#needed.has(paymentId)) this.#changed.add(paymentId);
      }
    });
  }

  /** Removes all payments that may be removed. After a storage error, starts over with the stored payments. */
  run(): Promise<void> {
    this.#running ??= this.#drop()
      .catch(() => this.#load())
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Starts over with all stored payments. */
  #load(): void {
    const { payments } = this.#parts.store.state;
    const found = [...payments.values()].filter(({ settledAt }) => settledAt !== null);
    found.sort((one, other) => Date.parse(one.settledAt ?? '') - Date.parse(other.settledAt ?? ''));
    for (const set of [this.#settled, this.#needed, this.#changed]) set.clear();
    for (const { id } of found) this.#settled.add(id);
  }

  async #drop(): Promise<void> {
    const { store } = this.#parts;
    const inProgress: string[] = [];
    for (let ids = this.#old(); ids.length && !store.state.isFrozen; ids = this.#old()) {
      const dropped = ids.filter((id) => this.#isRemovable(id, inProgress));
      if (dropped.length) await store.commit((state) => removePayments(state, dropped));
    }
    for (const id of inProgress) this.#changed.add(id);
  }

  /** A batch of payments that are old enough. */
  #old(): string[] {
    const { store, clock, retention } = this.#parts;
    const { payments } = store.state;
    const until = 'ageMs' in retention ? clock.now() - retention.ageMs : Number.POSITIVE_INFINITY;
    const max = 'count' in retention ? this.#settled.size - retention.count : BATCH;
    const ids: string[] = [];
    for (const id of this.#settled) {
      if (ids.length >= Math.min(BATCH, max) || Date.parse(payments.get(id)?.settledAt ?? '') > until) break;
      ids.push(id);
    }
    return [...ids, ...[...this.#changed].slice(0, BATCH)];
  }

  /** Whether a payment may be removed. If not, it is checked again when one of its IPNs changes. */
  #isRemovable(id: string, inProgress: string[]): boolean {
    const { store, courier } = this.#parts;
    const { state } = store;
    this.#settled.delete(id);
    this.#changed.delete(id);
    const payment = state.payments.get(id);
    // An attempt in progress may be a duplicate, which does not change the delivery.
    const isBusy = state.deliveriesOf(id).some((one) => courier.isUnderWay(one.id));
    if (isBusy) inProgress.push(id);
    const isKept = isBusy || (payment !== undefined && isNeeded(state, payment));
    if (isKept) this.#needed.add(id);
    else this.#needed.delete(id);
    return !isKept;
  }
}

/** Checks now and every second, outside requests. @returns a function that stops the checks */
export function startRetaining(parts: RetentionParts): () => void {
  const retainer = new Retainer(parts);
  const timer = setInterval(() => retainer.run(), EVERY_MS);
  timer.unref();
  void retainer.run();
  return () => clearInterval(timer);
}
