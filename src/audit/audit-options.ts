import type { ProbeOptions } from '../shop/probe-options.ts';
import type { AuditedCase } from './report.ts';
import type { AuditPreset } from './vocabulary.ts';

/** How far an audit is. */
export interface AuditProgress {
  /** The number of finished cases. */
  done: number;
  of: number;
  /** Estimate of the time that the other cases take, in milliseconds, by what the finished ones took. */
  leftMs: number;
}

/** Options of an audit. They run commands and code, so they never come from the network. */
export interface AuditOptions extends ProbeOptions {
  /** The shop's IPN handler. Default: the `ipn_url` of the first order, if the shop places orders. */
  ipnUrl?: string | undefined;
  /** Default ways to place and probe orders. */
  preset?: AuditPreset | undefined;
  /** Address that places an order in the shop, by POST, or by GET if it does not accept POST. Default: made-up orders. */
  orderUrl?: string | undefined;
  /**
   * Maximum number of orders. Without a way to place them, the user places as many by hand: 3, or 9 with a database, are
   * enough. Default: 150, and more for those that the shop changes.
   */
  orders?: number | undefined;
  /** Path of the order amount in the probe output, such as `.total`. */
  orderAmount?: string | undefined;
  /** Another URL that confirms a payment, in addition to `success_url`; accepts the same placeholders. */
  confirmUrl?: string | undefined;
  /** Paths in the probe output that only record IPNs, such as `.notifications`. */
  log?: readonly string[] | undefined;
  /** The shop's database, instead of probes: `sqlite:<file>`, `mysql://user@host/name` or `postgres://user@host/name`. */
  db?: string | undefined;
  /** Command that prints the rows of the database as INSERT statements with the names of their columns. */
  dbCmd?: string | undefined;
  /** Tables that are not read. */
  dbSkip?: readonly string[] | undefined;
  /** Effects of a payment in the database, such as `stock.count`, in addition to those that are learned. */
  effects?: readonly string[] | undefined;
  /** Runs only these cases, groups or classes, and never those that begin with `-`. */
  only?: readonly string[] | undefined;
  /** The finished cases of an earlier audit of the same shop, which are not tried again. */
  finished?: readonly AuditedCase[] | undefined;
  /** Tries every case. Default: those that decide something different. */
  thorough?: boolean | undefined;
  /** Command that starts the shop, which is then started again after a crash. */
  shop?: string | undefined;
  /** How long to wait for the shop's IPN handler to accept connections, in milliseconds. Default: no wait. */
  waitMs?: number | undefined;
  /** Ends the audit after the cases that are running: the others are `skipped`. */
  signal?: AbortSignal | undefined;
  /** Called after each case, the control first. */
  onCase?: ((audited: AuditedCase, progress: AuditProgress) => void) | undefined;
  /** Called with messages for the user, such as a request to place an order. */
  onNotice?: ((text: string) => void) | undefined;
}
