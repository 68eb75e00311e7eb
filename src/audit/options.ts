import { MAX_TIMEOUT_MS } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import { askedIn, usage } from './command.ts';

/** Whether the shop places the orders, or somebody there by hand: others are invented. */
export const hasOrders = ({ orderCmd, orderUrl, order, orderWait }: AuditOptions) =>
  Boolean(orderCmd ?? orderUrl ?? order) || orderWait === true;

/** @throws GatewayError `usage` for options that contradict each other or lack something */
export function requireConsistent(options: AuditOptions): void {
  const { orderCmd, orderUrl, order, orderWait, probeCmd, probeUrl, probe, paidWhen, orders, probes } =
    options;
  const { timeoutMs = 1 } = options;
  const given = (values: Readonly<Record<string, unknown>>) =>
    Object.keys(values).filter((name) => values[name] !== undefined && values[name] !== false);
  const sources = given({ orderCmd, orderUrl, order, orderWait });
  if (sources.length > 1) throw usage(`orders come from one place: not both ${sources.join(' and ')}`);
  const ways = given({ probeCmd, probeUrl, probe });
  if (ways.length > 1) throw usage(`one probe tells about an order: not both ${ways.join(' and ')}`);
  const asked = probeCmd ?? probeUrl;
  if (asked !== undefined && !askedIn(asked).length) {
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
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw usage(`the time-out must be longer than nothing, and an hour at most (got ${timeoutMs} ms)`);
  }
}
