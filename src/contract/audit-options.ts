import type { AuditPreset } from './audit.ts';
import type { AuditedCase, AuditRequest } from './audit-report.ts';
import type { Frozen } from './frozen.ts';

/** Options of an audit. Unlike `AuditRequest`, these run commands and code, so they never come from the network. */
export interface AuditOptions extends Frozen<Omit<AuditRequest, 'preset' | 'ipnUrl'>> {
  /** The shop's IPN handler. Default: the `ipn_url` of the first order, if the shop places orders. */
  ipnUrl?: string | undefined;
  /** Default ways to place and probe orders. */
  preset?: AuditPreset | undefined;
  /** Command or function that places an order, instead of `orderUrl`. The last line of its output is `{order}`. */
  orderCmd?: string | undefined;
  order?: (() => unknown) | undefined;
  /** The user places the orders by hand. `orders` then defaults to 3. */
  orderWait?: boolean | undefined;
  /** Command or function that reports an order, instead of `probeUrl`. In a command, `{identifier}` becomes a variable. */
  probeCmd?: string | undefined;
  probe?: ((identifier: string) => unknown) | undefined;
  /** More probes by name: commands or addresses. Their output must not change when a case must have no effect. */
  probes?: Readonly<Record<string, string | ((identifier: string) => unknown)>> | undefined;
  /** The shop's database, instead of probes: `sqlite:<file>`, `mysql://user@host/name` or `postgres://user@host/name`. */
  db?: string | undefined;
  /** Command that prints the rows of the database as INSERT statements with the names of their columns. */
  dbCmd?: string | undefined;
  /** Tables that are not read. */
  dbSkip?: readonly string[] | undefined;
  /** Effects of a payment in the database, such as `stock.count`, in addition to those that are learned. */
  effects?: readonly string[] | undefined;
  /** Command that starts the shop, which is then started again after a crash. */
  shop?: string | undefined;
  /** More public hosts that requests may be sent to. Hosts allowed for IPNs are always allowed. */
  allowIpnHosts?: readonly string[] | undefined;
  /** How long to wait for the shop's IPN handler to accept connections, in milliseconds. Default: no wait. */
  waitMs?: number | undefined;
  /** Ends the audit before its next case. */
  signal?: AbortSignal | undefined;
  /** Ends the audit immediately: aborts requests, and kills commands with their child processes. */
  cancelled?: AbortSignal | undefined;
  /** Called when all options are valid, before anything is sent. */
  onBegin?: ((cases: number) => void) | undefined;
  onCase?: ((audited: AuditedCase, done: number, of: number) => void) | undefined;
  /** Called with messages for the user, such as a request to place an order. */
  onNotice?: ((text: string) => void) | undefined;
}
