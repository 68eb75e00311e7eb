import type { Records } from '../contract/state.ts';
import type { Collection } from './collection.ts';

type Payment = Records['payments'];

/** Below this number, a cleanup is not worth its cost. */
const SMALL = 1_000;

/**
 * Finds the newest pending payment in constant time. Reading a stack removes settled payments from its end.
 */
export class PaymentIndex {
  readonly #pending: string[] = [];
  /** Pending payments by identifier, for identifiers with several payments. */
  readonly #repeated = new Map<string, string[]>();
  readonly #payments: () => Collection<Payment>;
  /** A settlement was rolled back: the payment must return to its old position, which is not always the top. */
  #disordered = false;

  constructor(payments: () => Collection<Payment>) {
    this.#payments = payments;
  }

  /** @param isFirst whether it is the first payment with its identifier */
  add(payment: Payment, previous: Payment | undefined, isFirst: boolean): void {
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

  /** @param removed the settled payments to remove */
  remove(removed: Iterable<Payment>): void {
    for (const identifier of new Set(Array.from(removed, (payment) => payment.identifier))) {
      if (this.#payments().newestOf(identifier) === undefined) this.#repeated.delete(identifier);
      else if (this.#repeated.has(identifier)) this.#repeated.set(identifier, this.#pendingOf(identifier));
    }
    // Settled payments below the top are still on the stack.
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
