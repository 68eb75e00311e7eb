import { type Collection, Groups } from './collection.ts';
import type { Payment } from './state.ts';

/**
 * Finds the newest pending payment in the same time however many there are. Lists are cleaned when they are read: what
 * was settled meanwhile falls off the end of a stack.
 */
export class PaymentIndex {
  readonly #pendingByIdentifier = new Groups();
  readonly #pending: string[] = [];
  readonly #payments: () => Collection<Payment>;
  /** A settling was rolled back: that payment belongs to its old place in the stacks, which need not be the top. */
  #disordered = false;

  constructor(payments: () => Collection<Payment>) {
    this.#payments = payments;
  }

  note(payment: Payment, previous: Payment | undefined): void {
    if (payment.status !== 'pending' || previous?.status === 'pending') return;
    if (previous) this.#disordered = true;
    else this.#stack(payment);
  }

  newestPending(identifier?: string): Payment | undefined {
    if (this.#disordered) this.#restack();
    const stack = identifier === undefined ? this.#pending : this.#pendingByIdentifier.of(identifier);
    while (stack.length) {
      const payment = this.#payments().get(stack.at(-1) ?? '');
      if (payment?.status === 'pending') return payment;
      stack.pop();
    }
    return undefined;
  }

  #stack({ identifier, id }: Payment): void {
    this.#pendingByIdentifier.add(identifier, id);
    this.#pending.push(id);
  }

  #restack(): void {
    this.#pendingByIdentifier.clear();
    this.#pending.length = 0;
    for (const payment of this.#payments().values()) if (payment.status === 'pending') this.#stack(payment);
    this.#disordered = false;
  }
}
