import type { CardTransaction, StoredCard } from '../contract/card.ts';
import type { StoredAttempt, StoredDelivery } from '../contract/delivery.ts';
import type { Merchant } from '../contract/merchant.ts';
import type { StoredMessage } from '../contract/message.ts';
import type { StoredPayment } from '../contract/payment.ts';
import { COLLECTION_NAMES, type CollectionName, type Records } from '../contract/state.ts';
import type { Wallet } from '../contract/wallet.ts';

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

/** Where a page of a list ended; hand it back to get the next page. */
export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** Records by id, in the order of their first appearance. Records are never changed in place. */
export class Collection<Item extends { id: string }> {
  readonly #byId = new Map<string, Item>();
  readonly #order: string[] = [];

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Item | undefined {
    return this.#byId.get(id);
  }

  /** All records, oldest first. */
  values(): IterableIterator<Item> {
    return this.#byId.values();
  }

  /** Stores a record and returns the one it replaced, if any. */
  put(item: Item): Item | undefined {
    const previous = this.#byId.get(item.id);
    this.#byId.set(item.id, item);
    if (previous === undefined) this.#order.push(item.id);
    return previous;
  }

  /** Takes the newest record back out; only for undoing a `put`, in reverse order. */
  removeNewest(id: string): void {
    this.#byId.delete(id);
    if (this.#order.at(-1) === id) this.#order.pop();
  }

  /** Records for which `wanted` holds, newest first, from a cursor on. The cost grows with what is looked at only. */
  page(limit: number, cursor: string | undefined, wanted: (item: Item) => boolean): Page<Item> {
    const data: Item[] = [];
    let index = cursor === undefined ? this.#order.length : Math.min(Number(cursor), this.#order.length);
    while (index > 0 && data.length < limit) {
      index--;
      const item = this.#byId.get(this.#order[index] ?? '');
      if (item && wanted(item)) data.push(item);
    }
    return { data, nextCursor: index > 0 && data.length === limit ? String(index) : null };
  }

  /** The newest record for which `wanted` holds. */
  newest(wanted: (item: Item) => boolean): Item | undefined {
    return this.page(1, undefined, wanted).data[0];
  }
}

/**
 * Finds payments by identifier and the newest pending one in the same time however many there are.
 * Lists are cleaned when they are read: what was settled meanwhile falls off the end of a stack.
 */
class PaymentIndex {
  readonly #byIdentifier = new Map<string, string[]>();
  readonly #pendingByIdentifier = new Map<string, string[]>();
  readonly #pending: string[] = [];
  readonly #payments: Collection<Payment>;
  /** A settling was taken back: that payment belongs to its old place in the stacks, which need not be the top. */
  #disordered = false;

  constructor(payments: Collection<Payment>) {
    this.#payments = payments;
  }

  note(payment: Payment, previous: Payment | undefined): void {
    if (!previous) push(this.#byIdentifier, payment.identifier, payment.id);
    if (payment.status !== 'pending' || previous?.status === 'pending') return;
    if (previous) this.#disordered = true;
    else this.#stack(payment);
  }

  #stack(payment: Payment): void {
    push(this.#pendingByIdentifier, payment.identifier, payment.id);
    this.#pending.push(payment.id);
  }

  #restack(): void {
    this.#pendingByIdentifier.clear();
    this.#pending.length = 0;
    for (const payment of this.#payments.values()) if (payment.status === 'pending') this.#stack(payment);
    this.#disordered = false;
  }

  newestPending(identifier?: string): Payment | undefined {
    if (this.#disordered) this.#restack();
    const stack = identifier === undefined ? this.#pending : this.#pendingByIdentifier.get(identifier);
    return this.#top(stack, (payment) => payment.status === 'pending');
  }

  newest(identifier: string): Payment | undefined {
    return this.#top(this.#byIdentifier.get(identifier), () => true);
  }

  #top(stack: string[] | undefined, fits: (payment: Payment) => boolean): Payment | undefined {
    while (stack?.length) {
      const payment = this.#payments.get(stack.at(-1) ?? '');
      if (payment && fits(payment)) return payment;
      stack.pop();
    }
    return undefined;
  }
}

function push(map: Map<string, string[]>, key: string, id: string): void {
  const list = map.get(key);
  if (list) list.push(id);
  else map.set(key, [id]);
}

/** Takes one `apply` back. */
export type Undo = () => void;

/** The whole state in memory: what rules read, and what `apply` moves on. Only the store calls `apply`. */
export class State {
  readonly merchants = new Collection<Merchant>();
  readonly wallets = new Collection<Wallet>();
  readonly payments = new Collection<Payment>();
  readonly messages = new Collection<Message>();
  readonly deliveries = new Collection<Delivery>();
  readonly attempts = new Collection<Attempt>();
  readonly cards = new Collection<Card>();
  readonly cardTransactions = new Collection<CardTransaction>();
  readonly #paymentIndex = new PaymentIndex(this.payments);
  readonly #attemptsOf = new Map<string, string[]>();
  readonly #transactionsOf = new Map<string, string[]>();
  readonly #cardNumbers = new Set<string>();
  readonly #deliveriesOf = new Map<string, string[]>();

  /** Puts every record of a change in its collection, and tells how to take that back. */
  apply(change: Change): Undo {
    const undo: Undo[] = [];
    for (const name of COLLECTION_NAMES) {
      for (const record of change[name] ?? []) undo.push(this.#put(name, record));
    }
    return () => {
      for (const step of undo.reverse()) step();
    };
  }

  #put<Name extends CollectionName>(name: Name, record: Records[Name]): Undo {
    const collection = this[name] as unknown as Collection<Records[Name]>;
    const previous = collection.put(record);
    this.#index(name, record, previous);
    return () => {
      if (previous === undefined) collection.removeNewest(record.id);
      else {
        collection.put(previous);
        this.#index(name, previous, record);
      }
    };
  }

  #index<Name extends CollectionName>(
    name: Name,
    record: Records[Name],
    previous: Records[Name] | undefined,
  ): void {
    if (name === 'payments') this.#paymentIndex.note(record as Payment, previous as Payment | undefined);
    if (previous) return;
    if (name === 'cardTransactions')
      push(this.#transactionsOf, (record as CardTransaction).cardId, record.id);
    if (name === 'cards') this.#cardNumbers.add((record as Card).number);
    if (name === 'attempts') push(this.#attemptsOf, (record as Attempt).deliveryId, record.id);
    if (name === 'deliveries') push(this.#deliveriesOf, (record as Delivery).paymentId ?? '', record.id);
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

  /** Whether some payment already has this identifier. */
  hasIdentifier(identifier: string): boolean {
    return this.#paymentIndex.newest(identifier) !== undefined;
  }

  /** The attempts of a delivery, in order. */
  attemptsOf(deliveryId: string): Attempt[] {
    return this.#records(this.attempts, this.#attemptsOf.get(deliveryId));
  }

  /** The transactions of a card, newest first. */
  transactionsOf(cardId: string): CardTransaction[] {
    return this.#records(this.cardTransactions, this.#transactionsOf.get(cardId)).reverse();
  }

  /** Whether some card has this number. */
  hasCardNumber(number: string): boolean {
    return this.#cardNumbers.has(number);
  }

  /** The deliveries of a payment, oldest first. */
  deliveriesOf(paymentId: string): Delivery[] {
    return this.#records(this.deliveries, this.#deliveriesOf.get(paymentId));
  }

  #records<Item extends { id: string }>(collection: Collection<Item>, ids: readonly string[] = []): Item[] {
    return ids.map((id) => collection.get(id)).filter((item) => item !== undefined);
  }
}
