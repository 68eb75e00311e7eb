import type { CardTransaction, StoredCard } from '../contract/card.ts';
import type { StoredAttempt, StoredDelivery } from '../contract/delivery.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { StoredMessage } from '../contract/message.ts';
import type { StoredPayment } from '../contract/payment.ts';
import { COLLECTION_NAMES, type CollectionName, type Records } from '../contract/state.ts';
import type { Wallet } from '../contract/wallet.ts';
import { Collection, Groups } from './collection.ts';
import { PaymentIndex } from './payment-index.ts';

/* Records as the rules work with them: those that are stored. */
export type Payment = StoredPayment;
export type Delivery = StoredDelivery;
export type Attempt = StoredAttempt;
export type Card = StoredCard;
export type Message = StoredMessage;

/** What a rule wants stored: whole records, replacing those with the same id. One change is stored whole or not at all. */
export type Change = { [Name in CollectionName]?: readonly Records[Name][] };

/** What a rule returns: the change, and what to tell the caller once that is stored. */
export interface Outcome<Result> {
  change: Change;
  result: Result;
}

/** Rolls one `apply` back. */
export type Undo = () => void;

type Collections = { readonly [Name in CollectionName]: Collection<Records[Name]> };

/** The whole state in memory: what rules read, and what `apply` moves on. Only the store calls `apply`. */
export class State implements Collections {
  readonly #paymentIndex = new PaymentIndex(() => this.payments);
  readonly #deliveriesOf = new Groups();
  readonly #attemptsOf = new Groups();
  readonly #transactionsOf = new Groups();
  readonly #cardNumbers = new Set<string>();
  readonly merchants = new Collection<Merchant>();
  readonly wallets = new Collection<Wallet>();
  readonly payments = new Collection<Payment>((payment, previous) =>
    this.#paymentIndex.note(payment, previous),
  );
  readonly messages = new Collection<Message>();
  readonly deliveries = new Collection<Delivery>(({ id, paymentId }, previous) => {
    if (!previous) this.#deliveriesOf.add(paymentId ?? '', id);
  });
  readonly attempts = new Collection<Attempt>(({ id, deliveryId }, previous) => {
    if (!previous) this.#attemptsOf.add(deliveryId, id);
  });
  readonly cards = new Collection<Card>(({ number }) => this.#cardNumbers.add(number));
  readonly cardTransactions = new Collection<CardTransaction>(({ id, cardId }, previous) => {
    if (!previous) this.#transactionsOf.add(cardId, id);
  });

  /** Puts every record of a change in its collection. What it returns must be called newest first. */
  apply(change: Change): Undo {
    const undo = COLLECTION_NAMES.flatMap((name) => put(this, name, change));
    return () => {
      for (const step of undo.toReversed()) step();
    };
  }

  /** The newest pending payment, of all or of one identifier. */
  newestPending(identifier?: string): Payment | undefined {
    return this.#paymentIndex.newestPending(identifier);
  }

  /**
   * The payment that a reference names: its id, or a merchant's identifier (identifiers are not unique: the newest
   * pending payment with it, else the newest).
   */
  findPayment(reference: string): Payment | undefined {
    return (
      this.payments.get(reference) ?? this.newestPending(reference) ?? this.#paymentIndex.newest(reference)
    );
  }

  hasIdentifier(identifier: string): boolean {
    return this.#paymentIndex.newest(identifier) !== undefined;
  }

  hasCardNumber(number: string): boolean {
    return this.#cardNumbers.has(number);
  }

  /** The deliveries of a payment, oldest first. */
  deliveriesOf(paymentId: string): Delivery[] {
    return this.deliveries.some(this.#deliveriesOf.of(paymentId));
  }

  /** The attempts of a delivery, oldest first. */
  attemptsOf(deliveryId: string): Attempt[] {
    return this.attempts.some(this.#attemptsOf.of(deliveryId));
  }

  /** The transactions of a card, newest first. */
  transactionsOf(cardId: string): CardTransaction[] {
    return this.cardTransactions.some(this.#transactionsOf.of(cardId)).reverse();
  }
}

function put<Name extends CollectionName>(state: Collections, name: Name, change: Change): Undo[] {
  const collection: Collection<Records[Name]> = state[name];
  const records: readonly Records[Name][] = change[name] ?? [];
  return records.map((record) => {
    const previous = collection.put(record);
    return () => collection.unput(record.id, previous);
  });
}
