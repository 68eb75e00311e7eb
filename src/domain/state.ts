import type { Records } from '../contract/state.ts';
import { COLLECTION_NAMES, type CollectionName } from '../contract/vocabulary.ts';
import { Collection, type ReadonlyCollection } from './collection.ts';

/* The stored records, which the rules use. */
export type Payment = Records['payments'];
export type Delivery = Records['deliveries'];
export type Attempt = Records['attempts'];
export type Card = Records['cards'];
export type Message = Records['messages'];

/** The result of a rule: whole records that replace those with the same id. It is stored completely or not at all. */
export type Change = { [Name in CollectionName]?: readonly Records[Name][] };

/** The change and the result of a rule. The caller receives the result when the change is stored. */
export interface RuleResult<Result> {
  change: Change;
  result: Result;
}

/** Rolls back one `apply`. */
export type Undo = () => void;

/** The state as readers see it. */
export type ReadonlyState = { readonly [Name in CollectionName]: ReadonlyCollection<Records[Name]> } & Pick<
  State,
  'findPayment' | 'messagesOf' | 'deliveriesOf' | 'attemptsOf' | 'transactionsOf'
>;

type Collections = { readonly [Name in CollectionName]: Collection<Records[Name]> };

/** The whole state in memory. Rules read it; only the store calls `apply`. */
export class State implements Collections {
  readonly merchants = new Collection<Records['merchants']>();
  readonly wallets = new Collection<Records['wallets']>();
  readonly payments = new Collection<Payment>(({ identifier }) => identifier);
  readonly messages = new Collection<Message>(({ paymentId }) => paymentId);
  readonly deliveries = new Collection<Delivery>(({ paymentId }) => paymentId ?? '');
  readonly attempts = new Collection<Attempt>(({ deliveryId }) => deliveryId);
  readonly cards = new Collection<Card>(({ number }) => number);
  readonly cardTransactions = new Collection<Records['cardTransactions']>(({ cardId }) => cardId);
  readonly clock = new Collection<Records['clock']>();

  /** The number of all records. */
  get size(): number {
    let sum = 0;
    for (const name of COLLECTION_NAMES) sum += this[name].size;
    return sum;
  }

  /** Applies a change. The returned rollbacks must be called newest first. */
  apply(change: Change): Undo {
    const undo: Undo[] = [];
    for (const name of COLLECTION_NAMES) if (change[name]) undo.push(put(this, name, change));
    return () => {
      for (const step of undo.reverse()) step();
    };
  }

  /**
   * The payment with this id or merchant's identifier. Identifiers are not unique: the newest pending payment has priority,
   * then the newest.
   */
  findPayment(reference: string): Payment | undefined {
    const { payments } = this;
    const isPending = ({ status }: Payment) => status === 'pending';
    return payments.get(reference) ?? payments.newestOf(reference, isPending) ?? payments.newestOf(reference);
  }

  /** The verification codes of a payment, oldest first. */
  messagesOf(paymentId: string): Message[] {
    return this.messages.group(paymentId);
  }

  deliveriesOf(paymentId: string): Delivery[] {
    return this.deliveries.group(paymentId);
  }

  attemptsOf(deliveryId: string): Attempt[] {
    return this.attempts.group(deliveryId);
  }

  /** The transactions of a card, newest first. */
  transactionsOf(cardId: string): Records['cardTransactions'][] {
    return this.cardTransactions.group(cardId).reverse();
  }
}

function put<Name extends CollectionName>(state: Collections, name: Name, change: Change): Undo {
  const collection: Collection<Records[Name]> = state[name];
  const records: readonly Records[Name][] = change[name] ?? [];
  const replaced = records.map((record) => collection.put(record));
  return () => {
    for (let index = records.length - 1; index >= 0; index--) {
      collection.unput(records[index]?.id ?? '', replaced[index]);
    }
  };
}
