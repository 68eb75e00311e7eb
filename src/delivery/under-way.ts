import type { AttemptUnderWay } from '../contract/delivery.ts';
import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import type { Delivery } from '../domain/state.ts';

/** The attempts that wait for their answers: at most as many as there are lanes. */
export class UnderWay {
  readonly #attempts = new Map<string, AttemptUnderWay>();
  readonly #onWaiting: (delivery: Delivery, attempt: AttemptUnderWay) => void;

  /** @param onWaiting gets each attempt that takes long */
  constructor(onWaiting: (delivery: Delivery, attempt: AttemptUnderWay) => void = () => {}) {
    this.#onWaiting = onWaiting;
  }

  /** The attempt of this delivery; null when none waits. */
  get(deliveryId: string): AttemptUnderWay | null {
    return this.#attempts.get(deliveryId) ?? null;
  }

  /** Makes an attempt and keeps it until it has ended. */
  async track<Result>(
    delivery: Delivery,
    attempt: AttemptUnderWay,
    run: () => Promise<Result>,
  ): Promise<Result> {
    this.#attempts.set(delivery.id, attempt);
    const takesLong = () => this.#onWaiting(delivery, attempt);
    // One that ends with its time-out before that is told then.
    const timer = attempt.timeoutMs > REDIRECT_WAIT_MS ? setTimeout(takesLong, REDIRECT_WAIT_MS) : undefined;
    try {
      return await run();
    } finally {
      clearTimeout(timer);
      this.#attempts.delete(delivery.id);
    }
  }
}
