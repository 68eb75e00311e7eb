import type { AuditOptions } from '../audit/audit-options.ts';
import type { AuditedCase, AuditReport } from '../audit/report.ts';
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
import type { DiagnoseInput, Diagnosis } from '../contract/diagnosis.ts';
import type { RecordedRequest, RequestFilter } from '../contract/event.ts';
import type { Fault, FaultRule } from '../contract/fault.ts';
import type { Frozen } from '../contract/frozen.ts';
import type { ListedMerchant, Merchant } from '../contract/merchant.ts';
import type { InboxMessage } from '../contract/message.ts';
import type {
  InitiateFields,
  Payment,
  PaymentFilter,
  PaymentWithTimeline,
  Settled,
  SettleInput,
  TimelineEntry,
} from '../contract/payment.ts';
import type {
  DeliveryOrder,
  DeliveryState,
  Mode,
  PaymentOutcome,
  PaymentStatus,
} from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import type { StartOptions } from '../options/start-options.ts';

/*
 * The public library. Its records are the records of the control API, with types derived from their schemas. Times are ISO 8601
 * UTC text, money is decimal text (never a float), and missing values are null.
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
  Diagnosis,
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
  TimelineEntry,
  Wallet,
};

/** The options of `gateway-sim start`. Environment variables and the configuration file are ignored. */
export type StartGatewaySimOptions = Frozen<StartOptions>;
/** The state of the emulator's clock. */
export type ClockReading = Clock;
/** Options for settling a payment. */
export type SettleOptions = Omit<SettleInput, 'outcome'>;
/** The fields of an IPN to send. */
export type FireOptions = FireInput;
/** A charge to a card, or money added to it. */
export type CardMoveOptions = Omit<CardTransactionInput, 'type'>;

/** A duration: milliseconds, or text such as `500ms`, `2s`, `1m`, `1h`. */
export type Duration = number | string;

/** A page of a list, newest first. */
export interface Page<Item> {
  data: Item[];
  /** Pass it as `cursor` to get the next page; null on the last page. */
  nextCursor: string | null;
}

/** The whole state, returned by `snapshot` and accepted by `restore`. Its structure may change between versions. */
export interface StateSnapshot {
  version: number;
  [collection: string]: unknown;
}

/** How long to wait for something. */
export interface WaitOptions {
  /** In real time. Default: 4 s, less than the timeout of most test runners (5 s). */
  timeout?: Duration | undefined;
  /** Stops waiting when aborted, for example when a test times out. */
  signal?: AbortSignal | undefined;
}

/**
 * Payments of all merchants. A reference is an id or an identifier. An identifier refers to its newest pending payment,
 * or to its newest payment if none is pending.
 */
export interface Payments {
  /** Newest first. Default `limit`: 50. */
  list(filter?: PaymentFilter): Promise<Page<Payment>>;
  /** @throws GatewayError `not_found` */
  get(reference: string): Promise<PaymentWithTimeline>;
  /**
   * Initiates a payment as a merchant would, through the service's own route.
   *
   * @throws GatewayError `invalid_fields` with every problem
   */
  create(fields?: InitiateFields): Promise<Payment>;
  /**
   * Waits for a payment that matches the filter and returns the newest.
   *
   * @throws GatewayError `timed_out`, with the payments that were initiated instead
   */
  waitFor(filter?: PaymentFilter, options?: WaitOptions): Promise<Payment>;
  /**
   * Initiates a payment through the shop: opens an address of it, or posts the fields as a form.
   *
   * @returns the payment that it made
   * @throws GatewayError `check_failed` if it made none, with its response and the rejected initiates
   */
  visit(url: string, fields?: Readonly<Record<string, string>>): Promise<Payment>;
  /** The customer pays. @throws GatewayError `not_found`; `wrong_state` if it is already settled */
  approve(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The customer cancels. @throws GatewayError `not_found`; `wrong_state` */
  cancel(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The payment fails. @throws GatewayError `not_found`; `wrong_state` */
  fail(reference: string, options?: SettleOptions): Promise<Settled>;
  /** The payment expires. @throws GatewayError `not_found`; `wrong_state` */
  expire(reference: string, options?: SettleOptions): Promise<Settled>;
}

/** An id, an identifier, or a record that has an id. */
export type Reference = string | { id: string };

/** Options of `ipns.assertDelivered`. */
export interface AssertDeliveredOptions extends WaitOptions {
  /** Whether to ask the receiver why it rejected the IPN: at loopback and private addresses, at most 3 s. Default: true. */
  diagnose?: boolean | undefined;
}

/** IPNs with all of their attempts. */
export interface Ipns {
  list(filter?: DeliveryFilter): Promise<Page<Delivery>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<Delivery>;
  /**
   * Waits for an IPN that matches the filter and returns the newest.
   *
   * @throws GatewayError `timed_out`, with the results of the existing IPNs
   */
  waitFor(filter?: DeliveryFilter, options?: WaitOptions): Promise<Delivery>;
  /** Resends an IPN and waits for the attempt. `to` sends it to another address as a new delivery. */
  resend(id: string, options?: ResendInput): Promise<Delivery>;
  /**
   * Waits until the newest genuine IPN of a payment was delivered with a correct response. If the receiver rejects it,
   * asks it why.
   *
   * @param reference the id or identifier of the payment, the id of an IPN, or either of them as a record
   * @throws GatewayError `check_failed` with the cause and the fix; `timed_out` if no attempt ends in time
   */
  assertDelivered(reference: Reference, options?: AssertDeliveredOptions): Promise<Delivery>;
  /**
   * Finds out why a receiver does not accept an IPN, by sending it at most 60 variants of the IPN and the genuine one
   * last. This sends invalid signatures too. If your shop cancels orders on those, reset it afterwards.
   *
   * @param reference as for `assertDelivered`
   * @throws GatewayError `not_found`; `wrong_state` if no order can be paid by the IPN
   */
  diagnose(reference: Reference, options?: Omit<DiagnoseInput, 'automatic'>): Promise<Diagnosis>;
  /** Sends signed IPNs and waits for their attempts. */
  fire(options: FireOptions): Promise<Delivery[]>;
}

/** The response of a test's receiver: a status, or a whole response. */
export type ReceiverAnswer =
  | number
  | { status?: number | undefined; headers?: Record<string, string> | undefined; body?: string | undefined };

/** An IPN that a test's receiver received. */
export interface ReceivedIpn {
  method: string;
  /** Path and query. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The raw text. */
  body: string;
  /** Fields by their form names, such as `data[amount]`, even for a JSON body. */
  fields: Readonly<Record<string, string>>;
  /** Whether it is signed with the first merchant's key and its status is `success`. */
  valid: boolean;
  /** Why it is invalid; null if it is valid. */
  reason: string | null;
}

/** An IPN receiver inside the test, on a loopback address and a free port. */
export interface IpnReceiver extends AsyncDisposable {
  /** Use it as `ipnUrl`. You can append any path. */
  readonly url: string;
  /** The IPNs received so far, oldest first. */
  readonly received: readonly ReceivedIpn[];
  /**
   * Waits for an IPN with these fields and returns the newest.
   *
   * @param filter fields by their form names, such as `{ identifier: 'order-1' }`
   * @throws GatewayError `timed_out`, with the IPNs that were received instead
   */
  waitFor(filter?: Readonly<Record<string, string | undefined>>, options?: WaitOptions): Promise<ReceivedIpn>;
  /** Sets the response to all further IPNs, for example the result of your handler. Default: 200. */
  respondWith(
    answer: ReceiverAnswer | ((ipn: ReceivedIpn) => ReceiverAnswer | Promise<ReceiverAnswer>),
  ): void;
  /** Stops receiving. `GatewaySim.stop()` does this automatically. */
  close(): Promise<void>;
}

/** Virtual cards. Merchant actions use the service's own routes; the others use the control API. */
export interface Cards {
  list(filter?: CardFilter): Promise<Page<Card>>;
  /** @throws GatewayError `not_found` */
  get(id: string): Promise<CardWithTransactions>;
  /** Creates a card of the first merchant. */
  create(fields?: CardFields): Promise<Card>;
  activate(id: string): Promise<Card>;
  block(id: string): Promise<Card>;
  /** Cancels the card permanently. */
  cancel(id: string): Promise<Card>;
  /** Pays with the card. @throws GatewayError `wrong_state` if it is not active; `insufficient_funds` */
  charge(id: string, movement: CardMoveOptions): Promise<CardMovement>;
  /** Adds money to the card. */
  fund(id: string, movement: CardMoveOptions): Promise<CardMovement>;
}

/** A client of a running emulator's control API. */
export interface GatewaySimClient {
  /** The emulator's address, without a trailing slash. */
  readonly url: string;
  /** The first merchant's current keys, even after `merchants.generateKeys`. */
  readonly publicKey: string;
  readonly secretKey: string;
  /** Where a merchant initiates a sandbox payment. */
  readonly initiateUrl: string;
  /** The token required on `/_sim`; null if only this machine can reach the emulator. */
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
    /** Replaces the keys of a merchant (id or name; default: the first merchant). The old keys stop working. */
    generateKeys(reference?: string): Promise<Merchant>;
  };
  readonly inbox: {
    list(): Promise<Page<InboxMessage>>;
    /** Waits for a payment's code (by id or identifier) and returns the newest. @throws GatewayError `timed_out` */
    waitFor(filter?: { payment?: string | undefined }, options?: WaitOptions): Promise<InboxMessage>;
  };
  /** Requests of the merchant's code to the service, newest first. */
  readonly requests: {
    list(filter?: RequestFilter): Promise<Page<RecordedRequest>>;
    /** @throws GatewayError `timed_out`, with the requests that were made instead */
    waitFor(filter?: RequestFilter, options?: WaitOptions): Promise<RecordedRequest>;
  };
  readonly faults: {
    list(): Promise<Page<Fault>>;
    set(rule: FaultRule): Promise<Fault>;
    /** Clears all faults, or those on a route. */
    clear(route?: string): Promise<void>;
  };
  readonly clock: {
    now(): Promise<ClockReading>;
    /**
     * Moves the clock forward and runs everything that falls due.
     *
     * @throws GatewayError `timed_out` if that takes longer than `timeout` in real time (default: 240 s), for example
     *   because a receiver does not respond. The message says how far the clock moved
     */
    advance(duration: Duration, options?: { timeout?: Duration | undefined }): Promise<ClockReading>;
    /** Pauses the clock, now or at a future time. */
    freeze(at?: string | Date): Promise<ClockReading>;
    resume(): Promise<ClockReading>;
    /** Returns to the system's time. */
    reset(): Promise<ClockReading>;
  };
  /** Starts a receiver that records and verifies IPNs. */
  listen(): Promise<IpnReceiver>;
  /**
   * Attacks a shop's IPN handler and return page as real attackers and gateways do, and reports how the shop reacted.
   * It settles only its own payments.
   *
   * @throws GatewayError `usage`, also if the audit proves nothing: the message says what is missing; `forbidden` for a
   *   shop that is not on a loopback or private address
   */
  audit(options: AuditOptions): Promise<AuditReport>;
  /** Resets the state to the initial fixtures and faults. Merchants keep their keys; the clock shows real time again. */
  reset(): Promise<void>;
  /** Exports the whole state. */
  snapshot(): Promise<StateSnapshot>;
  /** Replaces the whole state, or changes nothing if it is invalid. @throws GatewayError `invalid_fields` */
  restore(snapshot: StateSnapshot): Promise<void>;
}

/** An emulator in a thread of this process. */
export interface GatewaySim extends GatewaySimClient, AsyncDisposable {
  readonly port: number;
  /** The folder of its state; null in memory. */
  readonly dataDir: string | null;
  /** The certificate file that clients must trust; null for plain HTTP. */
  readonly tlsCa: string | null;
  /** Notices about the existing state and the certificate. */
  readonly notices: readonly string[];
  /** Finishes open requests, stores everything, and releases the port and the folder. May be called twice. */
  stop(): Promise<void>;
}
