/** Something that has work to do at certain instants: the courier, expiring payments, automatic settling. */
export interface DueSource {
  /** The instant of its next work in milliseconds since 1970, or undefined when it waits for nothing. */
  nextDue(): number | undefined;
  /** Does all that is due at `now`; resolves when that has been done and is stored. */
  runDue(now: number): Promise<void>;
}

/** setTimeout counts in 32 bits; a longer wait is cut into pieces. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The emulator's time. Everything that waits does so here, on one timer in all, however much is waiting.
 */
export class Clock {
  readonly #sources: DueSource[] = [];
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** Milliseconds since 1970 of the emulator's time. */
  now(): number {
    return Date.now();
  }

  /** Adds something that waits. It calls `wake` whenever its next instant may have come nearer. */
  add(source: DueSource): void {
    this.#sources.push(source);
    this.wake();
  }

  /** Looks again at what is due next and sets the timer for it. */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    const due = this.#nextDue();
    if (due === undefined) return;
    const wait = Math.min(Math.max(due - this.now(), 0), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => this.#tick(), wait);
  }

  /** Nothing runs any more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #nextDue(): number | undefined {
    let next: number | undefined;
    for (const source of this.#sources) {
      const due = source.nextDue();
      if (due !== undefined && (next === undefined || due < next)) next = due;
    }
    return next;
  }

  #tick(): void {
    const now = this.now();
    for (const source of this.#sources) {
      const due = source.nextDue();
      // A source reports its own failures; the clock only keeps time.
      if (due !== undefined && due <= now) void source.runDue(now);
    }
    this.wake();
  }
}
