import * as z from 'zod/mini';
import {
  CARD_STATUSES,
  DELIVERY_ORDERS,
  DELIVERY_STATES,
  MODES,
  OUTCOMES,
  PAYMENT_STATUSES,
  SETTLED_BY,
} from '../contract/vocabulary.ts';
import { Collection, Groups } from './collection.ts';
import { AMOUNT_PATTERN } from './money.ts';
import { PaymentIndex } from './payment-index.ts';

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
