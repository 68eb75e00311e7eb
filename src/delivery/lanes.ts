/** Maximum concurrent attempts per receiver: a slow one holds up nobody but itself. */
const PER_RECEIVER = 16;
/** Maximum concurrent attempts in all. */
export const IN_ALL = 256;

/** The deliveries for one receiver (scheme, host and port): what waits in order, each with its turn. */
interface Lane {
  waiting: Map<string, string>;
  active: number;
}

/** Runs deliveries: a limited number per receiver and in all, and of those that share a turn one at a time, in order. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>();
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
  enqueue(receiver: string, turn: string, deliveryId: string): void {
    let lane = this.#lanes.get(receiver);
    if (!lane) {
      lane = { waiting: new Map(), active: 0 };
      this.#lanes.set(receiver, lane);
    }
    lane.waiting.set(deliveryId, turn);
    this.#pump(lane);
  }

  #pump(lane: Lane): void {
    for (const [deliveryId, turn] of lane.waiting) {
      if (lane.active >= PER_RECEIVER || this.#running.size >= IN_ALL) return;
      if (this.#busyTurns.has(turn)) continue;
      lane.waiting.delete(deliveryId);
      void this.#attempt(lane, deliveryId, turn);
    }
  }

  async #attempt(lane: Lane, deliveryId: string, turn: string): Promise<void> {
    lane.active++;
    this.#busyTurns.add(turn);
    this.#running.add(deliveryId);
    await this.#run(deliveryId);
    lane.active--;
    this.#busyTurns.delete(turn);
    this.#running.delete(deliveryId);
    this.#ended(deliveryId);
    this.#pump(lane);
    for (const [receiver, other] of this.#lanes) {
      if (other.waiting.size) this.#pump(other);
      else if (!other.active) this.#lanes.delete(receiver);
    }
  }
}
