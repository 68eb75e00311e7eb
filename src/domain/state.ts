import * as z from 'zod/mini';
import { AMOUNT_PATTERN } from '../contract/amount.ts';
import {
  CARD_STATUSES,
  DELIVERY_ORDERS,
  DELIVERY_STATES,
  MODES,
  OUTCOMES,
  PAYMENT_STATUSES,
  SETTLED_BY,
} from '../contract/vocabulary.ts';

/*
 * The records as they stand in the state file. Times are ISO 8601 UTC text, money is decimal text,
 * and what can be missing is null, so that a record always has the same keys.
 */

const text = z.string();
const time = z.string();
/** A time that something waits for: one that cannot be counted with would never come, or never stop coming. */
const dueTime = z.string().check(
  z.regex(
    /^(\d{4}|[+-]\d{6})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
  ),
  z.refine((text) => !Number.isNaN(Date.parse(text)), { error: 'no time that can be counted with' }),
);
const money = z.string().check(z.regex(/^-?\d+(\.\d+)?$/));
const count = z.int().check(z.nonnegative());

export const merchantSchema = z.object({
  id: text,
  name: text,
  publicKey: text,
  secretKey: text,
  /** What succeeded live payments brought in, less the charges, by currency code. */
  balances: z.record(z.string(), money),
  createdAt: time,
});
export type Merchant = z.infer<typeof merchantSchema>;

export const walletSchema = z.object({
  id: text,
  email: text,
  holder: text,
  currency: text,
  balance: money,
});
export type Wallet = z.infer<typeof walletSchema>;

/** Something that happened to a payment after its initiation, for its timeline. */
export const paymentEventSchema = z.object({
  at: time,
  event: z.enum([
    'opened',
    'email_entered',
    'email_refused',
    'code_sent',
    'code_refused',
    'settled',
    'redirected',
  ]),
  detail: z.nullable(text),
});
export type PaymentEvent = z.infer<typeof paymentEventSchema>;

/** How and when a payment settles itself: decided when it is initiated, so that a restart changes nothing about it. */
export const autoSettlingSchema = z.object({
  outcome: z.enum(OUTCOMES),
  at: dueTime,
  /** Null for the order that the server was started with. */
  delivery: z.nullable(z.enum(DELIVERY_ORDERS)),
});
export type AutoSettling = z.infer<typeof autoSettlingSchema>;

export const paymentSchema = z.object({
  id: text,
  trx: text,
  mode: z.enum(MODES),
  status: z.enum(PAYMENT_STATUSES),
  merchantId: text,
  identifier: text,
  currency: text,
  /** Exactly as sent to initiate: the signature of the IPN depends on every character of it. */
  amount: text.check(z.regex(AMOUNT_PATTERN)),
  charge: money,
  details: text,
  ipnUrl: text,
  successUrl: text,
  cancelUrl: text,
  siteLogo: z.nullable(text),
  checkoutTheme: z.enum(['light', 'dark']),
  customerName: text,
  customerEmail: text,
  createdAt: time,
  expiresAt: z.nullable(dueTime),
  auto: z._default(z.nullable(autoSettlingSchema), null),
  settledAt: z.nullable(time),
  settledBy: z.nullable(z.enum(SETTLED_BY)),
  /** The e-mail that the customer entered on the checkout. */
  payerEmail: z.nullable(text),
  /** The wallet that paid (live mode only). */
  walletId: z.nullable(text),
  /** The newest verification code sent for this payment (live mode only). */
  messageId: z.nullable(text),
  warnings: z.array(text),
  history: z.array(paymentEventSchema),
});
export type Payment = z.infer<typeof paymentSchema>;

/** A verification code "sent" to a customer of a live payment. */
export const messageSchema = z.object({
  id: text,
  paymentId: text,
  identifier: text,
  email: text,
  code: text,
  sentAt: time,
  expiresAt: time,
});
export type Message = z.infer<typeof messageSchema>;

export const deliverySchema = z.object({
  id: text,
  /** Null for an IPN that was fired by hand without a payment. */
  paymentId: z.nullable(text),
  merchantId: text,
  identifier: text,
  url: text,
  /** The `status` value that the IPN carries. */
  status: text,
  state: z.enum(DELIVERY_STATES),
  /** The bytes that every attempt sends, and their type. */
  contentType: text,
  body: text,
  /** What was signed, for people who compare; the key itself is not repeated here. */
  signedText: text,
  /** The public key of the pair whose secret signed; empty for one that was tampered with: it is never signed anew. */
  signedWith: text,
  /** Made by hand: attempted once, not by the schedule. */
  once: z._default(z.boolean(), false),
  attemptCount: count,
  createdAt: time,
  nextAttemptAt: z.nullable(dueTime),
  /** Why it was refused, with the flag that would let it out; or a warning about the signature. */
  note: z.nullable(text),
});
export type Delivery = z.infer<typeof deliverySchema>;

const headerList = z.array(z.tuple([text, text]));

/** One try to bring a delivery to its receiver, both sides as they were on the wire. */
export const attemptSchema = z.object({
  id: text,
  deliveryId: text,
  number: count,
  startedAt: time,
  /** Real time from connecting to the end of the answer, in milliseconds. */
  durationMs: z.number(),
  url: text,
  requestHeaders: headerList,
  requestBody: text,
  responseStatus: z.nullable(count),
  responseHeaders: headerList,
  /** The first 64 KiB; the first KiB once the emulator has kept 64 MiB of them. */
  responseBody: z.nullable(text),
  /** What went wrong, in words; null when the receiver answered 2xx in time. */
  error: z.nullable(text),
});
export type Attempt = z.infer<typeof attemptSchema>;

export const cardSchema = z.object({
  id: text,
  merchantId: text,
  title: text,
  nameOnCard: text,
  email: text,
  number: text,
  cvc: text,
  expiryMonth: count,
  expiryYear: text,
  currency: text,
  /** What the card was created with; funding leaves it alone. */
  amount: money,
  charges: money,
  availableBalance: money,
  status: z.enum(CARD_STATUSES),
  createdAt: time,
  updatedAt: time,
});
export type Card = z.infer<typeof cardSchema>;

export const cardTransactionSchema = z.object({
  id: text,
  cardId: text,
  currency: text,
  beforeCharge: money,
  amount: money,
  charge: money,
  /** `-` pays from the card (documented), `+` adds to it (chosen). */
  type: z.enum(['-', '+']),
  details: text,
  /** `make_payment` is documented, `add_fund` is chosen. */
  remark: z.enum(['make_payment', 'add_fund']),
  createdAt: time,
  updatedAt: time,
});
export type CardTransaction = z.infer<typeof cardTransactionSchema>;

/** The collections of the state, by the name they have in the file. Order matters for reading people only. */
export const COLLECTION_SCHEMAS = {
  merchants: merchantSchema,
  wallets: walletSchema,
  payments: paymentSchema,
  messages: messageSchema,
  deliveries: deliverySchema,
  attempts: attemptSchema,
  cards: cardSchema,
  cardTransactions: cardTransactionSchema,
} as const;

export type CollectionName = keyof typeof COLLECTION_SCHEMAS;
/** The record type of each collection. */
export type Records = { [Name in CollectionName]: z.infer<(typeof COLLECTION_SCHEMAS)[Name]> };
export const COLLECTION_NAMES = Object.keys(COLLECTION_SCHEMAS) as readonly CollectionName[];

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
