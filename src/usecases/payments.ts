import { GatewayError } from '../contract/error.ts';
import type { PaymentEvent, TimelineEntry } from '../contract/payment.ts';
import type { DeliveryOrder, Mode } from '../contract/vocabulary.ts';
import { type InitiateCommand, initiate, requirePayment, withEvent } from '../domain/payment.ts';
import {
  REDIRECT_HEAD_START_MS,
  type Settlement,
  type SettleRequest,
  selfSettledAddress,
  settle,
} from '../domain/settle.ts';
import type { Delivery, Payment } from '../domain/state.ts';
import { timeline } from '../domain/timeline.ts';
import type { UseCaseParts } from './parts.ts';

/** The redirect waits at most this long for the first attempt, in real time (chosen). */
export const REDIRECT_WAIT_MS = 3_000;

/** How a payment is to be settled. */
export interface SettleCommand extends Omit<SettleRequest, 'delivery'> {
  /** Default: the order that the server was started with. */
  delivery?: DeliveryOrder | undefined;
  /** Wait for the end of the first attempt, however long its own time-out is, whatever the order. */
  awaitDelivery?: boolean | undefined;
}

/** What settling led to. */
export interface Settled {
  payment: Payment;
  /** The last delivery that was made, as it is after the wait; null when none was. */
  delivery: Delivery | null;
  redirectUrl: string | null;
}

/** The use cases of payments: each is one commit, plus the wait for what it set off. */
export class Payments {
  readonly #parts: UseCaseParts;

  constructor(parts: UseCaseParts) {
    this.#parts = parts;
  }

  /**
   * The payment that a reference names: its id, or a merchant's identifier.
   *
   * @throws GatewayError `not_found`
   */
  require(reference: string): Payment {
    return requirePayment(this.#parts.store.state, reference);
  }

  /** The whole story of a payment in order. */
  timeline(payment: Payment): TimelineEntry[] {
    return timeline(payment, this.#parts.store.state);
  }

  /** A merchant initiates a payment. */
  initiate(command: InitiateCommand, mode: Mode): Promise<Payment> {
    return this.#parts.store.commit((state) => initiate(state, command, mode, this.#parts.context()));
  }

  /**
   * Settles a payment: the only way to do it.
   *
   * @param reference payment id or identifier
   * @throws GatewayError `not_found`, or `wrong_state` when it is settled already
   */
  async settle(reference: string, command: SettleCommand): Promise<Settled> {
    const { store, settings, context } = this.#parts;
    const delivery = command.delivery ?? settings.delivery;
    const settlement = await store.commit((state) =>
      settle(state, requirePayment(state, reference), { ...command, delivery }, context()),
    );
    return this.afterSettling(settlement, delivery, command.awaitDelivery);
  }

  /** Waits for the first attempt of what a settlement sends, where the order wants it before the redirect. */
  async afterSettling(settlement: Settlement, order: DeliveryOrder, awaitDelivery = false): Promise<Settled> {
    const { courier, settings, store } = this.#parts;
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

  /** Records in a payment's history that something happened to it. */
  async note(payment: Payment, event: PaymentEvent['event'], detail: string | null = null): Promise<void> {
    const { store, context } = this.#parts;
    const current = store.state.payments.get(payment.id);
    // A reset may have removed it meanwhile: then it must not come back.
    const noted = current && withEvent(current, context().now, event, detail);
    if (noted && noted !== current)
      await store.commit(() => ({ change: { payments: [noted] }, result: null }));
  }

  /** The payment that the checkout of a mode shows; only its id opens it. */
  requireInMode(paymentId: string, mode: Mode): Payment {
    const payment = this.#parts.store.state.payments.get(paymentId);
    if (payment?.mode === mode) return payment;
    throw new GatewayError('not_found', 'there is no payment with this payment_id');
  }

  /**
   * Where the checkout of a payment that settled itself leads, as soon as its IPN has had its turn before the redirect.
   *
   * @returns null where the browser stays
   */
  async selfSettled(payment: Payment): Promise<string | null> {
    const { courier, settings, store } = this.#parts;
    const address = selfSettledAddress(payment, settings.delivery);
    const last = store.state.deliveriesOf(payment.id).at(-1);
    const order = payment.auto?.delivery ?? settings.delivery;
    if (address !== null && last && order !== 'redirect-then-ipn') {
      await courier.attemptAfter(0, last.id, REDIRECT_WAIT_MS);
    }
    return address;
  }
}
