import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { type FireRequest, fire, requireDelivery, resend } from '../domain/resend.ts';
import type { Delivery } from '../domain/state.ts';
import { REDIRECT_WAIT_MS } from './payments.ts';
import type { UseCaseParts } from './use-cases.ts';

/** Maximum real time that `fire` waits: clients give up at five minutes (chosen). */
const LONGEST_FIRE_WAIT_MS = 240_000;

/** IPNs that somebody asks for. */
export function ipnUseCases({ store, courier, context, settings }: UseCaseParts) {
  /** How long an attempt can take, with its way to the store. */
  const attemptMs = settings.ipn.timeoutMs + REDIRECT_WAIT_MS;
  const find = (deliveryId: string): Delivery => requireDelivery(store.state, deliveryId);

  /** A delivery after its next attempt, or as it is when time is up. */
  async function afterAttempt({ id, attemptCount }: Delivery, limitMs: number): Promise<Delivery> {
    await courier.attemptAfter(attemptCount, id, limitMs);
    const delivery = find(id);
    if (delivery.state !== 'refused') return delivery;
    throw new GatewayError('forbidden', `IPN ${id} was not let out: ${delivery.note}`, {
      hint: hint`Start the emulator with the flag that lets it out, or with ${option('forwardIpn')} to deliver IPNs somewhere else.`,
    });
  }

  return {
    /** The delivery with this id. @throws GatewayError `not_found` */
    require: find,

    /**
     * Sends a delivery once more, or a new one to another address, and waits for that attempt.
     *
     * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard refuses it
     */
    async resend(deliveryId: string, to?: string): Promise<Delivery> {
      const before = find(deliveryId);
      // An attempt that is on its way now was not asked for by this resend.
      if (courier.isUnderWay(deliveryId)) {
        await courier.attemptAfter(before.attemptCount, deliveryId, attemptMs);
      }
      const made = await store.commit((state) => resend(state, deliveryId, to, context()));
      return afterAttempt(made, attemptMs);
    },

    /**
     * Makes IPNs by hand, in the order in which they go out, and waits for their attempts, up to `LONGEST_FIRE_WAIT_MS`.
     *
     * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard refuses it
     */
    async fire(request: FireRequest): Promise<Delivery[]> {
      const made = await store.commit((state) => fire(state, request, context()));
      const limit = Math.min((request.delayMs ?? 0) * made.length + attemptMs, LONGEST_FIRE_WAIT_MS);
      return Promise.all(made.map((delivery) => afterAttempt(delivery, limit)));
    },
  };
}
