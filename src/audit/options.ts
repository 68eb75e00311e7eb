import { MAX_TIMEOUT_MS } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import { AuditRequest } from '../contract/audit-report.ts';
import { usage } from '../contract/error.ts';
import { placeholdersIn } from './command.ts';

/** The options that only the command line and the library have. */
const LOCAL = {
  orderCmd: true,
  order: true,
  orderWait: true,
  probeCmd: true,
  probe: true,
  probes: true,
  allowIpnHosts: true,
  waitMs: true,
  signal: true,
  cancelled: true,
  onBegin: true,
  onCase: true,
  onNotice: true,
} satisfies Record<Exclude<keyof AuditOptions, keyof AuditRequest>, true>;

/** The names of all options. */
export const AUDIT_OPTION_NAMES = [...Object.keys(AuditRequest.def.shape), ...Object.keys(LOCAL)];

/** Whether the shop places the orders. Otherwise the audit invents them. */
export const hasOrders = ({ orderCmd, orderUrl, order, orderWait }: AuditOptions) =>
  Boolean(orderCmd ?? orderUrl ?? order) || orderWait === true;

/** @throws GatewayError `usage` for contradictory or incomplete options */
export function requireConsistent(options: Partial<AuditOptions>): void {
  const { orderCmd, orderUrl, order, orderWait, probeCmd, probeUrl, probe, paidWhen, orders, probes } =
    options;
  const { timeoutMs = 1 } = options;
  const given = (values: Readonly<Record<string, unknown>>) =>
    Object.keys(values).filter((name) => values[name] !== undefined && values[name] !== false);
  const sources = given({ orderCmd, orderUrl, order, orderWait });
  if (sources.length > 1) {
    throw usage(`specify exactly one source of orders: ${sources.map(spelled).join(' or ')}`);
  }
  const ways = given({ probeCmd, probeUrl, probe });
  if (ways.length > 1) {
    throw usage(`specify exactly one probe for orders: ${ways.map(spelled).join(' or ')}`);
  }
  const orderProbe = probeCmd ?? probeUrl;
  if (orderProbe !== undefined && !placeholdersIn(orderProbe).length) {
    throw usage(`the probe must refer to one order: include {identifier} (got "${orderProbe}")`);
  }
  if (ways.length && paidWhen === undefined) {
    throw usage(
      'a probe needs a condition for paid orders, such as .status=paid or /paid/: specify --paid-when',
    );
  }
  if (paidWhen !== undefined && typeof paidWhen !== 'string') {
    throw usage('paidWhen must be a text, such as .status=paid or /paid/, and not a function');
  }
  if (!ways.length && (paidWhen !== undefined || Object.keys(probes ?? {}).length)) {
    throw usage('--paid-when and --probe require an order probe: specify --probe-cmd or --probe-url');
  }
  if (orders !== undefined && !(Number.isInteger(orders) && orders >= 1 && orders <= 10_000)) {
    throw usage(`the number of orders must be a whole number from 1 to 10,000 (got ${orders})`);
  }
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw usage(`the timeout must be more than 0 and at most 1 h (got ${timeoutMs} ms)`);
  }
}

/** An option as written on the command line, or the name of a function of the library. */
const spelled = (name: string) =>
  name === 'order' || name === 'probe'
    ? name
    : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
