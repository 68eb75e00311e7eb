/** Maximum concurrent attempts per address (without its query), so that a slow address delays no other. */
const MAX_PER_ADDRESS = 16;
/** Maximum per receiver (scheme, host and port): a development server handles one request at a time. */
const MAX_PER_RECEIVER = 32;
/** Maximum in total. */
export const MAX_IN_TOTAL = 256;
/**
 * The part of the total that is reserved for receivers with no attempt in progress: hanging receivers cannot use it
 * all.
 */
const RESERVED_FOR_IDLE = 64;

/** The deliveries to one address. */
interface Lane {
  /** The group of each waiting delivery by its id, in order. */
  waiting: Map<string, string>;
  active: number;
}

/** The lanes of a receiver. Lanes and receivers are served in rotation. */
interface Receiver {
  origin: string;
  lanes: Map<string, Lane>;
  active: number;
}

/**
 * Runs deliveries, with a maximum per address, per receiver and in total. Deliveries of one group run one at a time, in
 * order. A responsive receiver waits for others at most as long as one attempt can take.
 */
export class Lanes {
  readonly #receivers = new Map<string, Receiver>();
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

  /** @param group identifies deliveries that must not overlap or overtake each other, such as a payment's */
  enqueue(
    { origin, pathname }: { origin: string; pathname: string },
    group: string,
    deliveryId: string,
  ): void {
    const receiver = this.#receivers.get(origin) ?? { origin, lanes: new Map(), active: 0 };
    this.#receivers.set(origin, receiver);
    const lane = receiver.lanes.get(pathname) ?? { waiting: new Map(), active: 0 };
    receiver.lanes.set(pathname, lane);
    lane.waiting.set(deliveryId, group);
    this.#pump(receiver);
  }

  #pump(receiver: Receiver): void {
    while (this.#hasRoom(receiver) && this.#startNext(receiver));
  }

  #hasRoom({ active }: Receiver): boolean {
    const max = active ? MAX_IN_TOTAL - RESERVED_FOR_IDLE : MAX_IN_TOTAL;
    return active < MAX_PER_RECEIVER && this.#running.size < max;
  }

  /** Starts a receiver's next delivery, if one can start. */
  #startNext(receiver: Receiver): boolean {
    for (const [path, lane] of receiver.lanes) {
      if (lane.active >= MAX_PER_ADDRESS) continue;
      for (const [deliveryId, group] of lane.waiting) {
        if (this.#busyGroups.has(group)) continue;
        lane.waiting.delete(deliveryId);
        receiver.lanes.delete(path);
        receiver.lanes.set(path, lane);
        void this.#attempt(receiver, lane, deliveryId, group);
        return true;
      }
      if (!lane.waiting.size && !lane.active) receiver.lanes.delete(path);
    }
    return false;
  }

  async #attempt(receiver: Receiver, lane: Lane, deliveryId: string, group: string): Promise<void> {
    lane.active++;
    receiver.active++;
    this.#busyGroups.add(group);
    this.#running.add(deliveryId);
    await this.#run(deliveryId);
    lane.active--;
    receiver.active--;
    this.#busyGroups.delete(group);
    this.#running.delete(deliveryId);
    this.#onEnd(deliveryId);
    // This receiver goes to the end of the rotation: receivers with no attempt in progress go first.
    this.#receivers.delete(receiver.origin);
    this.#receivers.set(receiver.origin, receiver);
    this.#pumpAll(({ active }) => active === 0);
    this.#pump(receiver);
    this.#pumpAll(() => true);
  }

  #pumpAll(matches: (receiver: Receiver) => boolean): void {
    for (const receiver of [...this.#receivers.values()]) {
      if (matches(receiver)) this.#pump(receiver);
      if (!receiver.active && !receiver.lanes.size) this.#receivers.delete(receiver.origin);
    }
  }
}
