import type { AuditPreset } from './audit.ts';
import type { AuditedCase, AuditRequest } from './audit-report.ts';

/** How a shop is audited: beside what anybody may ask for, what only its user may, since it runs commands and code. */
export interface AuditOptions extends AuditRequest {
  /** Fills in how orders are placed and looked at, where that is not given. */
  preset?: AuditPreset | undefined;
  /** Makes the shop place an order, instead of `orderUrl`: a command, or a function. Its last line is `{order}`. */
  orderCmd?: string | undefined;
  order?: (() => unknown) | undefined;
  /** Somebody places the orders by hand; then there are 3 unless `orders` says otherwise. */
  orderWait?: boolean | undefined;
  /** Tells about an order, instead of `probeUrl`: a command in which `{identifier}` stands for a variable, or a function. */
  probeCmd?: string | undefined;
  probe?: ((identifier: string) => unknown) | undefined;
  /** Further probes by name, which must not change when nothing may happen: commands or addresses. */
  probes?: Readonly<Record<string, string | ((identifier: string) => unknown)>> | undefined;
  /** Public hosts that may be sent to, beside those that the emulator may send IPNs to. */
  allowIpnHosts?: readonly string[] | undefined;
  /** How long the shop is waited for until something listens at its IPN handler, in milliseconds; default: not at all. */
  waitMs?: number | undefined;
  /** Ends the audit before its next case. */
  signal?: AbortSignal | undefined;
  /** Ends it at once: commands with all that they have started, and requests. */
  cancelled?: AbortSignal | undefined;
  /** Is called before anything is sent, when all options are found to be right. */
  onBegin?: ((cases: number) => void) | undefined;
  /** Is called for every case as soon as it is done. */
  onCase?: ((audited: AuditedCase, done: number, of: number) => void) | undefined;
  /** Is called with what the user should know or do now. */
  onNotice?: ((text: string) => void) | undefined;
}
