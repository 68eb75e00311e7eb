import { type Collection, Groups } from './collection.ts';
import type { Payment } from './state.ts';

/**
 * Finds payments by identifier and the newest pending one in the same time however many there are.
 * Lists are cleaned when they are read: what was settled meanwhile falls off the end of a stack.
 */
export class PaymentIndex {
  readonly #byIdentifier = new Groups();
  readonly #pendingByIdentifier = new Groups();
  readonly #pending: string[] = [];
  readonly #payments: () => Collection<Payment>;
  /** A settling was rolled back: that payment belongs to its old place in the stacks, which need not be the top. */
  #disordered = false;

  constructor(payments: () => Collection<Payment>) {
    this.#payments = payments;
  }

  note(payment: Payment, previous: Payment | undefined): void {
    if (!previous) this.#byIdentifier.add(payment.identifier, payment.id);
    if (payment.status !== 'pending' || previous?.status === 'pending') return;
    if (previous) this.#disordered = true;
    else this.#stack(payment);
  }

  newestPending(identifier?: string): Payment | undefined {
    if (this.#disordered) this.#restack();
    const stack = identifier === undefined ? this.#pending : this.#pendingByIdentifier.of(identifier);
    return this.#top(stack, (payment) => payment.status === 'pending');
  }

  newest(identifier: string): Payment | undefined {
    return this.#top(this.#byIdentifier.of(identifier), () => true);
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

  #top(stack: string[], fits: (payment: Payment) => boolean): Payment | undefined {
    while (stack.length) {
      const payment = this.#payments().get(stack.at(-1) ?? '');
      if (payment && fits(payment)) return payment;
      stack.pop();
    }
    return undefined;
  }
}
