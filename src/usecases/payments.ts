import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { PaymentEvent } from '../contract/payment.ts';
import type { DeliveryOrder, Mode, PaymentOutcome, SettledBy } from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import type { Courier } from '../delivery/courier.ts';
import {
  type CheckoutProblem,
  changeEmail,
  codeProblem,
  enterEmail,
  refuseCode,
  sendCode,
  stepOf,
} from '../domain/checkout.ts';
import { type FireRequest, fire, requireDelivery, resend } from '../domain/fire.ts';
import type { RandomBytes } from '../domain/ids.ts';
import { addMerchant, fundWallet, newKeyPair, replaceKeys, requireMerchant } from '../domain/merchant.ts';
import { type InitiateInput, initiate, requirePayment, unique, withEvent } from '../domain/payment.ts';
import type { Context, Settings } from '../domain/settings.ts';
import {
  REDIRECT_HEAD_START_MS,
  requirePending,
  type Settlement,
  selfSettledAddress,
  settle,
} from '../domain/settle.ts';
import type { Delivery, Outcome, Payment, State } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';

/** The redirect waits at most this long for the first attempt, in real time (chosen). */
const REDIRECT_WAIT_MS = 3_000;

/** Answers to `fire` come at the latest after this, in real time: clients give up at five minutes (chosen). */
const LONGEST_FIRE_WAIT_MS = 240_000;

/** What the use cases work with. */
export interface GatewayParts {
  store: Store;
  clock: Clock;
  courier: Courier;
  settings: Settings;
  context: () => Context;
  /** Never seeded: keys are made of it. */
  random: RandomBytes;
}

/** How a payment is to be settled, by whoever asks for it. */
export interface SettleInput {
  outcome: PaymentOutcome;
  /** Default: the order that the server was started with. */
  delivery?: DeliveryOrder | undefined;
  by: SettledBy;
  /** Wait for the end of the first attempt, however long its own time-out is, whatever the order. */
  awaitDelivery?: boolean | undefined;
}

/** What settling tells the caller. */
export interface Settled {
  payment: Payment;
  /** The last delivery that was made, as it stands after the wait; null when none was. */
  delivery: Delivery | null;
  redirectUrl: string | null;
}

/** What a step of the checkout led to. */
export type StepResult = { problem: CheckoutProblem } | { problem: null; redirectUrl: string | null };

/** The use cases of the service: each is one commit, plus the wait for what it set off. */
export class Gateway {
  readonly #parts: GatewayParts;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  /** The state, to be read. */
  get state(): State {
    return this.#parts.store.state;
  }

  get settings(): Settings {
    return this.#parts.settings;
  }

  /** The emulator's time, in milliseconds since 1970. */
  now(): number {
    return this.#parts.clock.now();
  }

  /** A merchant initiates a payment. */
  initiate(input: InitiateInput, mode: Mode): Promise<Payment> {
    return this.#parts.store.commit((state) => initiate(state, input, mode, this.#parts.context()));
  }

  /** The payment that the checkout of a mode shows; only its id opens it. */
  payment(paymentId: string, mode: Mode): Payment {
    const payment = this.state.payments.get(paymentId);
    if (payment?.mode === mode) return payment;
    throw new GatewayError('not_found', 'there is no payment with this payment_id');
  }

  /** Notes in a payment's history that something happened to it. */
  async note(payment: Payment, event: PaymentEvent['event'], detail: string | null = null): Promise<void> {
    const { store, context } = this.#parts;
    const current = this.state.payments.get(payment.id);
    // A reset may have taken it away meanwhile: then it must not come back.
    const noted = current && withEvent(current, context().now, event, detail);
    if (noted && noted !== current)
      await store.commit(() => ({ change: { payments: [noted] }, result: null }));
  }

  /** The customer enters an e-mail on the checkout. */
  enterEmail(payment: Payment, email: string): Promise<CheckoutProblem | null> {
    return this.#step(payment, (state, current) => enterEmail(state, current, email, this.#parts.context()));
  }

  /** The customer goes back to the first step. */
  changeEmail(payment: Payment): Promise<null> {
    return this.#step(payment, (_, current) => changeEmail(current));
  }

  /** The customer asks for a new code (live mode). */
  resendCode(payment: Payment): Promise<null> {
    return this.#step(payment, (_, current) =>
      current.mode === 'live' && current.payerEmail !== null
        ? sendCode(current, current.payerEmail, this.#parts.context())
        : { change: {}, result: null },
    );
  }

  /** The customer enters the verification code; the right one pays. */
  async enterCode(payment: Payment, code: string): Promise<StepResult> {
    const { settings } = this.#parts;
    const context = this.#parts.context();
    const outcome = await this.#step<CheckoutProblem | Settlement>(payment, (state, current) => {
      if (stepOf(current) !== 'code') {
        throw new GatewayError('wrong_state', 'the e-mail comes before the verification code');
      }
      const problem = codeProblem(state, current, code, context);
      if (problem) return refuseCode(current, problem, context.now);
      return settle(
        state,
        current,
        { outcome: 'approve', delivery: settings.delivery, by: 'customer' },
        context,
      );
    });
    if (typeof outcome === 'string') return { problem: outcome };
    const { redirectUrl } = await this.#afterSettling(outcome, settings.delivery, false);
    return { problem: null, redirectUrl };
  }

  #step<Result>(
    payment: Payment,
    rule: (state: State, current: Payment) => Outcome<Result>,
  ): Promise<Result> {
    return this.#parts.store.commit((state) => {
      const current = requirePayment(state, payment.id);
      requirePending(current);
      return rule(state, current);
    });
  }

  /**
   * Settles a payment: the only door, whoever asks.
   *
   * @param reference payment id or identifier
   * @throws GatewayError `not_found`, or `wrong_state` when it is settled already
   */
  async settle(reference: string, input: SettleInput): Promise<Settled> {
    const { store, settings, context } = this.#parts;
    const delivery = input.delivery ?? settings.delivery;
    const settlement = await store.commit((state) =>
      settle(state, requirePayment(state, reference), { ...input, delivery }, context()),
    );
    return this.#afterSettling(settlement, delivery, input.awaitDelivery ?? false);
  }

  async #afterSettling(
    settlement: Settlement,
    order: DeliveryOrder,
    awaitDelivery: boolean,
  ): Promise<Settled> {
    const { courier, settings } = this.#parts;
    const last = settlement.deliveries.at(-1);
    const waits = awaitDelivery || order !== 'redirect-then-ipn';
    if (last && waits) {
      const ownTime = settings.ipn.timeoutMs + REDIRECT_HEAD_START_MS;
      await courier.firstAttempt(last.id, awaitDelivery ? ownTime : REDIRECT_WAIT_MS);
    }
    return {
      payment: this.state.payments.get(settlement.payment.id) ?? settlement.payment,
      delivery: last ? (this.state.deliveries.get(last.id) ?? last) : null,
      redirectUrl: settlement.redirectUrl,
    };
  }

  /**
   * Where the checkout of a payment that settled itself leads, as soon as its IPN has had its turn before the redirect.
   *
   * @returns null where the browser stays
   */
  async selfSettled(payment: Payment): Promise<string | null> {
    const { courier, settings } = this.#parts;
    const address = selfSettledAddress(payment, settings.delivery);
    const last = this.state.deliveriesOf(payment.id).at(-1);
    const order = payment.auto?.delivery ?? settings.delivery;
    if (address !== null && last && order !== 'redirect-then-ipn') {
      await courier.firstAttempt(last.id, REDIRECT_WAIT_MS);
    }
    return address;
  }

  /**
   * Sends a delivery once more and waits for that attempt.
   *
   * @param to another address, which makes a new delivery
   * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard does not let it out
   */
  async resend(deliveryId: string, to?: string): Promise<Delivery> {
    const { store, courier, context, settings } = this.#parts;
    const before = requireDelivery(this.state, deliveryId);
    // An attempt that is on its way now was not asked for by this resend.
    if (courier.isUnderWay(deliveryId)) {
      await courier.attemptAfter(before.attemptCount, deliveryId, settings.ipn.timeoutMs + REDIRECT_WAIT_MS);
    }
    const made = await store.commit((state) => resend(state, deliveryId, to, context()));
    return this.#afterAttempt(made, settings.ipn.timeoutMs + REDIRECT_WAIT_MS);
  }

  /**
   * Makes an IPN by hand and waits for its attempts, up to `LONGEST_FIRE_WAIT_MS`.
   *
   * @returns the deliveries, in the order in which they go out
   * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard does not let it out
   */
  async fire(request: FireRequest): Promise<Delivery[]> {
    const { store, context, settings } = this.#parts;
    const made = await store.commit((state) => fire(state, request, context()));
    const delay = (request.delayMs ?? 0) * made.length;
    const limit = Math.min(delay + settings.ipn.timeoutMs + REDIRECT_WAIT_MS, LONGEST_FIRE_WAIT_MS);
    return Promise.all(made.map((delivery) => this.#afterAttempt(delivery, limit)));
  }

  /** A delivery after its next attempt, or as it stands when time is up. */
  async #afterAttempt({ id, attemptCount }: Delivery, limitMs: number): Promise<Delivery> {
    await this.#parts.courier.attemptAfter(attemptCount, id, limitMs);
    const delivery = requireDelivery(this.state, id);
    if (delivery.state !== 'refused') return delivery;
    throw new GatewayError('forbidden', `IPN ${id} was not let out: ${delivery.note}`, {
      hint: hint`Start the emulator with the flag that lets it out, or with ${option('forwardIpn')} to deliver IPNs somewhere else.`,
    });
  }

  /** Registers another merchant with a fresh pair of keys. */
  addMerchant(name: string): Promise<Merchant> {
    const { store, context, random } = this.#parts;
    return store.commit((state) => {
      const given = context();
      const id = unique(given.ids.merchant, (drawn) => state.merchants.get(drawn) === undefined);
      return addMerchant(state, id, name, newKeyPair(random), given);
    });
  }

  /** Gives a merchant a new pair of keys; the old one stops working at once. */
  replaceKeys(reference: string): Promise<Merchant> {
    const { store, random } = this.#parts;
    return store.commit((state) => replaceKeys(requireMerchant(state, reference), newKeyPair(random)));
  }

  /** Puts money into a wallet. */
  fundWallet(reference: string, amount: string): Promise<Wallet> {
    return this.#parts.store.commit((state) => fundWallet(state, reference, amount));
  }
}
