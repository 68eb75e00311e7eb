import { pause, performance } from '../system/real-time.ts';

/** The longest wait for anything that the shop does by itself. */
const LONGEST_MS = 10_000;
const SHORTEST_REST_MS = 60;
/** While it is not known how late this shop's effects come. An e-mail or a row is written later than a page is shown. */
const UNKNOWN_REST_MS = { probe: 500, effects: 1_000, rows: 4_000 } as const;
/** How much longer than the slowest effect so far is waited at most. */
const LONGEST_MARGIN_MS = 1_500;
const SHORTEST_LIMIT_MS = 2_000;
/** How much of the slowest reading still counts at the next one: a pause of the machine must not slow down the rest. */
const FORGETTING = 0.95;
/** A reading may be a process of a database's client: the longer the wait has been, the rarer it is. */
const pauseAfter = (waitedMs: number) => pause(20 + waitedMs / 8);

/**
 * How long the audit waits for a shop, in milliseconds of real time. All of it follows from how fast this shop, on this
 * machine, has been so far: nothing is judged by a time that is the same for all shops.
 */
export class Patience {
  /** How long a reading of an order, or a response to a genuine IPN, took: the slowest of the last ones. */
  #paceMs = 0;
  /** The longest time from such a response to an effect; undefined until one was seen. */
  #lagMs: number | undefined;

  /** @param milliseconds how long a reading or a response took */
  responded(milliseconds: number): void {
    this.#paceMs = Math.max(this.#paceMs * FORGETTING, milliseconds);
  }

  /** @param milliseconds how long after the response to its IPN an effect of a payment was seen */
  tookEffect(milliseconds: number): void {
    this.#lagMs = Math.max(this.#lagMs ?? 0, milliseconds);
  }

  /** From the response to an IPN until its last effect; 0 until one was seen. */
  get lagMs(): number {
    return this.#lagMs ?? 0;
  }

  /** A shop in which nothing changes for this time is at rest. */
  get restMs(): number {
    const longer = Math.min(1.5 * this.lagMs, this.lagMs + LONGEST_MARGIN_MS);
    return Math.min(SHORTEST_REST_MS + 2 * this.#paceMs + longer, LONGEST_MS);
  }

  /** The same while it is not known how late effects come. */
  unknownRestMs(shownBy: keyof typeof UNKNOWN_REST_MS): number {
    return Math.min(Math.max(UNKNOWN_REST_MS[shownBy], this.restMs), LONGEST_MS);
  }

  /** After this time, an effect will not come any more. */
  get limitMs(): number {
    if (this.#lagMs === undefined) return LONGEST_MS;
    return Math.min(SHORTEST_LIMIT_MS + 10 * (this.lagMs + this.#paceMs), LONGEST_MS);
  }

  /** Waits until the shop has had time for the effects of a request. */
  rest(): Promise<void> {
    return pause(this.restMs);
  }

  /**
   * Reads until an effect is there, or will not come any more.
   *
   * @param limitMs default: much longer than any effect of this shop took
   * @returns the last reading
   */
  async until<Reading>(
    read: () => Promise<Reading>,
    isThere: (reading: Reading) => boolean,
    limitMs = this.limitMs,
  ): Promise<Reading> {
    const began = performance.now();
    for (;;) {
      const reading = await this.#timed(read);
      const waitedMs = performance.now() - began;
      if (isThere(reading) || waitedMs >= limitMs) return reading;
      await pauseAfter(waitedMs);
    }
  }

  /**
   * Reads until nothing changes any more.
   *
   * @param limitMs the longest wait; default: that for anything else
   * @returns the last reading, and when it last changed
   */
  async untilAtRest<Reading>(
    read: () => Promise<Reading>,
    isSame: (before: Reading, after: Reading) => boolean,
    restMs: number,
    limitMs = Math.max(LONGEST_MS, restMs),
  ): Promise<{ reading: Reading; changedAt: number }> {
    const deadline = performance.now() + limitMs;
    let [reading, changedAt] = [await this.#timed(read), performance.now()];
    for (;;) {
      const now = performance.now();
      if (now >= Math.min(changedAt + restMs, deadline)) break;
      await pauseAfter(now - changedAt);
      const next = await this.#timed(read);
      if (!isSame(reading, next)) changedAt = performance.now();
      reading = next;
    }
    return { reading, changedAt };
  }

  async #timed<Reading>(read: () => Promise<Reading>): Promise<Reading> {
    const began = performance.now();
    const reading = await read();
    this.responded(performance.now() - began);
    return reading;
  }
}
