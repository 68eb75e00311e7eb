import TinyQueue from 'tinyqueue';

interface Due {
  id: string;
  at: number;
  /** Counts up: of what is due at the same instant, the first planned goes first. */
  turn: number;
}

/** What is due when. The record decides, not the queue: it may have changed since it was planned. */
export class DueQueue {
  #queue = emptyQueue();
  #turns = 0;
  readonly #isDue: (id: string, at: number) => boolean;

  /** @param isDue whether the record, as it is stored now, is due at this instant (milliseconds since 1970) */
  constructor(isDue: (id: string, at: number) => boolean) {
    this.#isDue = isDue;
  }

  /** @returns whether it comes before all others */
  plan(id: string, at: number): boolean {
    const due = { id, at, turn: this.#turns++ };
    this.#queue.push(due);
    return this.#queue.peek() === due;
  }

  clear(): void {
    this.#queue = emptyQueue();
  }

  /** The instant of the next one; undefined when none waits. */
  next(): number | undefined {
    for (let next = this.#queue.peek(); next; next = this.#queue.peek()) {
      if (this.#isDue(next.id, next.at)) return next.at;
      this.#queue.pop();
    }
    return undefined;
  }

  /** Takes out the next one that is due at `now`. */
  take(now: number): string | undefined {
    const at = this.next();
    return at !== undefined && at <= now ? this.#queue.pop()?.id : undefined;
  }
}

const emptyQueue = () => new TinyQueue<Due>([], (a, b) => a.at - b.at || a.turn - b.turn);
