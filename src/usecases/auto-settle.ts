import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';
import { DueQueue } from '../system/due-queue.ts';
import type { Payments, SettleCommand } from './payments.ts';

/** Settles the pending payments whose time has come, now and from now on: automatic ones and expired ones. */
export function startAutoSettling(store: Store, clock: Clock, { settle }: Payments): void {
  const find = (paymentId: string) => store.state.payments.get(paymentId);
  const queue = new DueQueue(clock, (id) => find(id)?.status === 'pending', settleDue);
  /** Each payment is planned once, however often it changes. */
  const planned = new Set<string>();

  function plan(payment: Payment): void {
    if (payment.status !== 'pending') planned.delete(payment.id);
    const due = planned.has(payment.id) ? undefined : dueOf(payment);
    if (!due) return;
    planned.add(payment.id);
    queue.plan(payment.id, due.at);
  }

  async function settleDue(paymentId: string): Promise<void> {
    const payment = find(paymentId);
    const due = payment && dueOf(payment);
    if (!due) return;
    try {
      await settle(paymentId, due.command);
    } catch (error) {
      // Else somebody settled it at the same moment, or a reset removed it: there is nothing left to do.
      if (error instanceof GatewayError && error.code === 'storage_failed') queue.retry(paymentId);
    }
  }

  for (const payment of store.state.payments.values()) plan(payment);
  store.onChange(({ payments = [] }, replaced) => {
    if (replaced) {
      queue.clear();
      planned.clear();
    }
    for (const payment of payments) plan(payment);
  });
  clock.add(queue);
}

/** What happens to a payment by itself, and when: the first of settling automatically and expiring. */
function dueOf({ status, auto, expiresAt }: Payment): { at: number; command: SettleCommand } | undefined {
  if (status !== 'pending') return undefined;
  const expiry = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (auto && Date.parse(auto.at) <= expiry) {
    const { outcome, at, delivery } = auto;
    return { at: Date.parse(at), command: { outcome, by: 'auto', ...(delivery && { delivery }) } };
  }
  return expiresAt === null ? undefined : { at: expiry, command: { outcome: 'expire', by: 'clock' } };
}
