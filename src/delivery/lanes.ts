/** Maximum concurrent attempts per receiver (scheme, host and port): a development server handles one at a time. */
const MAX_PER_RECEIVER = 16;

/** The deliveries to a receiver. */
interface Lane {
  /** The group of each waiting delivery by its id, in order. */
  waiting: Map<string, string>;
  active: number;
}

/**
 * Runs deliveries, with a maximum per receiver, so that a receiver that hangs delays no other one. Deliveries of one group
 * run one at a time, in order.
 */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
  readonly #running = new Set<string>();
  readonly #busyGroups = new Set<string>();
  readonly #run: (deliveryId: string) => Promise<void>;
  readonly #onEnd: (deliveryId: string) => void;

  /**
   * @param run makes the attempt; never throws
   * @param onEnd called after the attempt, before the next one starts
   */
  constructor(run: (deliveryId: string) => Promise<void>, onEnd: (deliveryId: string) => void) {
    this.#run = run;
    this.#onEnd = onEnd;
  }

  isRunning(deliveryId: string): boolean {
    return this.#running.has(deliveryId);
  }

  /**
   * @param origin of the receiver
   * @param group identifies deliveries that must not overlap or overtake each other, such as a payment's
   */
  enqueue(origin: string, group: string, deliveryId: string): void {
    const lane = this.#lanes.get(origin) ?? { waiting: new Map(), active: 0 };
    this.#lanes.set(origin, lane);
    lane.waiting.set(deliveryId, group);
    this.#startAll(lane);
  }

  /** Starts the deliveries to a receiver that can start. */
  #startAll(lane: Lane): void {
    for (const [deliveryId, group] of lane.waiting) {
      if (lane.active >= MAX_PER_RECEIVER) return;
      if (this.#busyGroups.has(group)) continue;
      lane.waiting.delete(deliveryId);
      void this.#attempt(lane, deliveryId, group);
    }
  }

  async #attempt(lane: Lane, deliveryId: string, group: string): Promise<void> {
    lane.active++;
    this.#busyGroups.add(group);
    this.#running.add(deliveryId);
    await this.#run(deliveryId);
    lane.active--;
    this.#busyGroups.delete(group);
    this.#running.delete(deliveryId);
    this.#onEnd(deliveryId);
    // The next delivery of the group may be for another receiver.
    for (const [origin, other] of this.#lanes) {
      this.#startAll(other);
      if (!other.active && !other.waiting.size) this.#lanes.delete(origin);
    }
  }
}
