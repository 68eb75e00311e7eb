import TinyQueue from 'tinyqueue';
import type { Clock, DueSource } from './clock.ts';
import { GatewayError } from './domain/error.ts';
import type { Payment } from './domain/state.ts';
import type { Gateway } from './gateway.ts';
import type { Store } from './store/store.ts';

/** When an expiry cannot be stored (a full disk), it is tried again after this long. */
const STORE_RETRY_MS = 1_000;

interface Due {
  at: number;
  paymentId: string;
}

/** Expires the pending payments whose time is up, by the one door that settles payments. */
export class Expiry implements DueSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #gateway: Gateway;
  readonly #due = new TinyQueue<Due>([], (a, b) => a.at - b.at);
  /** Every change of a payment is heard; each one is planned once. */
  readonly #planned = new Set<string>();

  constructor(parts: { store: Store; clock: Clock; gateway: Gateway }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#gateway = parts.gateway;
  }

  /** Takes up the payments that the last run left pending, and listens for more. */
  start(): void {
    for (const payment of this.#store.state.payments.values()) this.#plan(payment);
    this.#store.onChange(({ payments = [] }) => {
      for (const payment of payments) this.#plan(payment);
    });
    this.#clock.add(this);
  }

  nextDue(): number | undefined {
    // What was settled meanwhile waits for nothing any more.
    for (let next = this.#due.peek(); next; next = this.#due.peek()) {
      if (this.#store.state.payments.get(next.paymentId)?.status === 'pending') return next.at;
      this.#take();
    }
    return undefined;
  }

  async runDue(now: number): Promise<void> {
    const expired: Promise<void>[] = [];
    for (let at = this.nextDue(); at !== undefined && at <= now; at = this.nextDue()) {
      const due = this.#take();
      if (due) expired.push(this.#expire(due.paymentId));
    }
    await Promise.all(expired);
  }

  #plan({ id, status, expiresAt }: Payment): void {
    if (status !== 'pending' || expiresAt === null || this.#planned.has(id)) return;
    this.#push(id, Date.parse(expiresAt));
  }

  #push(paymentId: string, at: number): void {
    this.#planned.add(paymentId);
    this.#due.push({ at, paymentId });
    // The clock sets its timer anew only for what comes before all others: initiating must stay cheap.
    if (this.#due.peek()?.paymentId === paymentId) this.#clock.wake();
  }

  #take(): Due | undefined {
    const due = this.#due.pop();
    if (due) this.#planned.delete(due.paymentId);
    return due;
  }

  async #expire(paymentId: string): Promise<void> {
    try {
      await this.#gateway.settle(paymentId, { outcome: 'expire', by: 'clock' });
    } catch (error) {
      // Somebody else settled it at the same moment, or a reset took it away: then there is nothing left to do.
      if (!(error instanceof GatewayError) || error.code !== 'storage_failed') return;
      this.#push(paymentId, this.#clock.now() + STORE_RETRY_MS);
    }
  }
}
