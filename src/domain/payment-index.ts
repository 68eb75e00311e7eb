import type { Records } from '../contract/state.ts';
import type { Collection } from './collection.ts';

type Payment = Records['payments'];

/** Less than this is not worth tidying up. */
const SMALL = 1_000;

/**
 * Finds the newest pending payment in the same time however many there are. Lists are cleaned when they are read: what
 * was settled meanwhile falls off the end of a stack.
 */
export class PaymentIndex {
  readonly #pending: string[] = [];
  /** Of identifiers that several payments have. */
  readonly #repeated = new Map<string, string[]>();
  readonly #payments: () => Collection<Payment>;
  /** A settling was rolled back: that payment belongs to its old place in the stacks, which need not be the top. */
  #disordered = false;

  constructor(payments: () => Collection<Payment>) {
    this.#payments = payments;
  }

  /** @param isFirst whether it is the first payment with its identifier */
  note(payment: Payment, previous: Payment | undefined, isFirst: boolean): void {
    const isPending = payment.status === 'pending';
    if (previous) {
      if (isPending && previous.status !== 'pending') this.#disordered = true;
      return;
    }
    if (isPending) this.#pending.push(payment.id);
    if (isFirst) return;
    const stack = this.#repeated.get(payment.identifier);
    if (!stack) this.#repeated.set(payment.identifier, this.#pendingOf(payment.identifier));
    else if (isPending) stack.push(payment.id);
  }

  /** @param removed none of them pending */
  forget(removed: Iterable<Payment>): void {
    for (const identifier of new Set(Array.from(removed, (payment) => payment.identifier))) {
      if (this.#payments().newestOf(identifier) === undefined) this.#repeated.delete(identifier);
      else if (this.#repeated.has(identifier)) this.#repeated.set(identifier, this.#pendingOf(identifier));
    }
    // What was settled falls off the end only.
    if (this.#pending.length > 2 * this.#payments().size + SMALL) this.#restack();
  }

  newestPending(identifier?: string): Payment | undefined {
    if (this.#disordered) this.#restack();
    if (identifier === undefined) return this.#top(this.#pending);
    const stack = this.#repeated.get(identifier);
    if (stack) return this.#top(stack);
    const only = this.#payments().newestOf(identifier);
    return only?.status === 'pending' ? only : undefined;
  }

  #top(stack: string[]): Payment | undefined {
    while (stack.length) {
      const payment = this.#payments().get(stack.at(-1) ?? '');
      if (payment?.status === 'pending') return payment;
      stack.pop();
    }
    return undefined;
  }

  #pendingOf(identifier: string): string[] {
    const all = this.#payments().group(identifier);
    return all.filter(({ status }) => status === 'pending').map(({ id }) => id);
  }

  #restack(): void {
    this.#pending.length = 0;
    for (const { id, status } of this.#payments().values()) if (status === 'pending') this.#pending.push(id);
    for (const identifier of this.#repeated.keys())
      this.#repeated.set(identifier, this.#pendingOf(identifier));
    this.#disordered = false;
  }
}
