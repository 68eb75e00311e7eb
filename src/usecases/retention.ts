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

/**
 * Drops the oldest settled payments once a second, off the path of every request. Each payment is looked at once when
 * it is old enough, and again when an IPN that held it back has changed.
 *
 * @returns looks at once: resolves when nothing more may go
 */
export function retaining({ store, clock, courier, retention }: RetentionParts): () => Promise<void> {
  /** Settled payments, the oldest first. */
  const settled = new Set<string>();
  /** Those that are old enough and still needed, and those of them whose IPN has changed. */
  const needed = new Set<string>();
  const changed = new Set<string>();
  let running: Promise<void> | undefined;

  function take(): void {
    const { payments } = store.state;
    const found = [...payments.values()].filter(({ settledAt }) => settledAt !== null);
    found.sort((one, other) => Date.parse(one.settledAt ?? '') - Date.parse(other.settledAt ?? ''));
    for (const set of [settled, needed, changed]) set.clear();
    for (const { id } of found) settled.add(id);
  }

  take();
  store.onChange(({ payments = [], deliveries = [] }, replaced) => {
    if (replaced) return take();
    for (const { id, status } of payments) if (status !== 'pending' && !needed.has(id)) settled.add(id);
    for (const { paymentId } of deliveries) if (needed.has(paymentId ?? '')) changed.add(paymentId ?? '');
  });

  /** Payments that are old enough, as many as one change takes. */
  function old(): string[] {
    const { payments } = store.state;
    const until = 'ageMs' in retention ? clock.now() - retention.ageMs : Number.POSITIVE_INFINITY;
    const most = 'count' in retention ? settled.size - retention.count : BATCH;
    const ids: string[] = [];
    for (const id of settled) {
      if (ids.length >= Math.min(BATCH, most) || Date.parse(payments.get(id)?.settledAt ?? '') > until) break;
      ids.push(id);
    }
    return [...ids, ...[...changed].slice(0, BATCH)];
  }

  /** Of these, the payments that may go. The others wait until one of their IPNs changes. */
  function free(ids: readonly string[], underWay: string[]): string[] {
    const { state } = store;
    return ids.filter((id) => {
      settled.delete(id);
      changed.delete(id);
      const payment = state.payments.get(id);
      // An attempt that is under way may be one that decides nothing: a duplicate, say.
      const isBusy = state.deliveriesOf(id).some((one) => courier.isUnderWay(one.id));
      if (isBusy) underWay.push(id);
      const isHeld = isBusy || (payment !== undefined && isNeeded(state, payment));
      if (isHeld) needed.add(id);
      else needed.delete(id);
      return !isHeld;
    });
  }

  async function drop(): Promise<void> {
    const underWay: string[] = [];
    for (let ids = old(); ids.length && !store.state.isFrozen; ids = old()) {
      const dropped = free(ids, underWay);
      if (dropped.length) await store.commit((state) => removePayments(state, dropped));
    }
    for (const id of underWay) changed.add(id);
  }

  // What could not be stored is taken up anew, with every payment that is still there.
  return () => {
    running ??= drop()
      .catch(take)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}

/** Looks now and every second. @returns ends that */
export function startRetaining(parts: RetentionParts): () => void {
  const look = retaining(parts);
  const timer = setInterval(look, EVERY_MS);
  timer.unref();
  void look();
  return () => clearInterval(timer);
}
