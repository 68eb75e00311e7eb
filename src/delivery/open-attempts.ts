import type { AttemptUnderWay } from '../contract/delivery.ts';
import { REDIRECT_WAIT_MS } from '../contract/duration.ts';
import type { Delivery } from '../domain/state.ts';

/** The attempts that wait for a response. */
export class OpenAttempts {
  readonly #attempts = new Map<string, AttemptUnderWay>();
  readonly #onWaiting: (delivery: Delivery, attempt: AttemptUnderWay) => void;

  /** @param onWaiting called with each attempt that has no response after a while */
  constructor(onWaiting: (delivery: Delivery, attempt: AttemptUnderWay) => void = () => {}) {
    this.#onWaiting = onWaiting;
  }

  /** The open attempt of this delivery, or null. */
  get(deliveryId: string): AttemptUnderWay | null {
    return this.#attempts.get(deliveryId) ?? null;
  }

  /** Runs an attempt and lists it until it ends. */
  async track<Result>(
    delivery: Delivery,
    attempt: AttemptUnderWay,
    run: () => Promise<Result>,
  ): Promise<Result> {
    this.#attempts.set(delivery.id, attempt);
    const report = () => this.#onWaiting(delivery, attempt);
    // An attempt with a shorter timeout is reported when it times out.
    const timer = attempt.timeoutMs > REDIRECT_WAIT_MS ? setTimeout(report, REDIRECT_WAIT_MS) : undefined;
    try {
      return await run();
    } finally {
      clearTimeout(timer);
      this.#attempts.delete(delivery.id);
    }
  }
}
