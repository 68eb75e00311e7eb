import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { type FireRequest, fire, requireDelivery, resend } from '../domain/resend.ts';
import type { Delivery } from '../domain/state.ts';
import type { UseCaseParts } from './parts.ts';
import { REDIRECT_WAIT_MS } from './payments.ts';

/** Maximum real time that `fire` waits: clients give up at five minutes (chosen). */
const LONGEST_FIRE_WAIT_MS = 240_000;

/** The use cases of IPNs that somebody asks for: each is one commit, plus the wait for the attempts. */
export class Ipns {
  readonly #parts: UseCaseParts;

  constructor(parts: UseCaseParts) {
    this.#parts = parts;
  }

  /**
   * The delivery with this id.
   *
   * @throws GatewayError `not_found`
   */
  require(deliveryId: string): Delivery {
    return requireDelivery(this.#parts.store.state, deliveryId);
  }

  /**
   * Sends a delivery once more and waits for that attempt.
   *
   * @param to another address, which makes a new delivery
   * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard refuses it
   */
  async resend(deliveryId: string, to?: string): Promise<Delivery> {
    const { store, courier, context } = this.#parts;
    const before = this.require(deliveryId);
    // An attempt that is on its way now was not asked for by this resend.
    if (courier.isUnderWay(deliveryId)) {
      await courier.attemptAfter(before.attemptCount, deliveryId, this.#attemptMs);
    }
    const made = await store.commit((state) => resend(state, deliveryId, to, context()));
    return this.#afterAttempt(made, this.#attemptMs);
  }

  /**
   * Makes an IPN by hand and waits for its attempts, up to `LONGEST_FIRE_WAIT_MS`.
   *
   * @returns the deliveries, in the order in which they go out
   * @throws GatewayError `not_found`, `invalid_fields`, or `forbidden` when the egress guard refuses it
   */
  async fire(request: FireRequest): Promise<Delivery[]> {
    const { store, context } = this.#parts;
    const made = await store.commit((state) => fire(state, request, context()));
    const delay = (request.delayMs ?? 0) * made.length;
    const limit = Math.min(delay + this.#attemptMs, LONGEST_FIRE_WAIT_MS);
    return Promise.all(made.map((delivery) => this.#afterAttempt(delivery, limit)));
  }

  /** How long an attempt can take, with its way to the store. */
  get #attemptMs(): number {
    return this.#parts.settings.ipn.timeoutMs + REDIRECT_WAIT_MS;
  }

  /** A delivery after its next attempt, or as it is when time is up. */
  async #afterAttempt({ id, attemptCount }: Delivery, limitMs: number): Promise<Delivery> {
    await this.#parts.courier.attemptAfter(attemptCount, id, limitMs);
    const delivery = this.require(id);
    if (delivery.state !== 'refused') return delivery;
    throw new GatewayError('forbidden', `IPN ${id} was not let out: ${delivery.note}`, {
      hint: hint`Start the emulator with the flag that lets it out, or with ${option('forwardIpn')} to deliver IPNs somewhere else.`,
    });
  }
}
