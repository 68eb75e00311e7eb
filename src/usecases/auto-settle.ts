import TinyQueue from 'tinyqueue';
import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock, DueSource } from '../system/clock.ts';
import type { Payments, SettleCommand } from './payments.ts';

/** When a settling cannot be stored (a full disk), it is tried again after this long. */
const STORE_RETRY_MS = 1_000;

interface Due {
  at: number;
  paymentId: string;
  input: SettleCommand;
}

/** Settles the pending payments whose time has come: automatic ones and expired ones. */
export class AutoSettler implements DueSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #payments: Payments;
  #due = queue();
  /** Each payment is planned once, however often it changes. */
  readonly #planned = new Set<string>();

  constructor(parts: { store: Store; clock: Clock; payments: Payments }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#payments = parts.payments;
  }

  /** Takes up the payments that the last run left pending, and listens for more. */
  start(): void {
    for (const payment of this.#store.state.payments.values()) this.#plan(payment);
    this.#store.onChange(({ payments = [] }, replaced) => {
      if (replaced) this.#forget();
      for (const payment of payments) this.#plan(payment);
    });
    this.#clock.add(this);
  }

  #forget(): void {
    this.#due = queue();
    this.#planned.clear();
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
    const settled: Promise<void>[] = [];
    for (let at = this.nextDue(); at !== undefined && at <= now; at = this.nextDue()) {
      const due = this.#take();
      if (due) settled.push(this.#settle(due));
    }
    await Promise.all(settled);
  }

  #plan(payment: Payment): void {
    if (payment.status !== 'pending' || this.#planned.has(payment.id)) return;
    const due = dueOf(payment);
    if (due) this.#push(due);
  }

  #push(due: Due): void {
    this.#planned.add(due.paymentId);
    this.#due.push(due);
    // The clock sets its timer anew only for what comes before all others: initiating must stay cheap.
    if (this.#due.peek() === due) this.#clock.wake();
  }

  #take(): Due | undefined {
    const due = this.#due.pop();
    if (due) this.#planned.delete(due.paymentId);
    return due;
  }

  async #settle(due: Due): Promise<void> {
    try {
      await this.#payments.settle(due.paymentId, due.input);
    } catch (error) {
      // Somebody else settled it at the same moment, or a reset removed it: then there is nothing left to do.
      if (!(error instanceof GatewayError) || error.code !== 'storage_failed') return;
      this.#push({ ...due, at: this.#clock.now() + STORE_RETRY_MS });
    }
  }
}

const queue = () => new TinyQueue<Due>([], (a, b) => a.at - b.at);

/** What happens to a pending payment by itself, and when: the first of settling automatically and expiring. */
function dueOf({ id, auto, expiresAt }: Payment): Due | undefined {
  const expiry = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (auto && Date.parse(auto.at) <= expiry) {
    const { outcome, at, delivery } = auto;
    const input: SettleCommand = { outcome, by: 'auto', ...(delivery && { delivery }) };
    return { at: Date.parse(at), paymentId: id, input };
  }
  if (expiresAt === null) return undefined;
  return { at: expiry, paymentId: id, input: { outcome: 'expire', by: 'clock' } };
}
