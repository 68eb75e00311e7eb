import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock, DueWork } from '../system/clock.ts';
import type { Payments, SettleCommand } from './payments.ts';

/** From now on, settles pending payments when they are due to settle automatically or to expire. */
export function startAutoSettling(
  store: Store,
  clock: Pick<Clock, 'plan' | 'retry'>,
  { settle }: Pick<Payments, 'settle'>,
): void {
  const find = (paymentId: string) => store.state.payments.get(paymentId);
  const work: DueWork = {
    isDue: (paymentId, at) => (dueOf(find(paymentId))?.at ?? Number.POSITIVE_INFINITY) <= at,
    run: settleDue,
  };
  /** Plans each change again: the first run settles the payment, and the clock drops work that is no longer due. */
  function plan(payment: Payment): void {
    const due = dueOf(payment);
    if (due) clock.plan(due.at, payment.id, work);
  }

  async function settleDue(paymentId: string): Promise<void> {
    const due = dueOf(find(paymentId));
    if (!due) return;
    try {
      await settle(paymentId, due.command);
    } catch (error) {
      // Otherwise, a user settled it at the same moment, or a reset removed it.
      if (error instanceof GatewayError && error.code === 'storage_failed') clock.retry(paymentId, work);
    }
  }

  for (const payment of store.state.payments.values()) plan(payment);
  store.onChange(({ payments = [] }) => {
    for (const payment of payments) plan(payment);
  });
}

/** What happens to a payment automatically, and when: it settles or expires, whichever comes first. */
export function dueOf(payment: Payment | undefined): { at: number; command: SettleCommand } | undefined {
  if (payment?.status !== 'pending') return undefined;
  const { auto, expiresAt } = payment;
  const expiry = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (auto && Date.parse(auto.at) <= expiry) {
    const { outcome, at, delivery } = auto;
    return { at: Date.parse(at), command: { outcome, by: 'auto', ...(delivery && { delivery }) } };
  }
  return expiresAt === null ? undefined : { at: expiry, command: { outcome: 'expire', by: 'clock' } };
}
