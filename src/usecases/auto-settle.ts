import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../domain/state.ts';
import type { Store } from '../store/store.ts';
import type { Clock, DueSource } from '../system/clock.ts';
import { DueQueue } from '../system/due-queue.ts';
import type { Payments, SettleCommand } from './payments.ts';

/** When a settling cannot be stored (a full disk), it is tried again after this long. */
const STORE_RETRY_MS = 1_000;

/** Settles the pending payments whose time has come: automatic ones and expired ones. */
export class AutoSettler implements DueSource {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #payments: Payments;
  readonly #due = new DueQueue((paymentId) => this.#find(paymentId)?.status === 'pending');
  /** Each payment is planned once, however often it changes. */
  readonly #planned = new Set<string>();

  constructor(store: Store, clock: Clock, payments: Payments) {
    this.#store = store;
    this.#clock = clock;
    this.#payments = payments;
  }

  /** Takes up the payments that the last run left pending, and listens for more. */
  start(): void {
    for (const payment of this.#store.state.payments.values()) this.#plan(payment);
    this.#store.onChange(({ payments = [] }, replaced) => {
      if (replaced) {
        this.#due.clear();
        this.#planned.clear();
      }
      for (const payment of payments) this.#plan(payment);
    });
    this.#clock.add(this);
  }

  nextDue(): number | undefined {
    return this.#due.next();
  }

  async runDue(now: number): Promise<void> {
    const settled: Promise<void>[] = [];
    for (let id = this.#due.take(now); id !== undefined; id = this.#due.take(now)) {
      settled.push(this.#settle(id));
    }
    await Promise.all(settled);
  }

  #find(paymentId: string): Payment | undefined {
    return this.#store.state.payments.get(paymentId);
  }

  #plan(payment: Payment): void {
    if (payment.status !== 'pending') this.#planned.delete(payment.id);
    const due = this.#planned.has(payment.id) ? undefined : dueOf(payment);
    if (due) this.#planAt(payment.id, due.at);
  }

  #planAt(paymentId: string, at: number): void {
    this.#planned.add(paymentId);
    // The clock sets its timer anew only for what comes before all others: initiating must stay cheap.
    if (this.#due.plan(paymentId, at)) this.#clock.wake();
  }

  async #settle(paymentId: string): Promise<void> {
    const payment = this.#find(paymentId);
    const due = payment && dueOf(payment);
    if (!due) return;
    try {
      await this.#payments.settle(paymentId, due.command);
    } catch (error) {
      // Somebody else settled it at the same moment, or a reset removed it: then there is nothing left to do.
      if (!(error instanceof GatewayError) || error.code !== 'storage_failed') return;
      this.#planAt(paymentId, this.#clock.now() + STORE_RETRY_MS);
    }
  }
}

/** What happens to a payment by itself, and when: the first of settling automatically and expiring. */
function dueOf({ status, auto, expiresAt }: Payment): { at: number; command: SettleCommand } | undefined {
  if (status !== 'pending') return undefined;
  const expiry = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
  if (auto && Date.parse(auto.at) <= expiry) {
    const { outcome, at, delivery } = auto;
    return { at: Date.parse(at), command: { outcome, by: 'auto', ...(delivery && { delivery }) } };
  }
  return expiresAt === null ? undefined : { at: expiry, command: { outcome: 'expire', by: 'clock' } };
}
