import TinyQueue from 'tinyqueue';
import type { Delivery } from '../domain/state.ts';

interface Due {
  at: number;
  /** Counts up: of what is due at the same instant, the first planned goes first. */
  turn: number;
  deliveryId: string;
}

/** Which delivery is due when. The record decides, not the queue: a resend or a reset may have changed it since. */
export class DueQueue {
  readonly #queue = new TinyQueue<Due>([], (a, b) => a.at - b.at || a.turn - b.turn);
  readonly #find: (deliveryId: string) => Delivery | undefined;
  #turns = 0;

  /** @param find the delivery as it is stored now */
  constructor(find: (deliveryId: string) => Delivery | undefined) {
    this.#find = find;
  }

  /** Adds a delivery at the instant that its record names, if any. */
  plan(delivery: Delivery): void {
    const at = dueAt(delivery);
    if (at !== undefined) this.planAt(delivery.id, at);
  }

  planAt(deliveryId: string, at: number): void {
    this.#queue.push({ at, turn: this.#turns++, deliveryId });
  }

  /** The instant of the next one in milliseconds since 1970; undefined when none waits. */
  next(): number | undefined {
    for (let next = this.#queue.peek(); next; next = this.#queue.peek()) {
      const delivery = this.#find(next.deliveryId);
      const at = delivery && dueAt(delivery);
      if (at !== undefined && at <= next.at) return next.at;
      this.#queue.pop();
    }
    return undefined;
  }

  /** Takes out the next one that is due at `now`. */
  take(now: number): Delivery | undefined {
    const at = this.next();
    return at !== undefined && at <= now ? this.#find(this.#queue.pop()?.deliveryId ?? '') : undefined;
  }
}

function dueAt({ state, nextAttemptAt }: Delivery): number | undefined {
  return state === 'pending' && nextAttemptAt !== null ? Date.parse(nextAttemptAt) : undefined;
}
