import type { Courier } from '../delivery/courier.ts';
import { isNeeded, type Retention, removePayments } from '../domain/retention.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** Payments removed in one change, which takes some milliseconds. */
const BATCH = 500;
/** Real milliseconds between two checks. */
const EVERY_MS = 1_000;

interface RetentionDependencies {
  store: Store;
  clock: Pick<Clock, 'now'>;
  courier: Pick<Courier, 'isUnderWay'>;
  retention: Retention;
}

/** @returns a function that removes all payments that may be removed. After a storage error, the next call tries again. */
export function retainer({ store, clock, courier, retention }: RetentionDependencies): () => Promise<void> {
  /** All settled payments, oldest first. */
  const settled = new Set<string>();
  let running: Promise<void> | undefined;

  const load = () => {
    const found = [...store.state.payments.values()].filter(({ settledAt }) => settledAt !== null);
    found.sort((one, other) => Date.parse(one.settledAt ?? '') - Date.parse(other.settledAt ?? ''));
    settled.clear();
    for (const { id } of found) settled.add(id);
  };
  load();
  store.onChange(({ payments = [], removed }, replaced) => {
    if (replaced) return load();
    for (const { id, status } of payments) if (status !== 'pending') settled.add(id);
    for (const id of removed?.payments ?? []) settled.delete(id);
  });

  /** A batch of payments that are old enough and no longer needed. */
  const removable = () => {
    const { state } = store;
    const until = 'ageMs' in retention ? clock.now() - retention.ageMs : Number.POSITIVE_INFINITY;
    let left = 'count' in retention ? settled.size - retention.count : Number.POSITIVE_INFINITY;
    const ids: string[] = [];
    for (const id of settled) {
      if (left-- <= 0 || ids.length === BATCH) break;
      const payment = state.payments.get(id);
      if (!payment) continue;
      if (Date.parse(payment.settledAt ?? '') > until) break;
      // An attempt in progress may be a duplicate, which does not change the delivery.
      const isUnderWay = state.deliveriesOf(id).some((one) => courier.isUnderWay(one.id));
      if (!isUnderWay && !isNeeded(state, payment)) ids.push(id);
    }
    return ids;
  };

  const removeAll = async () => {
    for (let ids = removable(); ids.length; ids = removable()) {
      await store.commit((state) => removePayments(state, ids));
    }
  };

  return () => {
    running ??= removeAll()
      .catch(() => {})
      .finally(() => {
        running = undefined;
      });
    return running;
  };
}

/** Checks now and every second, outside requests. @returns a function that stops the checks */
export function startRetaining(parts: RetentionDependencies): () => void {
  const run = retainer(parts);
  const timer = setInterval(run, EVERY_MS);
  timer.unref();
  void run();
  return () => clearInterval(timer);
}
