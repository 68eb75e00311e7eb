import type { Courier } from '../delivery/courier.ts';
import { isNeeded, type Retention, removePayments } from '../domain/retention.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Payments that go in one change: some milliseconds of work. */
const BATCH = 500;
/** Real milliseconds between two looks at what may go. */
const EVERY_MS = 1_000;

interface RetentionParts {
  store: Store;
  clock: Pick<Clock, 'now'>;
  courier: Pick<Courier, 'isUnderWay'>;
  retention: Retention;
}

/** Drops the oldest settled payments. Each is looked at once it is old enough, and again when an IPN of it has changed. */
export class Retainer {
  readonly #parts: RetentionParts;
  /** Settled payments, the oldest first. */
  readonly #settled = new Set<string>();
  /** Those that are old enough and still needed, and those of them whose IPN has changed. */
  readonly #needed = new Set<string>();
  readonly #changed = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
    this.#take();
    parts.store.onChange(({ payments = [], deliveries = [] }, replaced) => {
      if (replaced) return this.#take();
      for (const { id, status } of payments) {
        if (status !== 'pending' && !this.#needed.has(id)) this.#settled.add(id);
      }
      for (const { paymentId } of deliveries) {
        if (paymentId !== null && this.#needed.has(paymentId)) this.#changed.add(paymentId);
      }
    });
  }

  /** Resolves when nothing more may go. What could not be stored is taken up anew, with all that is still there. */
  look(): Promise<void> {
    this.#running ??= this.#drop()
      .catch(() => this.#take())
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Begins with the payments that there are. */
  #take(): void {
    const { payments } = this.#parts.store.state;
    const found = [...payments.values()].filter(({ settledAt }) => settledAt !== null);
    found.sort((one, other) => Date.parse(one.settledAt ?? '') - Date.parse(other.settledAt ?? ''));
    for (const set of [this.#settled, this.#needed, this.#changed]) set.clear();
    for (const { id } of found) this.#settled.add(id);
  }

  async #drop(): Promise<void> {
    const { store } = this.#parts;
    const underWay: string[] = [];
    for (let ids = this.#old(); ids.length && !store.state.isFrozen; ids = this.#old()) {
      const dropped = ids.filter((id) => this.#isFree(id, underWay));
      if (dropped.length) await store.commit((state) => removePayments(state, dropped));
    }
    for (const id of underWay) this.#changed.add(id);
  }

  /** Payments that are old enough, as many as one change takes. */
  #old(): string[] {
    const { store, clock, retention } = this.#parts;
    const { payments } = store.state;
    const until = 'ageMs' in retention ? clock.now() - retention.ageMs : Number.POSITIVE_INFINITY;
    const most = 'count' in retention ? this.#settled.size - retention.count : BATCH;
    const ids: string[] = [];
    for (const id of this.#settled) {
      if (ids.length >= Math.min(BATCH, most) || Date.parse(payments.get(id)?.settledAt ?? '') > until) break;
      ids.push(id);
    }
    return [...ids, ...[...this.#changed].slice(0, BATCH)];
  }

  /** Whether a payment may go. If not, it waits until one of its IPNs changes. */
  #isFree(id: string, underWay: string[]): boolean {
    const { store, courier } = this.#parts;
    const { state } = store;
    this.#settled.delete(id);
    this.#changed.delete(id);
    const payment = state.payments.get(id);
    // An attempt that is under way may be one that decides nothing: a duplicate, say.
    const isBusy = state.deliveriesOf(id).some((one) => courier.isUnderWay(one.id));
    if (isBusy) underWay.push(id);
    const isHeld = isBusy || (payment !== undefined && isNeeded(state, payment));
    if (isHeld) this.#needed.add(id);
    else this.#needed.delete(id);
    return !isHeld;
  }
}

/** Looks now and every second, off the path of every request. @returns ends that */
export function startRetaining(parts: RetentionParts): () => void {
  const retainer = new Retainer(parts);
  const timer = setInterval(() => retainer.look(), EVERY_MS);
  timer.unref();
  void retainer.look();
  return () => clearInterval(timer);
}
