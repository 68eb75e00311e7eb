import type { GatewayError } from '../contract/error.ts';
import type { PaymentEvent, PaymentStep, TimelineEntry, Visit } from '../contract/payment.ts';
import { REDIRECT_WAIT_MS } from '../contract/time.ts';
import type { DeliveryOrder, Mode } from '../contract/vocabulary.ts';
import { attentionOf, stateOfPayment } from '../diagnosis/shop-state.ts';
import { verdictOnPayment } from '../diagnosis/verdict.ts';
import { requirePayment, withEvent } from '../domain/payment.ts';
import {
  autoSettledRedirect,
  REDIRECT_HEAD_START_MS,
  type Settlement,
  type SettleRequest,
  settle,
} from '../domain/settle.ts';
import type { Delivery, Payment } from '../domain/state.ts';
import type { PostedFields } from '../service/body.ts';
import type { UseCaseDependencies } from './dependencies.ts';
import { initiatePosted, withInitiateHint } from './initiate.ts';
import { paymentSteps, type StoryStep, storyOf, timeline } from './story.ts';

export interface SettleCommand extends Omit<SettleRequest, 'delivery'> {
  /** Default: the order in the server's options. */
  delivery?: DeliveryOrder | undefined;
  /** Whether to wait until the first attempt ends or times out, whatever the delivery order. */
  awaitDelivery?: boolean | undefined;
  /** Whether to open the redirect address afterwards, in place of the customer's browser. */
  visit?: boolean | undefined;
  requestId?: number | undefined;
}

export interface Settled {
  payment: Payment;
  /** The last delivery that was created, after the wait; null if there is none. */
  delivery: Delivery | null;
  redirectUrl: string | null;
  /** Null if there is no redirect; absent unless requested. */
  visit?: Visit | null;
}

export type Payments = ReturnType<typeof paymentUseCases>;

export function paymentUseCases(parts: UseCaseDependencies) {
  const { store, settings, context, events } = parts;
  const timelineOf = (payment: Payment): TimelineEntry[] =>
    timeline(payment, store.state, (stored) => events.requestIdOf(stored));
  /** Records an event in a payment's history. */
  async function note(
    payment: Payment,
    event: PaymentEvent['event'],
    value: string | null,
    requestId?: number,
  ): Promise<void> {
    const current = store.state.payments.get(payment.id);
    // A reset may have removed the payment. It must not reappear.
    const noted = current && withEvent(current, context(requestId), event, value);
    if (noted && noted !== current)
      await store.commit(() => ({ change: { payments: [noted] }, result: null }));
  }
  return {
    /** The payment with this id, or with this identifier of a merchant. @throws GatewayError `not_found` */
    require: (reference: string): Payment => requirePayment(store.state, reference),

    /** The payment's own steps in order, starting with its initiation. */
    steps: (payment: Payment): PaymentStep[] => paymentSteps(payment, (stored) => events.requestIdOf(stored)),

    timeline: timelineOf,

    story: (payment: Payment): StoryStep[] => storyOf(timelineOf(payment), events.requestsAbout(payment.id)),

    verdict: (payment: Payment) => verdictOnPayment(payment, parts),

    /** What the shop did with its IPNs. */
    shopState: (payment: Payment) => stateOfPayment(payment, parts),

    /** The IPN of a payment that needs attention, if there is one. */
    attention: (payment: Payment) => attentionOf(payment, parts),

    /** @param requestId the request that caused this, if any, here and in the methods below */
    initiate: (posted: PostedFields, mode: Mode, requestId?: number): Promise<Payment> =>
      store.commit((state) => initiatePosted(state, posted, mode, context(requestId))),

    /** The error of a rejected initiate, with a hint for the log. See `withInitiateHint`. */
    withHint: (failed: GatewayError, posted: PostedFields): GatewayError =>
      withInitiateHint(failed, posted, { state: store.state, settings }),

    /**
     * Settles a payment. A customer's code does, too, in the commit that checks it.
     *
     * @throws GatewayError `not_found`, or `wrong_state` if it is already settled
     */
    async settle(reference: string, command: SettleCommand): Promise<Settled> {
      const { delivery = settings.delivery, visit, awaitDelivery, requestId, ...request } = command;
      const settlement = await store.commit((state) =>
        settle(state, requirePayment(state, reference), { ...request, delivery }, context(requestId)),
      );
      const settled = await afterSettling(parts, settlement, delivery, awaitDelivery);
      if (!visit) return settled;
      const { payment, redirectUrl } = settled;
      if (redirectUrl === null) return { ...settled, visit: null };
      const visited = await parts.rows.aroundReturn(payment.id, () => parts.visit(redirectUrl));
      if (visited.status !== null) await note(payment, 'redirected', redirectUrl);
      const result = visited.status ?? visited.error;
      const text = `GET ${redirectUrl}  ${result}  ${payment.identifier}  (visit)`;
      if (visited.status !== null && visited.status < 400) events.notice(text);
      else events.warn(text);
      return { ...settled, visit: visited };
    },

    note,

    /** Notes that the browser is sent to the shop, and sees what changes there. */
    async sendToShop(payment: Payment, redirectUrl: string, requestId: number | undefined): Promise<void> {
      await note(payment, 'redirected', redirectUrl, requestId);
      await parts.rows.aroundReturn(payment.id, async () => {});
    },

    /**
     * The redirect of a payment that settled automatically, once its IPN has had its attempt; null if the browser stays on
     * the checkout.
     */
    async autoSettled(payment: Payment): Promise<string | null> {
      const address = autoSettledRedirect(payment, settings);
      const last = store.state.deliveriesOf(payment.id).at(-1);
      const order = payment.auto?.delivery ?? settings.delivery;
      if (address !== null && last && order !== 'redirect-then-ipn') {
        await parts.courier.attemptAfter(0, last.id, REDIRECT_WAIT_MS);
      }
      return address;
    },
  };
}

/** Waits for the first attempt of a settlement's IPN if the order sends it before the redirect, or warns of none. */
export async function afterSettling(
  parts: UseCaseDependencies,
  settlement: Settlement,
  order: DeliveryOrder,
  awaitDelivery = false,
): Promise<Settled> {
  const { courier, events, settings, store } = parts;
  const last = settlement.deliveries.at(-1);
  if (last && (awaitDelivery || order !== 'redirect-then-ipn')) {
    const timeoutMs = settings.ipn.timeoutMs + REDIRECT_HEAD_START_MS;
    await courier.attemptAfter(0, last.id, awaitDelivery ? timeoutMs : REDIRECT_WAIT_MS);
  }
  const payment = store.state.payments.get(settlement.payment.id) ?? settlement.payment;
  // Nothing else in the log says why no IPN follows.
  if (!last && payment.status === 'succeeded') {
    const { cause, fix } = verdictOnPayment(payment, parts);
    events.warn(`${payment.identifier}: ${cause} ${fix}`);
  }
  return {
    payment,
    delivery: last ? (store.state.deliveries.get(last.id) ?? last) : null,
    redirectUrl: settlement.redirectUrl,
  };
}
