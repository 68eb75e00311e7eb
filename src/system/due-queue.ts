import TinyQueue from 'tinyqueue';
import type { Clock, DueSource } from './clock.ts';

/** When something cannot be stored (a full disk), it is tried again after this long. */
const STORE_RETRY_MS = 1_000;

interface Due {
  id: string;
  at: number;
  /** Counts up: of what is due at the same instant, the first planned goes first. */
  turn: number;
}

/** What is due when, by the clock. The record decides, not the queue: it may have changed since it was planned. */
export class DueQueue implements DueSource {
  readonly #clock: Clock;
  readonly #isDue: (id: string, at: number) => boolean;
  readonly #run: (id: string) => Promise<void> | undefined;
  #queue = emptyQueue();
  #turns = 0;

  /**
   * @param isDue whether the record, as it is stored now, is due at this instant
   * @param run begins what is due; resolves when that has been done and is stored
   */
  constructor(
    clock: Clock,
    isDue: (id: string, at: number) => boolean,
    run: (id: string) => Promise<void> | undefined,
  ) {
    this.#clock = clock;
    this.#isDue = isDue;
    this.#run = run;
  }

  plan(id: string, at: number): void {
    const due = { id, at, turn: this.#turns++ };
    this.#queue.push(due);
    // The clock sets its timer anew only for what comes before all others: planning must stay cheap.
    if (this.#queue.peek() === due) this.#clock.wake();
  }

  retry(id: string): void {
    this.plan(id, this.#clock.now() + STORE_RETRY_MS);
  }

  clear(): void {
    this.#queue = emptyQueue();
  }

  nextDue(): number | undefined {
    for (let next = this.#queue.peek(); next; next = this.#queue.peek()) {
      if (this.#isDue(next.id, next.at)) return next.at;
      this.#queue.pop();
    }
    return undefined;
  }

  async runDue(now: number): Promise<void> {
    const runs: (Promise<void> | undefined)[] = [];
    for (let at = this.nextDue(); at !== undefined && at <= now; at = this.nextDue()) {
      runs.push(this.#run(this.#queue.pop()?.id ?? ''));
    }
    await Promise.all(runs);
  }
}

const emptyQueue = () => new TinyQueue<Due>([], (a, b) => a.at - b.at || a.turn - b.turn);
