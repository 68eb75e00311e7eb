import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';
import type {
  Card,
  CardFields,
  CardFilter,
  CardMovement,
  CardTransaction,
  CardTransactionInput,
  CardWithTransactions,
} from '../contract/card.ts';
import type { Clock } from '../contract/clock.ts';
import type { Attempt, Delivery, DeliveryFilter, FireInput, ResendInput } from '../contract/delivery.ts';
import type { RecordedRequest, RequestFilter } from '../contract/event.ts';
import type { Fault, FaultRule } from '../contract/fault.ts';
import type { ListedMerchant, Merchant } from '../contract/merchant.ts';
import type { InboxMessage } from '../contract/message.ts';
import type { PaymentOutcome } from '../contract/outcomes.ts';
import type {
  InitiateFields,
  Payment,
  PaymentFilter,
  PaymentWithTimeline,
  Settled,
  SettleInput,
  TimelineEntry,
} from '../contract/payment.ts';
import type { StateSnapshot } from '../contract/state.ts';
import type { DeliveryOrder, DeliveryState, Mode, PaymentStatus } from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import type { StartOptions } from '../options/table.ts';

/*
 * What the library does. The records are those of the control API: their types are made from their schemas, so that
 * nothing of the inside shows in them. Times are ISO 8601 UTC text, money is decimal text (never a float), and what can
 * be missing is null.
 */

export type {
  Attempt,
  AuditedCase,
  AuditOptions,
  AuditReport,
  Card,
  CardFields,
  CardFilter,
  CardTransaction,
  Delivery,
  DeliveryFilter,
  DeliveryOrder,
  DeliveryState,
  Fault,
  FaultRule,
  InboxMessage,
  InitiateFields,
  Merchant,
  Mode,
  Payment,
  PaymentFilter,
  PaymentOutcome,
  PaymentStatus,
  PaymentWithTimeline,
  RecordedRequest,
  RequestFilter,
  Settled,
  StateSnapshot,
  TimelineEntry,
  Wallet,
};

/** The options of `gateway-sim start`. Environment and configuration file are not looked at. */
export type StartGatewaySimOptions = StartOptions;
/** How the emulator's clock stands. */
export type ClockReading = Clock;
/** How a payment is settled. */
export type SettleOptions = Omit<SettleInput, 'outcome'>;
/** An IPN made by hand. */
export type FireOptions = FireInput;
/** What moves money on a card. */
export type CardMoveOptions = Omit<CardTransactionInput, 'type'>;

/** A duration: milliseconds, or text such as `500ms`, `2s`, `1m`, `1h`. */
export type Duration = number | string;

/** A page of a list, newest first. */
export interface Page<Item> {
  data: Item[];
  /** Hand it back as `cursor` to get the next page; null on the last one. */
  nextCursor: string | null;
}

/** How long to wait for something. */
export interface WaitOptions {
  /** Real time; default 4 s, so that it comes before the time-out of most test runners (5 s). */
  timeout?: Duration | undefined;
  /** Ends the waiting when it is aborted, as that of a test that was given up. */
  signal?: AbortSignal | undefined;
}

/** Payments of all merchants. A reference is an id, or an identifier: its newest pending payment, else its newest. */
export interface Payments {
  /** Newest first, 50 of them unless `limit` says otherwise. */
  list(filter?: PaymentFilter): Promise<Page<Payment>>;
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

/** IPNs with every attempt to deliver them. */
export interface Ipns {
  list(filter?: DeliveryFilter): Promise<Page<Delivery>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<Delivery>;
  /**
   * The newest delivery that fits, as soon as there is one.
   *
   * @throws GatewayError `timed_out`, saying what became of those that there are
   */
  waitFor(filter?: DeliveryFilter, options?: WaitOptions): Promise<Delivery>;
  /** Sends it once more and waits for that attempt; `to` another address makes a new delivery. */
  resend(id: string, options?: ResendInput): Promise<Delivery>;
  /** Makes IPNs by hand and waits for their attempts. */
  fire(options: FireOptions): Promise<Delivery[]>;
}

/** What a test's own receiver answers: a status, or more. */
export type ReceiverAnswer =
  | number
  | { status?: number | undefined; headers?: Record<string, string> | undefined; body?: string | undefined };

/** An IPN as it reached a test's own receiver. */
export interface ReceivedIpn {
  method: string;
  /** Path and query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The raw text. */
  body: string;
  /** By the names of the form, such as `data[amount]`; those of a JSON body, too. */
  fields: Readonly<Record<string, string>>;
  /** Whether the first merchant's key signed it and its status is `success`. */
  valid: boolean;
  /** Why it is not valid; null when it is. */
  reason: string | null;
}

/** A receiver of IPNs inside the test, on the loopback address and a free port. */
export interface IpnReceiver extends AsyncDisposable {
  /** For `ipnUrl`: any path may follow. */
  readonly url: string;
  /** What came so far, oldest first. */
  readonly received: readonly ReceivedIpn[];
  /**
   * The newest IPN with these fields, as soon as there is one.
   *
   * @param filter fields by their names in the form: `{ identifier: 'order-1' }`
   * @throws GatewayError `timed_out`, saying what came instead
   */
  waitFor(filter?: Readonly<Record<string, string | undefined>>, options?: WaitOptions): Promise<ReceivedIpn>;
  /** What is answered from now on, such as what your handler makes of the IPN; 200 unless this is called. */
  respondWith(
    answer: ReceiverAnswer | ((ipn: ReceivedIpn) => ReceiverAnswer | Promise<ReceiverAnswer>),
  ): void;
  /** An emulator that this process runs does it when it stops. */
  close(): Promise<void>;
}

/** Virtual cards: the merchant's side (over the service's own routes) and the simulator's. */
export interface Cards {
  list(filter?: CardFilter): Promise<Page<Card>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<CardWithTransactions>;
  /** Creates a card of the first merchant. */
  create(fields?: CardFields): Promise<Card>;
  activate(id: string): Promise<Card>;
  block(id: string): Promise<Card>;
  /** That is final. */
  cancel(id: string): Promise<Card>;
  /** Pays with the card. @throws GatewayError `wrong_state` when it is not active; `insufficient_funds` */
  charge(id: string, movement: CardMoveOptions): Promise<CardMovement>;
  /** Adds money to the card. */
  fund(id: string, movement: CardMoveOptions): Promise<CardMovement>;
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
    list(): Promise<Page<ListedMerchant>>;
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
    list(filter?: RequestFilter): Promise<Page<RecordedRequest>>;
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
    /**
     * Moves forward and runs what falls due.
     *
     * @throws GatewayError `timed_out` when that takes longer than `timeout` in real time (default: 240 s): a receiver
     *   that never answers costs its whole time-out. The clock got as far as the message says
     */
    advance(duration: Duration, options?: { timeout?: Duration | undefined }): Promise<ClockReading>;
    /** Stands still, now or at a time to come. */
    freeze(at?: string | Date): Promise<ClockReading>;
    resume(): Promise<ClockReading>;
  };
  /** Receives, records and verifies IPNs, and answers as it is told. */
  listen(): Promise<IpnReceiver>;
  /**
   * Attacks a shop's IPN handler and return page the way reality does, and tells what the shop did. Only payments that
   * the audit made are settled.
   *
   * @throws GatewayError `usage`; `forbidden` for a shop that is neither on a loopback nor on a private address
   */
  audit(options: AuditOptions): Promise<AuditReport>;
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
  /** The file that clients trust when it speaks https; null where it speaks plain http. */
  readonly tlsCa: string | null;
  /** What the user should know about the state that was found. */
  readonly notices: readonly string[];
  /** Answers what is under way, stores everything, lets go of port and folder. May be called twice. */
  stop(): Promise<void>;
}
