/** Maximum concurrent attempts per receiver (scheme, host and port): a development server handles one at a time. */
const MAX_PER_RECEIVER = 16;
/** Maximum in total. */
export const MAX_IN_TOTAL = 256;
/**
 * The part of the total that is reserved for receivers with no attempt in progress: hanging receivers cannot use it
 * all.
 */
const RESERVED_FOR_IDLE = 64;

/** The deliveries to a receiver. Receivers are served in rotation. */
interface Lane {
  origin: string;
  /** The group of each waiting delivery by its id, in order. */
  waiting: Map<string, string>;
  active: number;
}

/**
 * Runs deliveries, with a maximum per receiver and in total. Deliveries of one group run one at a time, in order. A
 * responsive receiver waits for others at most as long as one attempt can take.
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
    const lane = this.#lanes.get(origin) ?? { origin, waiting: new Map(), active: 0 };
    this.#lanes.set(origin, lane);
    lane.waiting.set(deliveryId, group);
    this.#pump(lane);
  }

  #pump(lane: Lane): void {
    while (this.#hasRoom(lane) && this.#startNext(lane));
  }

  #hasRoom({ active }: Lane): boolean {
    const max = active ? MAX_IN_TOTAL - RESERVED_FOR_IDLE : MAX_IN_TOTAL;
    return active < MAX_PER_RECEIVER && this.#running.size < max;
  }

  /** Starts a receiver's next delivery, if one can start. */
  #startNext(lane: Lane): boolean {
    for (const [deliveryId, group] of lane.waiting) {
      if (this.#busyGroups.has(group)) continue;
      lane.waiting.delete(deliveryId);
      void this.#attempt(lane, deliveryId, group);
      return true;
    }
    return false;
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
    // This receiver goes to the end of the rotation: receivers with no attempt in progress go first.
    this.#lanes.delete(lane.origin);
    this.#lanes.set(lane.origin, lane);
    this.#pumpAll(({ active }) => active === 0);
    this.#pump(lane);
    this.#pumpAll(() => true);
  }

  #pumpAll(matches: (lane: Lane) => boolean): void {
    for (const lane of [...this.#lanes.values()]) {
      if (matches(lane)) this.#pump(lane);
      if (!lane.active && !lane.waiting.size) this.#lanes.delete(lane.origin);
    }
  }
}
