import type { AuditedCase } from '../contract/audit.ts';
import { GatewayError } from '../contract/error.ts';

/** How a shop is audited. */
export interface AuditOptions {
  /** The IPN handler of the shop, as somebody knows it who has seen no order. */
  ipnUrl: string;
  /** Makes the shop place an order: a command, an address that is posted to, or a function. Default: orders are invented. */
  orderCmd?: string | undefined;
  orderUrl?: string | undefined;
  order?: (() => unknown) | undefined;
  /** How `orderUrl` is requested; default: POST. */
  orderMethod?: 'GET' | 'POST' | undefined;
  /** Somebody places the orders by hand. */
  orderWait?: boolean | undefined;
  /** Maximum number of orders; default: 150, with `orderWait` 3. */
  orders?: number | undefined;
  /** Tells about an order: a command, an address, or a function. `{identifier}` stands for the order's identifier. */
  probeCmd?: string | undefined;
  probeUrl?: string | undefined;
  probe?: ((identifier: string) => unknown) | undefined;
  /** When the order counts as paid: `.path=value` on JSON, or a regular expression. */
  paidWhen?: string | undefined;
  /** Further probes by name, which must not change when nothing may happen: commands or addresses. */
  probes?: Readonly<Record<string, string | ((identifier: string) => unknown)>> | undefined;
  /** Where the probe says what the order costs, such as `.total`. */
  orderAmount?: string | undefined;
  /** Only cases, groups or classes of these names. */
  only?: readonly string[] | undefined;
  /** No cases, groups or classes of these names. */
  skip?: readonly string[] | undefined;
  /** Public hosts that may be sent to. */
  allowIpnHosts?: readonly string[] | undefined;
  /** For the shop to answer, in milliseconds; default: 10,000. */
  timeoutMs?: number | undefined;
  /** Is called for every case as soon as it is done. */
  onCase?: ((audited: AuditedCase, done: number, of: number) => void) | undefined;
  /** Is called with what the user should know or do now. */
  onNotice?: ((text: string) => void) | undefined;
}

/** @throws GatewayError `usage` for options that contradict each other or lack something */
export function requireConsistent(options: AuditOptions): void {
  const { orderCmd, orderUrl, order, orderWait, probeCmd, probeUrl, probe, paidWhen, orders, probes } =
    options;
  const given = (values: Readonly<Record<string, unknown>>) =>
    Object.keys(values).filter((name) => values[name] !== undefined && values[name] !== false);
  const sources = given({ orderCmd, orderUrl, order, orderWait });
  if (sources.length > 1) throw usage(`orders come from one place: not both ${sources.join(' and ')}`);
  const ways = given({ probeCmd, probeUrl, probe });
  if (ways.length > 1) throw usage(`one probe tells about an order: not both ${ways.join(' and ')}`);
  const asked = probeCmd ?? probeUrl;
  if (asked !== undefined && !asked.includes('{identifier}')) {
    throw usage(`the probe must ask about one order: put {identifier} into it (got "${asked}")`);
  }
  if (ways.length && paidWhen === undefined) {
    throw usage(
      'a probe needs to know when the order is paid: give a condition such as .status=paid or /paid/ (paid-when)',
    );
  }
  if (!ways.length && (paidWhen !== undefined || Object.keys(probes ?? {}).length)) {
    throw usage(
      'without a probe of the order nothing tells whether it is paid: give a probe command or address',
    );
  }
  if (orders !== undefined && !(Number.isInteger(orders) && orders >= 1 && orders <= 10_000)) {
    throw usage(`the number of orders must be a whole number from 1 to 10,000 (got ${orders})`);
  }
}

export function usage(message: string): GatewayError {
  return new GatewayError('usage', message);
}
