/** Maximum concurrent attempts per address (without its query): a slow one holds up nobody but itself. */
const PER_ADDRESS = 16;
/** Maximum per receiver (scheme, host and port): a development server answers one request at a time. */
const PER_RECEIVER = 32;
/** Maximum in all. */
export const IN_ALL = 256;
/** Of these the last ones are for receivers that have none under way, so that those that hang cannot take them all. */
const FOR_IDLE = 64;

/** The deliveries for one address: what waits in order, each with its turn. */
interface Lane {
  waiting: Map<string, string>;
  active: number;
}

/** The lanes of a receiver; they come round in turn, as the receivers do. */
interface Receiver {
  origin: string;
  lanes: Map<string, Lane>;
  active: number;
}

/**
 * Runs deliveries: a limited number per address, per receiver and in all, and of those that share a turn one at a time,
 * in order. A receiver that answers waits for others at most as long as one attempt of theirs may take.
 */
export class Lanes {
  readonly #receivers = new Map<string, Receiver>();
  readonly #running = new Set<string>();
  readonly #busyTurns = new Set<string>();
  readonly #run: (deliveryId: string) => Promise<void>;
  readonly #ended: (deliveryId: string) => void;

  /**
   * @param run makes the attempt; never throws
   * @param ended called after it, before the next one begins
   */
  constructor(run: (deliveryId: string) => Promise<void>, ended: (deliveryId: string) => void) {
    this.#run = run;
    this.#ended = ended;
  }

  isRunning(deliveryId: string): boolean {
    return this.#running.has(deliveryId);
  }

  /** @param turn what its attempts must not overtake each other for, such as a payment */
  enqueue(
    { origin, pathname }: { origin: string; pathname: string },
    turn: string,
    deliveryId: string,
  ): void {
    const receiver = this.#receivers.get(origin) ?? { origin, lanes: new Map(), active: 0 };
    this.#receivers.set(origin, receiver);
    const lane = receiver.lanes.get(pathname) ?? { waiting: new Map(), active: 0 };
    receiver.lanes.set(pathname, lane);
    lane.waiting.set(deliveryId, turn);
    this.#pump(receiver);
  }

  #pump(receiver: Receiver): void {
    while (this.#hasRoom(receiver) && this.#startNext(receiver));
  }

  #hasRoom({ active }: Receiver): boolean {
    return active < PER_RECEIVER && this.#running.size < (active ? IN_ALL - FOR_IDLE : IN_ALL);
  }

  /** Starts what is next at a receiver, if anything may: its lanes take turns. */
  #startNext(receiver: Receiver): boolean {
    for (const [path, lane] of receiver.lanes) {
      if (lane.active >= PER_ADDRESS) continue;
      for (const [deliveryId, turn] of lane.waiting) {
        if (this.#busyTurns.has(turn)) continue;
        lane.waiting.delete(deliveryId);
        receiver.lanes.delete(path);
        receiver.lanes.set(path, lane);
        void this.#attempt(receiver, lane, deliveryId, turn);
        return true;
      }
      if (!lane.waiting.size && !lane.active) receiver.lanes.delete(path);
    }
    return false;
  }

  async #attempt(receiver: Receiver, lane: Lane, deliveryId: string, turn: string): Promise<void> {
    lane.active++;
    receiver.active++;
    this.#busyTurns.add(turn);
    this.#running.add(deliveryId);
    await this.#run(deliveryId);
    lane.active--;
    receiver.active--;
    this.#busyTurns.delete(turn);
    this.#running.delete(deliveryId);
    this.#ended(deliveryId);
    // It has had its slot: those without one go first.
    this.#receivers.delete(receiver.origin);
    this.#receivers.set(receiver.origin, receiver);
    this.#pumpAll(({ active }) => active === 0);
    this.#pump(receiver);
    this.#pumpAll(() => true);
  }

  #pumpAll(isMeant: (receiver: Receiver) => boolean): void {
    for (const receiver of [...this.#receivers.values()]) {
      if (isMeant(receiver)) this.#pump(receiver);
      if (!receiver.active && !receiver.lanes.size) this.#receivers.delete(receiver.origin);
    }
  }
}
