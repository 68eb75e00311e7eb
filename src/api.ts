/*
 * The types of the library, by themselves: nothing of the inside shows in them. Times are ISO 8601 UTC text, money is
 * decimal text (never a float), and what can be missing is null.
 */

/** One side of the test mode / live mode divide, chosen by the path of initiate (documented). */
export type Mode = 'sandbox' | 'live';
/** All states of a payment; every one but `pending` is final (chosen). */
export type PaymentStatus = 'pending' | 'succeeded' | 'canceled' | 'failed' | 'expired';
/** What can be done to a pending payment (chosen). */
export type PaymentOutcome = 'approve' | 'cancel' | 'fail' | 'expire';
/** Order of the IPN against the redirect (chosen). */
export type DeliveryOrder =
  | 'ipn-then-redirect'
  | 'redirect-then-ipn'
  | 'ipn-only'
  | 'redirect-only'
  | 'ipn-twice';
/** All states of a delivery (chosen). `refused`: the egress guard did not let it out. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'refused';
/** A duration: milliseconds, or text such as `500ms`, `2s`, `1m`, `1h`. */
export type Duration = number | string;

/** A page of a list, newest first. */
export interface Page<Item> {
  data: Item[];
  /** Hand it back as `cursor` to get the next page; null on the last one. */
  nextCursor: string | null;
}

/** A payment. */
export interface Payment {
  id: string;
  /** `data[payment_trx]` of its IPN. */
  trx: string;
  mode: Mode;
  status: PaymentStatus;
  merchantId: string;
  /** The merchant's own name for it. Not unique: every initiate makes a new payment. */
  identifier: string;
  currency: string;
  /** Decimal text exactly as it was sent to initiate. */
  amount: string;
  charge: string;
  details: string;
  ipnUrl: string;
  successUrl: string;
  cancelUrl: string;
  siteLogo: string | null;
  checkoutTheme: 'light' | 'dark';
  customerName: string;
  customerEmail: string;
  checkoutUrl: string;
  createdAt: string;
  expiresAt: string | null;
  /** How and when it settles itself; null when it waits for somebody. */
  auto: { outcome: PaymentOutcome; at: string; delivery: DeliveryOrder | null } | null;
  settledAt: string | null;
  settledBy: 'customer' | 'panel' | 'control' | 'auto' | 'clock' | null;
  /** The e-mail that the customer entered on the checkout. */
  payerEmail: string | null;
  /** The wallet that paid (live mode only). */
  walletId: string | null;
  /** What is allowed but probably a mistake in the merchant's code. */
  warnings: string[];
}

/** A payment with its whole story in order. */
export interface PaymentWithTimeline extends Payment {
  timeline: TimelineEntry[];
}

/** One step in the story of a payment. */
export interface TimelineEntry {
  at: string;
  event:
    | 'initiated'
    | 'opened'
    | 'email_entered'
    | 'email_refused'
    | 'code_sent'
    | 'code_refused'
    | 'settled'
    | 'redirected'
    | 'ipn_attempted'
    | 'ipn_due';
  detail: string | null;
  /** On `initiated` only. */
  warnings: readonly string[];
  deliveryId: string | null;
  /** On `ipn_attempted` only. */
  attempt: Attempt | null;
}

/** One try to bring an IPN to its receiver, both sides as they were on the wire. */
export interface Attempt {
  id: string;
  /** Counts from 1. */
  number: number;
  startedAt: string;
  /** Real time in milliseconds. */
  durationMs: number;
  url: string;
  requestHeaders: [name: string, value: string][];
  requestBody: string;
  responseStatus: number | null;
  responseHeaders: [name: string, value: string][];
  /** The first 64 KiB. */
  responseBody: string | null;
  /** What went wrong, in words; null when the receiver answered 2xx in time. */
  error: string | null;
}

/** An IPN on its way to a receiver, with every attempt. */
export interface Delivery {
  id: string;
  /** Null for one that was fired by hand without a payment. */
  paymentId: string | null;
  merchantId: string;
  identifier: string;
  url: string;
  /** The `status` that it carries. */
  status: string;
  state: DeliveryState;
  contentType: string;
  /** The bytes that every attempt sends. */
  body: string;
  /** The text under the signature: `data.amount` and `identifier` (documented). */
  signedText: string;
  /** Made by hand: attempted once, not by the schedule. */
  once: boolean;
  createdAt: string;
  nextAttemptAt: string | null;
  /** Why it was refused, with the option that would let it out; or a warning about the signature. */
  note: string | null;
  attempts: Attempt[];
}

/** What settling a payment led to. */
export interface Settled {
  payment: Payment;
  /** The last delivery that was made, as it stands; null when none was. */
  delivery: Delivery | null;
  /** Where the browser goes, byte for byte as given to initiate; null where it stays. */
  redirectUrl: string | null;
}

/** A virtual card. */
export interface Card {
  id: string;
  merchantId: string;
  title: string;
  nameOnCard: string;
  email: string;
  /** A number in a range that issuers reserve for tests. */
  number: string;
  maskedNumber: string;
  cvc: string;
  expiryMonth: number;
  expiryYear: string;
  currency: string;
  /** What it was created with; funding leaves it alone. */
  amount: string;
  charges: string;
  availableBalance: string;
  status: 'active' | 'inactive' | 'canceled';
  createdAt: string;
  updatedAt: string;
}

/** A movement of money on a card. */
export interface CardTransaction {
  id: string;
  cardId: string;
  currency: string;
  beforeCharge: string;
  amount: string;
  charge: string;
  /** `-` pays from the card (documented), `+` adds to it (chosen). */
  type: '-' | '+';
  details: string;
  remark: 'make_payment' | 'add_fund';
  createdAt: string;
  updatedAt: string;
}

/** A wallet of live mode. */
export interface Wallet {
  id: string;
  email: string;
  holder: string;
  currency: string;
  balance: string;
}

/** A merchant with its pair of keys. */
export interface Merchant {
  id: string;
  name: string;
  publicKey: string;
  secretKey: string;
  /** What succeeded live payments brought in, less the charges, by currency code. */
  balances: Record<string, string>;
  createdAt: string;
}

/** A verification code that was "sent" to the customer of a live payment. */
export interface InboxMessage {
  paymentId: string;
  identifier: string;
  email: string;
  code: string;
  sentAt: string;
  expiresAt: string;
}

/** A request to the emulated service and what it was answered; secrets are masked. */
export interface RecordedRequest {
  id: number;
  at: string;
  method: string;
  /** Path and query as they were sent. */
  target: string;
  requestHeaders: Record<string, string>;
  requestBody: string | null;
  status: number;
  responseBody: string | null;
  durationMs: number;
  paymentId: string | null;
  /** Lint warnings and remedies: what the merchant's code is not told. */
  notes: readonly string[];
}

/** Something that goes wrong on purpose. */
export interface FaultRule {
  /** `initiate`, `checkout`, `cards`, `ipn`, or a path in which `*` stands for anything. */
  route: string;
  /** Acts on so large a part of what matches, above 0 and up to 1. */
  probability?: number | undefined;
  /** Acts so many times and is spent then. */
  times?: number | undefined;
  /** Acts only where this matches the identifier (or the card's id); `*` stands for anything. */
  identifier?: string | undefined;
  /** Answers with this status; for an IPN as if the receiver had. */
  status?: number | undefined;
  /** Retry-After of that answer, such as `2s`. */
  retryAfter?: string | undefined;
  /** Waits first: `2s`, or a range such as `100ms..2s`. */
  latency?: string | undefined;
  /** Closes the connection without an answer; an IPN is lost. */
  drop?: true | undefined;
  truncate?: true | undefined;
  malformed?: true | undefined;
  /** IPN: goes out a second time. */
  duplicate?: true | undefined;
  /** IPN: goes out so much later, on the emulator's clock. */
  delay?: string | undefined;
  /** IPN: the next one overtakes it. */
  reorder?: true | undefined;
  /** IPN: the signature is wrong. */
  corruptSignature?: true | undefined;
}

/** A fault rule in force. */
export interface Fault extends FaultRule {
  /** How often it acted. */
  used: number;
  spent: boolean;
  /** The rule in words. */
  summary: string;
}

/** How the emulator's clock stands. */
export interface ClockReading {
  now: string;
  frozen: boolean;
  /** How far the emulator's time is ahead of real time, in milliseconds. */
  aheadMs: number;
  /** When the next thing is due; null when nothing waits. */
  nextDue: string | null;
}

/** The whole state, as `snapshot` gives and `restore` takes it. Its inside may change between versions. */
export interface StateSnapshot {
  version: number;
  [collection: string]: unknown;
}

/** How long to wait for something. */
export interface WaitOptions {
  /** Real time; default 4 s, so that it comes before the time-out of most test runners (5 s). */
  timeout?: Duration | undefined;
}

/** Which part of a list. */
export interface PageOptions {
  /** At most so many; default 50, at most 1,000. */
  limit?: number | undefined;
  /** `nextCursor` of the page before. */
  cursor?: string | undefined;
}

/** Which payments; all that is given must fit. */
export interface PaymentFilter {
  status?: PaymentStatus | undefined;
  mode?: Mode | undefined;
  identifier?: string | undefined;
}

/** How a payment is settled. */
export interface SettleOptions {
  /** Default: the order that the emulator was started with. */
  delivery?: DeliveryOrder | undefined;
  /** Wait for the end of the first attempt, however long it takes. Default: false, at most 3 s. */
  awaitDelivery?: boolean | undefined;
}

/** What a merchant sends to initiate. Default of each field: something that works. */
export interface InitiateFields {
  /** At most 20 characters (documented). Default: made up. */
  identifier?: string | undefined;
  /** Default: `100.00`. */
  amount?: string | undefined;
  /** Default: `USD`. */
  currency?: string | undefined;
  details?: string | undefined;
  /** Default: `http://localhost:3000/ipn`. */
  ipnUrl?: string | undefined;
  /** Default: a thank-you page of the emulator. */
  successUrl?: string | undefined;
  /** Default: a page of the emulator. */
  cancelUrl?: string | undefined;
  siteLogo?: string | undefined;
  checkoutTheme?: 'light' | 'dark' | undefined;
  customerName?: string | undefined;
  /** `approve@gateway-sim.test`, `cancel@…`, `fail@…` and `expire@…` settle the payment by themselves. */
  customerEmail?: string | undefined;
  /** Default: that of the first merchant. */
  publicKey?: string | undefined;
  /** Default: `sandbox`. */
  mode?: Mode | undefined;
}

/** Payments of all merchants. A reference is an id, or an identifier: its newest pending payment, else its newest. */
export interface Payments {
  /** Newest first, 50 of them unless `limit` says otherwise. */
  list(filter?: PaymentFilter & PageOptions): Promise<Page<Payment>>;
  /** @throws GatewayError `not_found` */
  get(reference: string): Promise<PaymentWithTimeline>;
  /**
   * Initiates a payment as a merchant would, over the service's own route.
   *
   * @throws GatewayError `invalid_fields` with every problem
   */
  create(fields?: InitiateFields): Promise<Payment>;
  /**
   * The newest payment that fits, as soon as there is one.
   *
   * @throws GatewayError `timed_out`, saying what was initiated instead
   */
  waitFor(filter?: PaymentFilter, options?: WaitOptions): Promise<Payment>;
  /** The customer pays. @throws GatewayError `not_found`; `wrong_state` when it is settled already */
  approve(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The customer cancels. @throws GatewayError `not_found`; `wrong_state` */
  cancel(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The payment fails. @throws GatewayError `not_found`; `wrong_state` */
  fail(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The payment expires. @throws GatewayError `not_found`; `wrong_state` */
  expire(reference: string, options?: SettleOptions): Promise<Settled>;
}

/** Which deliveries; all that is given must fit. */
export interface DeliveryFilter {
  /** Id or identifier. */
  payment?: string | undefined;
  state?: DeliveryState | undefined;
}

/** An IPN made by hand. */
export interface FireOptions {
  /** Of this payment; without it the IPN tells of a payment that never was. */
  payment?: string | undefined;
  /** Default: the payment's ipn_url. */
  to?: string | undefined;
  identifier?: string | undefined;
  amount?: string | undefined;
  currency?: string | undefined;
  status?: string | undefined;
  format?: 'form' | 'json' | undefined;
  /** Any field by dotted name, such as `data.charge`, set before signing. */
  set?: Record<string, string> | undefined;
  /** What to applyTampering, so that a careful receiver must refuse it. */
  tamper?: 'signature' | 'amount' | 'identifier' | 'status' | 'currency' | 'case' | 'secret' | undefined;
  /** So many deliveries of the same bytes. */
  times?: number | undefined;
  /** Wait before each of them, such as `2s`. */
  delay?: string | undefined;
}

/** IPNs with every attempt to deliver them. */
export interface Ipns {
  list(filter?: DeliveryFilter & PageOptions): Promise<Page<Delivery>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<Delivery>;
  /**
   * The newest delivery that fits, as soon as there is one.
   *
   * @throws GatewayError `timed_out`, saying what became of those that there are
   */
  waitFor(filter?: DeliveryFilter, options?: WaitOptions): Promise<Delivery>;
  /** Sends it once more and waits for that attempt; `to` another address makes a new delivery. */
  resend(id: string, options?: { to?: string | undefined }): Promise<Delivery>;
  /** Makes IPNs by hand and waits for their attempts. */
  fire(options: FireOptions): Promise<Delivery[]>;
}

/** What a merchant sends to create a card. Default of each field: something that works. */
export interface CardFields {
  /** Decimal text; default `100.00`. */
  amount?: string | undefined;
  /** Default: `USD`. */
  currency?: string | undefined;
  title?: string | undefined;
  nameOnCard?: string | undefined;
  email?: string | undefined;
}

/** What moves money on a card. */
export interface CardMovement {
  /** Decimal text. */
  amount: string;
  details?: string | undefined;
  /** The card's own where it is given. */
  currency?: string | undefined;
}

/** Virtual cards: the merchant's side (over the service's own routes) and the simulator's. */
export interface Cards {
  list(filter?: {
    status?: Card['status'] | undefined;
    merchant?: string | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
  }): Promise<Page<Card>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<Card & { transactions: CardTransaction[] }>;
  /** Creates a card of the first merchant. */
  create(fields?: CardFields): Promise<Card>;
  activate(id: string): Promise<Card>;
  block(id: string): Promise<Card>;
  /** That is final. */
  cancel(id: string): Promise<Card>;
  /** Pays with the card. @throws GatewayError `wrong_state` when it is not active; `insufficient_funds` */
  charge(id: string, movement: CardMovement): Promise<{ card: Card; transaction: CardTransaction }>;
  /** Adds money to the card. */
  fund(id: string, movement: CardMovement): Promise<{ card: Card; transaction: CardTransaction }>;
}

/** Which recorded requests; all that is given must fit. */
export interface RequestFilter {
  /** The path without its query, such as `/sandbox/payment/initiate`. */
  path?: string | undefined;
  method?: string | undefined;
  /** Id or identifier. */
  payment?: string | undefined;
}

/** A running emulator, spoken to over its control API. */
export interface GatewaySimClient {
  /** Its address, without a slash at the end. */
  readonly url: string;
  /** Keys of the first merchant; those of now, also after `merchants.generateKeys`. */
  readonly publicKey: string;
  readonly secretKey: string;
  /** Where a merchant initiates a sandbox payment. */
  readonly initiateUrl: string;
  /** What `/_sim` asks for; null when only this machine can reach the emulator. */
  readonly controlToken: string | null;
  /** The variables that `gateway-sim exec` and `gateway-sim keys env` set. */
  readonly env: Record<string, string>;
  readonly payments: Payments;
  readonly ipns: Ipns;
  readonly cards: Cards;
  readonly wallets: {
    list(): Promise<Page<Wallet>>;
    /** @param amount decimal text */
    fund(id: string, amount: string): Promise<Wallet>;
  };
  readonly merchants: {
    list(): Promise<Page<Merchant & { isDefault: boolean }>>;
    create(name: string): Promise<Merchant>;
    /** A new pair for a merchant (id or name; default: the first); the old one stops working. */
    generateKeys(reference?: string): Promise<Merchant>;
  };
  readonly inbox: {
    list(): Promise<Page<InboxMessage>>;
    /** The newest code for a payment (id or identifier). @throws GatewayError `timed_out` */
    waitFor(filter?: { payment?: string | undefined }, options?: WaitOptions): Promise<InboxMessage>;
  };
  /** What the merchant's code sent to the service, newest first. */
  readonly requests: {
    list(filter?: RequestFilter & { limit?: number | undefined }): Promise<Page<RecordedRequest>>;
    /** @throws GatewayError `timed_out`, saying what was requested instead */
    waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<RecordedRequest>;
  };
  readonly faults: {
    list(): Promise<Page<Fault>>;
    set(rule: FaultRule): Promise<Fault>;
    /** All rules, or those on a route. */
    clear(route?: string): Promise<void>;
  };
  readonly clock: {
    now(): Promise<ClockReading>;
    /** Moves forward and runs what falls due. */
    advance(duration: Duration): Promise<ClockReading>;
    /** Stands still, now or at a time to come. */
    freeze(at?: string | Date): Promise<ClockReading>;
    resume(): Promise<ClockReading>;
  };
  /** Back to the fixtures and faults that it started with. Merchants keep their keys; the clock is left alone. */
  reset(): Promise<void>;
  /** The whole state out. */
  snapshot(): Promise<StateSnapshot>;
  /** A whole state in, all or nothing. @throws GatewayError `invalid_fields` */
  restore(snapshot: StateSnapshot): Promise<void>;
}

/** An emulator that this process runs. */
export interface GatewaySim extends GatewaySimClient, AsyncDisposable {
  readonly port: number;
  /** Where it keeps its state; null in memory. */
  readonly dataDir: string | null;
  /** What the user should know about the state that was found. */
  readonly notices: readonly string[];
  /** Answers what is under way, stores everything, lets go of port and folder. May be called twice. */
  stop(): Promise<void>;
}

/** Percent + fixed, as decimal text. */
export interface ChargeRate {
  percent?: string | number | undefined;
  fixed?: string | number | undefined;
}

/** Decides the outcome of the payments that it fits; every pattern given must fit, `*` stands for anything. */
export interface OutcomeRule {
  identifier?: string | undefined;
  email?: string | undefined;
  amount?: string | undefined;
  /** `pending` leaves it to somebody. */
  outcome: PaymentOutcome | 'pending';
  delivery?: DeliveryOrder | undefined;
  /** Default: `autoDelay`. */
  delay?: string | undefined;
}

/** The options of `gateway-sim start`. Environment and configuration file are not looked at. */
export interface StartGatewaySimOptions {
  /** Default: 0, a free one. */
  port?: number | undefined;
  /** Default: 127.0.0.1, and ::1 too. */
  host?: string | undefined;
  /** Folder that keeps the state. Default: none, in memory. */
  dataDir?: string | undefined;
  /** Default: true, unless there is a `dataDir`. */
  inMemory?: boolean | undefined;
  /** Wait for the disk itself before answering. */
  fsync?: boolean | undefined;
  /** A file with the state to start with. */
  fixtures?: string | undefined;
  /** Address under which browsers reach the emulator, for checkout URLs. */
  publicUrl?: string | undefined;
  /** Accept what many clients send against the interface. */
  loose?: boolean | undefined;
  /** HTTP status of refused initiates: 200 as deployments do, or 422/401. Default: `ok`. */
  errorStatus?: 'ok' | 'http' | undefined;
  /** Show the simulator panel on the checkout. Default: true. */
  panel?: boolean | undefined;
  sandboxEmail?: string | undefined;
  sandboxCode?: string | undefined;
  /** Keys of the default merchant. */
  publicKey?: string | undefined;
  secretKey?: string | undefined;
  /** More currencies, such as `NPR:Rs`. */
  currency?: readonly string[] | undefined;
  /** Default: `ipn-then-redirect`. */
  delivery?: DeliveryOrder | undefined;
  /** Settle every payment by itself. */
  auto?: 'approve' | 'cancel' | 'fail' | undefined;
  /** From initiate until a payment settles itself. Default: 500 ms. */
  autoDelay?: Duration | undefined;
  /** Make ids, codes, card numbers and jitter repeat. */
  seed?: string | undefined;
  /** Expire a payment that is still pending after this long. Default: never. */
  paymentExpires?: Duration | undefined;
  /** Waits before the second, third, … attempt of an IPN. Default: 1s, 5s, 30s, 2m, 10m. */
  ipnSchedule?: readonly string[] | undefined;
  ipnRetries?: number | undefined;
  /** Time that a receiver has for its answer. Default: 10 s. */
  ipnTimeout?: Duration | undefined;
  /** Default: `form`. */
  ipnFormat?: 'form' | 'json' | undefined;
  /** `data.amount` of an IPN: `sent`, `stored` (eight decimals) or `fixed:N`. */
  amountFormat?: string | undefined;
  /** Send an IPN for these too: `canceled`, `failed`, `expired`. */
  ipnOn?: readonly string[] | undefined;
  /** Deliver every IPN of a payment here instead of to its ipn_url. */
  forwardIpn?: string | undefined;
  /** Let IPNs out to these public hosts. */
  allowIpnHost?: readonly string[] | undefined;
  /** Accept these Host headers on /_sim. */
  allowHost?: readonly string[] | undefined;
  /** Token that /_sim asks for on any host but a loopback one. */
  controlToken?: string | undefined;
  /** Default: 2 % of a payment, 1 % of a new card, nothing of what it pays. */
  charges?: { payment?: ChargeRate; card?: ChargeRate; cardTransaction?: ChargeRate } | undefined;
  /** More currencies with name and decimals. */
  currencies?: readonly { code: string; name?: string; symbol?: string; decimals?: number }[] | undefined;
  /** Fault rules to start with. */
  faults?: readonly FaultRule[] | undefined;
  /** Payments that settle themselves. */
  outcomes?: readonly OutcomeRule[] | undefined;
  /** More wallets. */
  wallets?:
    | readonly { email: string; holder: string; currency: string; balance: string | number }[]
    | undefined;
}
