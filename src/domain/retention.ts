import type { Delivery, Payment, RuleResult, State } from './state.ts';

/** Which settled payments stay: the last ones by number, or those settled in the last milliseconds. */
export type Retention = { count: number } | { ageMs: number };

/** Whether something is still to come: its settling, its expiry, an attempt of one of its IPNs. */
export function isNeeded(state: State, payment: Payment): boolean {
  return payment.status === 'pending' || state.deliveriesOf(payment.id).some(isDue);
}

function isDue({ state, nextAttemptAt }: Delivery): boolean {
  return state === 'pending' || nextAttemptAt !== null;
}

/**
 * Rule: payments go, with all that belongs to them alone: their verification codes, their IPNs and the attempts of
 * these. What they moved stays: balances of wallets and merchants. One that is needed stays as it is.
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

/** The newest record of each kind that --keep removes: a state of the same size may hold others than before. */
export function newestIds({ payments, messages, deliveries, attempts }: State): string {
  return [payments, messages, deliveries, attempts].map((records) => records.newest()?.id ?? '').join();
}
