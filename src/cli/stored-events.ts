import { Delivery, type StoredAttempt } from '../contract/delivery.ts';
import { attemptView, noteOf } from '../contract/describe-delivery.ts';
import type { SimEvent } from '../contract/event.ts';
import { project } from '../contract/field.ts';
import { Payment, type PaymentStep } from '../contract/payment.ts';
import { maskedIn, Secrets } from '../contract/secrets.ts';
import type { Records } from '../contract/state.ts';
import { stateOfPayment } from '../diagnosis/shop-state.ts';
import {
  type VerdictDependencies,
  verdictFields,
  verdictOnDelivery,
  verdictOnPayment,
  verdictView,
} from '../diagnosis/verdict.ts';
import type { Snapshot } from '../store/snapshot.ts';

/** An event before it has its number. */
type Unnumbered<Event = SimEvent> = Event extends SimEvent ? Omit<Event, 'seq'> : never;

/**
 * The events in a stored state, in order, as in the log of its emulator. Requests are missing, because they are not
 * stored, and so is everything that only a running emulator knows.
 */
export function storedEvents(snapshot: Snapshot): SimEvent[] {
  const { payments, deliveries, messages, cardTransactions, attempts, merchants } = snapshot;
  const attemptsOf = new Map<string, StoredAttempt[]>(deliveries.map(({ id }) => [id, []]));
  for (const attempt of attempts) attemptsOf.get(attempt.deliveryId)?.push(attempt);
  const deliveriesOf = new Map<string, Records['deliveries'][]>(payments.map(({ id }) => [id, []]));
  for (const delivery of deliveries) deliveriesOf.get(delivery.paymentId ?? '')?.push(delivery);
  const parts: VerdictDependencies = {
    store: {
      state: {
        attemptsOf: (id) => attemptsOf.get(id) ?? [],
        deliveriesOf: (id) => deliveriesOf.get(id) ?? [],
        merchants: new Map(merchants.map((merchant) => [merchant.id, merchant])),
        payments: new Map(payments.map((payment) => [payment.id, payment])),
      },
    },
    // The emulator's options are not stored.
    settings: { ipn: { on: new Set(['succeeded']) } },
    courier: { openAttempt: () => null },
    rows: { of: () => null },
  };
  const events: Unnumbered[] = [
    ...payments.flatMap((payment) => paymentEvents(payment, parts)),
    ...deliveries.flatMap((delivery) => deliveryEvents(delivery, parts)),
    ...messages.map(({ id: _, ...message }) => ({ type: 'message' as const, at: message.sentAt, message })),
    ...cardTransactions.map((cardTransaction) => ({
      type: 'cardTransaction' as const,
      at: cardTransaction.createdAt,
      cardTransaction,
    })),
  ];
  const secrets = new Secrets(merchants.map(({ secretKey }) => secretKey));
  secrets.learn({ payments, deliveries });
  return events
    .sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
    .map((event, index) => maskedIn({ seq: index + 1, ...event }, secrets.mask));
}

function paymentEvents(stored: Records['payments'], parts: VerdictDependencies): Unnumbered[] {
  const { history } = stored;
  const record = project(Payment, stored);
  const initiated = { at: stored.createdAt, event: 'initiated' as const, value: null };
  return [initiated, ...history].map(({ at, event, value, ...happened }) => {
    const problem = 'problem' in happened ? (happened.problem ?? null) : null;
    const step: PaymentStep = { at, event, detail: value, value, problem, requestId: null };
    const status = event === 'settled' || event === 'redirected' ? record.status : 'pending';
    const then = { ...stored, status };
    const verdict = verdictView(verdictOnPayment(then, parts));
    const { words: shop } = stateOfPayment(then, parts);
    const payment = { ...record, status, checkoutUrl: '', mappedTo: null, verdict, shop };
    return { type: 'payment', at, payment, steps: [step], warnings: [] };
  });
}

function deliveryEvents(stored: Records['deliveries'], parts: VerdictDependencies): Unnumbered[] {
  const attempts = parts.store.state.attemptsOf(stored.id);
  const record = project(Delivery, stored);
  return attempts.map((attempt, index) => {
    const next = attempts[index + 1];
    const as = next ? { ...record, state: 'pending' as const, nextAttemptAt: next.startedAt } : record;
    const delivery = {
      ...as,
      attempts: attempts.slice(0, index + 1).map(attemptView),
      underWay: null,
      forwardedTo: null,
      changes: null,
      changesUnknown: null,
      note: noteOf(as, attempt),
      ...verdictFields(verdictOnDelivery({ ...stored, ...as, attemptCount: index + 1 }, parts)),
    };
    return { type: 'delivery', at: attempt.startedAt, step: 'attempted', delivery };
  });
}
