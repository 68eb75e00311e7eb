import { isAddress, requireAddress } from '../contract/address.ts';
import { GatewayError, usage } from '../contract/error.ts';
import type { Egress } from '../delivery/egress.ts';
import { asPath, asRowCondition, isAboutOneOrder } from '../shop/probe.ts';
import type { AuditOptions } from './audit-options.ts';
import { opencartOrder, prestashopOrder } from './storefronts.ts';
import { type AuditPreset, MAX_TIMEOUT_MS } from './vocabulary.ts';

/** Options with which an audit can run. */
export type CompleteOptions = AuditOptions & { ipnUrl: string };

const OPTIONS = {
  ipnUrl: true,
  finished: true,
  preset: true,
  orderUrl: true,
  orderCmd: true,
  order: true,
  orders: true,
  probeUrl: true,
  probeCmd: true,
  probe: true,
  probes: true,
  paidWhen: true,
  orderAmount: true,
  confirmUrl: true,
  log: true,
  db: true,
  dbCmd: true,
  dbSkip: true,
  effects: true,
  only: true,
  shop: true,
  timeoutMs: true,
  waitMs: true,
  signal: true,
  thorough: true,
  cancelled: true,
  onCase: true,
  onNotice: true,
} satisfies Record<keyof AuditOptions, true>;
export const AUDIT_OPTION_NAMES = Object.keys(OPTIONS);

type OrderSource = Pick<AuditOptions, 'orderCmd' | 'orderUrl' | 'order' | 'orders'>;

/** Whether the audit can place orders in the shop. */
const hasSource = ({ orderCmd, orderUrl, order }: OrderSource) => Boolean(orderCmd ?? orderUrl ?? order);

/** Whether the user places the orders, having said how many. */
export const areByHand = (options: OrderSource) => !hasSource(options) && options.orders !== undefined;

/** Whether the shop has the orders. Otherwise the audit invents them. */
export const hasOrders = (options: OrderSource) => hasSource(options) || areByHand(options);

/**
 * Checks that options are complete and consistent, and that their addresses are allowed.
 *
 * @throws GatewayError `usage`; `invalid_fields` for an invalid address, `forbidden` for one that the egress rules
 *   reject
 */
export function requireConsistent(options: Partial<AuditOptions>, egress: Egress): void {
  const { orderCmd, orderUrl, order, probeCmd, probeUrl, probe, paidWhen, orders } = options;
  const { db, dbCmd } = options;
  const { probes = {}, effects = [], confirmUrl, timeoutMs = 1 } = options;
  const given = (values: Readonly<Record<string, unknown>>) =>
    Object.keys(values).filter((name) => values[name] !== undefined && values[name] !== false);
  const sources = given({ orderCmd, orderUrl, order });
  if (sources.length > 1) {
    throw usage(`specify exactly one source of orders: ${sources.map(spelled).join(' or ')}`);
  }
  const ways = given({ probeCmd, probeUrl, probe, db, dbCmd });
  if (ways.length > 1) {
    throw usage(`specify exactly one probe for orders: ${ways.map(spelled).join(' or ')}`);
  }
  const orderProbe = probeCmd ?? probeUrl;
  if (orderProbe !== undefined && !isAboutOneOrder(orderProbe)) {
    throw usage(`the probe must refer to one order: include {identifier} (got "${orderProbe}")`);
  }
  const isLearned = (db ?? dbCmd) !== undefined;
  if (ways.length && paidWhen === undefined && !isLearned) {
    throw usage(
      'a probe needs a condition for paid orders, such as .status=paid or /paid/: specify --paid-when',
    );
  }
  if (paidWhen !== undefined && typeof paidWhen !== 'string') {
    throw usage('paidWhen must be a text, such as .status=paid or /paid/, and not a function');
  }
  if (!ways.length && (paidWhen !== undefined || Object.keys(probes).length)) {
    throw usage('--paid-when and --effect require an order probe: specify --probe-cmd, --probe-url or --db');
  }
  if (effects.length && !isLearned) {
    throw usage(
      `--effect ${effects[0]} is a column, which requires --db: without it, name a command or URL, such as --effect stock='…'`,
    );
  }
  if (orders !== undefined && !(Number.isInteger(orders) && orders >= 1 && orders <= 10_000)) {
    throw usage(`the number of orders must be a whole number from 1 to 10,000 (got ${orders})`);
  }
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw usage(`the timeout must be more than 0 and at most 1 h (got ${timeoutMs} ms)`);
  }
  for (const [name, url] of Object.entries({ orderUrl, probeUrl, confirmUrl })) {
    if (url !== undefined) requireReachable(egress, name, url);
  }
  for (const [name, one] of Object.entries(probes)) {
    if (typeof one === 'string' && isAddress(one)) requireReachable(egress, `the probe ${name}`, one);
  }
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ipnUrl: 'the URL of the IPN handler',
  orderUrl: 'the URL that places orders',
  probeUrl: 'the URL of the probe',
};

/** @param name the name of the option */
function requireReachable(egress: Egress, name: string, url: string | undefined): void {
  const problem = egress.unreachable(requireAddress(url, DESCRIPTIONS[name] ?? name));
  if (problem !== null) throw new GatewayError('forbidden', `${name} is not allowed: ${problem}`);
}

/** An option as written on the command line, or the name of a function of the library. */
const spelled = (name: string) =>
  name === 'order' || name === 'probe'
    ? name
    : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/**
 * Orders one product with the payment gateway WC_GATEWAY, or with the first enabled gateway. Some gateways initiate the
 * payment only on the page to which they send the customer.
 */
const WOOCOMMERCE_ORDER = [
  '$gateways = WC()->payment_gateways()->get_available_payment_gateways();',
  '$gateway = $gateways[getenv("WC_GATEWAY")] ?? reset($gateways);',
  '$products = wc_get_products(["limit" => 1, "status" => "publish"]);',
  '$order = wc_create_order();',
  '$order->add_product($products[0]);',
  '$order->set_address(["first_name" => "Ada", "email" => "ada@example.com"], "billing");',
  '$order->set_payment_method($gateway);',
  '$order->calculate_totals();',
  '$order->save();',
  '$page = $gateway->process_payment($order->get_id())["redirect"] ?? "";',
  'if (strpos($page, home_url("/")) === 0) wp_remote_get($page, ["redirection" => 0, "timeout" => 30]);',
].join(' ');

type Filled = Pick<AuditOptions, 'orderCmd' | 'orderUrl' | 'orders' | 'db' | 'probeUrl' | 'paidWhen'>;

/** By hand, with a database: one to find the handler, six to learn from, the control and a case. */
const BY_HAND = { orders: 9 };

/** How each kind of shop places an order, and where it shows one. */
const PRESETS: Readonly<
  Record<AuditPreset, (ipnUrl: string | undefined) => { order?: Filled; probe?: Filled }>
> = {
  plain: (ipnUrl) => {
    if (ipnUrl === undefined || !URL.canParse(ipnUrl)) return {};
    const orderUrl = new URL('/orders', ipnUrl).href;
    return { order: { orderUrl }, probe: { probeUrl: `${orderUrl}/{identifier}`, paidWhen: '.status=paid' } };
  },
  woocommerce: () => ({
    order: { orderCmd: `wp eval '${WOOCOMMERCE_ORDER}'` },
    probe: { db: 'mysql://localhost/wordpress' },
  }),
  opencart: (ipnUrl = '') => {
    const [, base, code] = OPENCART_METHOD.exec(ipnUrl) ?? [];
    const order = base && code ? { orderCmd: opencartOrder(base, code) } : BY_HAND;
    return { order, probe: { db: 'mysql://localhost/opencart' } };
  },
  prestashop: (ipnUrl = '') => {
    const [, base, module] = PRESTASHOP_MODULE.exec(ipnUrl) ?? [];
    const order = base && module ? { orderCmd: prestashopOrder(base, module) } : BY_HAND;
    return { order, probe: { db: 'mysql://localhost/prestashop' } };
  },
};

/** The addresses of a payment method, which name the shop and the method. */
const OPENCART_METHOD = /^(https?:\/\/.+?)\/index\.php\?route=extension\/payment\/(\w+)/;
const PRESTASHOP_MODULE = /^(https?:\/\/.+?)(?:\/[a-z]{2})?\/(?:index\.php\?.*?\bmodule=|module\/)(\w+)/;

/** Adds the options of a preset that the user omitted, and reports them to `onNotice`. */
export function withPreset(options: AuditOptions): AuditOptions {
  const { preset, ipnUrl, onNotice, probeCmd, probeUrl, probe, db, dbCmd } = options;
  if (preset === undefined) return options;
  const by = PRESETS[preset](ipnUrl);
  const offered: Filled = {
    ...(!hasSource(options) && by.order),
    ...((probeCmd ?? probeUrl ?? probe ?? db ?? dbCmd) === undefined && by.probe),
  };
  const added = Object.entries(offered).filter(([name]) => options[name as keyof Filled] === undefined);
  const uses = added.map(([name, value]) =>
    name === 'orders' ? `${value} orders that you place by hand` : `${spelled(name)} ${value}`,
  );
  if (uses.length) onNotice?.(`the preset ${preset} uses: ${uses.join('\n  ')}`);
  return { ...options, ...Object.fromEntries(added) };
}

/** Names of tables and columns as places of the rows of an order. */
function withPlaces(options: CompleteOptions): CompleteOptions {
  const { db, dbCmd, paidWhen, orderAmount } = options;
  if ((db ?? dbCmd) === undefined) return options;
  return {
    ...options,
    ...(paidWhen !== undefined && { paidWhen: asRowCondition(paidWhen) }),
    ...(orderAmount !== undefined && { orderAmount: asPath(orderAmount) }),
  };
}

/**
 * The options of an audit, checked.
 *
 * @throws GatewayError `usage`, `invalid_fields` or `forbidden`
 */
export function completeOptions(options: CompleteOptions, egress: Egress): CompleteOptions {
  requireReachable(egress, 'ipnUrl', options.ipnUrl);
  const complete = withPlaces(options);
  if ((options.db ?? options.dbCmd) !== undefined && !hasOrders(complete))
    throw usage(
      '--db learns from orders of the shop: specify --order-url or --order-cmd, or --orders 9 to place them by hand',
    );
  requireConsistent(complete, egress);
  return complete;
}
