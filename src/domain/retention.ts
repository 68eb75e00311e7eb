import type { Delivery, Payment, RuleResult, State } from './state.ts';

/** Which settled payments are kept: the newest `count`, or all that are at most `ageMs` old. */
export type Retention = { count: number } | { ageMs: number };

/** Whether the payment is still needed: it is pending, or one of its IPNs has an attempt left. */
export function isNeeded(state: State, payment: Payment): boolean {
  return payment.status === 'pending' || state.deliveriesOf(payment.id).some(isDue);
}

function isDue({ state, nextAttemptAt }: Delivery): boolean {
  return state === 'pending' || nextAttemptAt !== null;
}

/**
 * Rule: removes payments with their verification codes, IPNs and attempts. Balances do not change. Payments that are
 * still needed are kept.
 */
export function removePayments(state: State, ids: readonly string[]): RuleResult<null> {
  const payments = ids.filter((id) => {
    const payment = state.payments.get(id);
    return payment && !isNeeded(state, payment);
  });
  const deliveries = idsOf(payments.flatMap((id) => state.deliveriesOf(id)));
  const attempts = idsOf(deliveries.flatMap((id) => state.attemptsOf(id)));
  const messages = idsOf(payments.flatMap((id) => state.messagesOf(id)));
  return { change: { removed: { payments, messages, deliveries, attempts } }, result: null };
}

const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);

/** The ids of the newest records of the kinds that `keep` removes. They change even if the size of the state does not. */
export function newestIds({ payments, messages, deliveries, attempts }: State): string {
  return [payments, messages, deliveries, attempts].map((records) => records.newest()?.id ?? '').join();
}
