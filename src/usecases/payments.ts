import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import type { PaymentEvent, PaymentStep, TimelineEntry } from '../contract/payment.ts';
import type { DeliveryOrder, Mode } from '../contract/vocabulary.ts';
import { initiateRemedy } from '../domain/initiate-remedy.ts';
import { type InitiateCommand, initiate, requirePayment, withEvent } from '../domain/payment.ts';
import {
  REDIRECT_HEAD_START_MS,
  type Settlement,
  type SettleRequest,
  selfSettledAddress,
  settle,
} from '../domain/settle.ts';
import type { Delivery, Payment } from '../domain/state.ts';
import { paymentSteps, timeline } from '../domain/timeline.ts';
import { type UseCaseParts, verdictParts } from './parts.ts';
import { type Step, storyOf } from './story.ts';
import { verdictOnPayment } from './verdict.ts';

/** How a payment is to be settled. */
export interface SettleCommand extends Omit<SettleRequest, 'delivery'> {
  /** Default: the order that the server was started with. */
  delivery?: DeliveryOrder | undefined;
  /** Wait for the end of the first attempt, however long its own time-out is, whatever the order. */
  awaitDelivery?: boolean | undefined;
  requestId?: number | undefined;
}

/** What settling led to. */
export interface Settled {
  payment: Payment;
  /** The last delivery that was made, as it is after the wait; null when none was. */
  delivery: Delivery | null;
  redirectUrl: string | null;
}

export type Payments = ReturnType<typeof paymentUseCases>;

export function paymentUseCases(parts: UseCaseParts) {
  const { store, settings, context, events } = parts;
  const timelineOf = (payment: Payment): TimelineEntry[] =>
    timeline(payment, store.state, (stored) => events.requestIdOf(stored));
  return {
    /** The payment that an id or a merchant's identifier names. @throws GatewayError `not_found` */
    require: (reference: string): Payment => requirePayment(store.state, reference),

    /** The payment that the checkout of a mode shows; only its id opens it. */
    requireInMode(paymentId: string, mode: Mode): Payment {
      const payment = store.state.payments.get(paymentId);
      if (payment?.mode === mode) return payment;
      throw new GatewayError('not_found', 'there is no payment with this payment_id');
    },

    /** What happened to a payment itself, in order; its first step is its initiation. */
    steps: (payment: Payment): PaymentStep[] => paymentSteps(payment, (stored) => events.requestIdOf(stored)),

    timeline: timelineOf,

    /** Its timeline with the requests behind it. */
    story: (payment: Payment): Step[] =>
      storyOf(timelineOf(payment), events.requestsAbout(payment.id), store.state),

    /** What became of it and of its IPNs. */
    verdict: (payment: Payment) => verdictOnPayment(payment, verdictParts(parts)),

    /** @param requestId of the request that asks for it, if one does: here and below */
    initiate: (command: InitiateCommand, mode: Mode, requestId?: number): Promise<Payment> =>
      store.commit((state) => initiate(state, command, mode, context(requestId))),

    /** The error of a refused initiate with what its request lacks, for the log. */
    explained(failed: GatewayError, readLoosely: () => InitiateCommand): GatewayError {
      const { code, message, problems, problemCount } = failed;
      const hint = initiateRemedy(failed, readLoosely, store.state, settings);
      return new GatewayError(code, message, { problems, problemCount, ...(hint && { hint }) });
    },

    /** The only way to settle a payment. @throws GatewayError `not_found`, or `wrong_state` when it is settled already */
    async settle(reference: string, command: SettleCommand): Promise<Settled> {
      const delivery = command.delivery ?? settings.delivery;
      const settlement = await store.commit((state) =>
        settle(state, requirePayment(state, reference), { ...command, delivery }, context(command.requestId)),
      );
      return afterSettling(parts, settlement, delivery, command.awaitDelivery);
    },

    /** Records in a payment's history that something happened to it. */
    async note(
      payment: Payment,
      event: PaymentEvent['event'],
      value: string | null,
      requestId?: number,
    ): Promise<void> {
      const current = store.state.payments.get(payment.id);
      // A reset may have removed it meanwhile: then it must not come back.
      const noted = current && withEvent(current, context(requestId), event, value);
      if (noted && noted !== current)
        await store.commit(() => ({ change: { payments: [noted] }, result: null }));
    },

    /**
     * Where the checkout of a payment that settled itself leads, as soon as its IPN has had its turn before the
     * redirect; null where the browser stays.
     */
    selfSettled: (payment: Payment): Promise<string | null> => selfSettled(parts, payment),
  };
}

async function selfSettled(
  { store, settings, courier }: UseCaseParts,
  payment: Payment,
): Promise<string | null> {
  const address = selfSettledAddress(payment, settings);
  const last = store.state.deliveriesOf(payment.id).at(-1);
  const order = payment.auto?.delivery ?? settings.delivery;
  if (address !== null && last && order !== 'redirect-then-ipn') {
    await courier.attemptAfter(0, last.id, REDIRECT_WAIT_MS);
  }
  return address;
}

/** Waits for the first attempt of what a settlement sends, where the order wants it before the redirect. */
export async function afterSettling(
  { courier, settings, store }: UseCaseParts,
  settlement: Settlement,
  order: DeliveryOrder,
  awaitDelivery = false,
): Promise<Settled> {
  const last = settlement.deliveries.at(-1);
  if (last && (awaitDelivery || order !== 'redirect-then-ipn')) {
    const ownTime = settings.ipn.timeoutMs + REDIRECT_HEAD_START_MS;
    await courier.attemptAfter(0, last.id, awaitDelivery ? ownTime : REDIRECT_WAIT_MS);
  }
  return {
    payment: store.state.payments.get(settlement.payment.id) ?? settlement.payment,
    delivery: last ? (store.state.deliveries.get(last.id) ?? last) : null,
    redirectUrl: settlement.redirectUrl,
  };
}
