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

/** Removes the oldest settled payments. */
export class Retainer {
  readonly #parts: RetentionParts;
  /** All settled payments, oldest first. */
  readonly #settled = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#load();
    parts.store.onChange(({ payments = [], removed }, replaced) => {
      if (replaced) return this.#load();
      for (const { id, status } of payments) if (status !== 'pending') this.#settled.add(id);
      for (const id of removed?.payments ?? []) this.#settled.delete(id);
    });
  }

  /** Removes all payments that may be removed. After a storage error, the next run tries again. */
  run(): Promise<void> {
    this.#running ??= this.#removeAll()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  #load(): void {
    const { payments } = this.#parts.store.state;
    const found = [...payments.values()].filter(({ settledAt }) => settledAt !== null);
    found.sort((one, other) => Date.parse(one.settledAt ?? '') - Date.parse(other.settledAt ?? ''));
    this.#settled.clear();
    for (const { id } of found) this.#settled.add(id);
  }

  async #removeAll(): Promise<void> {
    const { store } = this.#parts;
    for (let ids = this.#removable(); ids.length && !store.state.isFrozen; ids = this.#removable()) {
      await store.commit((state) => removePayments(state, ids));
    }
  }

  /** A batch of payments that are old enough and no longer needed. */
  #removable(): string[] {
    const { store, clock, courier, retention } = this.#parts;
    const { state } = store;
    const until = 'ageMs' in retention ? clock.now() - retention.ageMs : Number.POSITIVE_INFINITY;
    let left = 'count' in retention ? this.#settled.size - retention.count : Number.POSITIVE_INFINITY;
    const ids: string[] = [];
    for (const id of this.#settled) {
      if (left-- <= 0 || ids.length === BATCH) break;
      const payment = state.payments.get(id);
      if (!payment) continue;
      if (Date.parse(payment.settledAt ?? '') > until) break;
      // An attempt in progress may be a duplicate, which does not change the delivery.
      const isUnderWay = state.deliveriesOf(id).some((one) => courier.isUnderWay(one.id));
      if (!isUnderWay && !isNeeded(state, payment)) ids.push(id);
    }
    return ids;
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
