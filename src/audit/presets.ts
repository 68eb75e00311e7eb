import { type AuditPreset, PLACEHOLDERS } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import { hasOrders } from './options.ts';

type Filled = Pick<
  AuditOptions,
  'orderCmd' | 'orderUrl' | 'orderWait' | 'probeCmd' | 'probeUrl' | 'paidWhen' | 'orderAmount'
>;

/**
 * The identifier as a MySQL literal, for use between double quotes in a shell. MySQL cannot parse hexadecimal digits as
 * SQL.
 */
const SQL_IDENTIFIER = `CAST(x'$(printf %s "$${PLACEHOLDERS.identifier}" | od -An -v -tx1 | tr -d ' \\n')' AS CHAR)`;

/** mysql reads its credentials from ~/.my.cnf. */
const mysql = (database: string, query: string) =>
  `mysql --batch --skip-column-names "\${MYSQL_DATABASE:-${database}}" -e "${query}"`;

/** Orders one product with the payment gateway WC_GATEWAY, or with the first enabled gateway. */
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
  '$gateway->process_payment($order->get_id());',
].join(' ');

/** SHOP_MODEL is the model of an order, SHOP_COLUMN the column of its identifier. */
const LARAVEL_ORDER = [
  '$model = getenv("SHOP_MODEL") ?: "App\\\\Models\\\\Order";',
  '$order = $model::where(getenv("SHOP_COLUMN") ?: "identifier", getenv("SHOP_ORDER"))->first();',
  'echo json_encode($order ?? ["status" => "unknown"]);',
].join(' ');

const PRESTASHOP_QUERY = `SELECT CONCAT('orders=', COUNT(*), ' paid=', COALESCE(SUM(valid), 0), ' total=', COALESCE(SUM(total_paid_real), 0)) FROM \${DB_PREFIX:-ps_}orders WHERE id_cart = ${SQL_IDENTIFIER}`;

const WHMCS_QUERY = `SELECT CONCAT('status=', COALESCE(MAX(i.status), 'unknown'), ' transactions=', COUNT(a.id)) FROM tblinvoices i LEFT JOIN tblaccounts a ON a.invoiceid = i.id WHERE i.id = ${SQL_IDENTIFIER}`;

/** The options of each preset, by the origin of the IPN handler. */
const PRESETS: Readonly<Record<AuditPreset, (origin: string) => Filled>> = {
  plain: (origin) => ({
    orderUrl: `${origin}/orders`,
    probeUrl: `${origin}/orders/{identifier}`,
    paidWhen: '.status=paid',
  }),
  woocommerce: () => ({
    orderCmd: `wp eval '${WOOCOMMERCE_ORDER}'`,
    probeCmd: 'wp wc shop_order get {identifier} --user=1 --format=json',
    paidWhen: '/"status":\\s*"(processing|completed)"/',
    orderAmount: '.total',
  }),
  laravel: () => ({
    orderWait: true,
    probeCmd: `SHOP_ORDER={identifier} php artisan tinker --execute='${LARAVEL_ORDER}'`,
    paidWhen: '/"(payment_)?status":\\s*"(paid|success|completed|processing)"|"(is_)?paid":\\s*(true|1)/',
  }),
  prestashop: () => ({
    orderWait: true,
    probeCmd: mysql('prestashop', PRESTASHOP_QUERY),
    paidWhen: '/paid=[1-9]/',
  }),
  whmcs: () => ({ orderWait: true, probeCmd: mysql('whmcs', WHMCS_QUERY), paidWhen: '/status=Paid/' }),
};

/** Adds the options of a preset that the user omitted, and reports its commands and addresses to `onNotice`. */
export function withPreset(options: AuditOptions, ipnUrl: string): AuditOptions {
  const { preset, onNotice } = options;
  if (preset === undefined) return options;
  const { orderCmd, orderUrl, orderWait, probeCmd, probeUrl, paidWhen, orderAmount } = PRESETS[preset](
    new URL(ipnUrl).origin,
  );
  const hasProbe = Boolean(options.probeCmd ?? options.probeUrl ?? options.probe);
  const order = hasOrders(options) ? {} : { orderCmd, orderUrl, orderWait };
  const probe = hasProbe ? {} : { probeCmd, probeUrl, orderAmount: options.orderAmount ?? orderAmount };
  const settings = [
    ...(order.orderWait ? ['place orders by hand'] : []),
    ...[order.orderCmd ?? order.orderUrl, probe.probeCmd ?? probe.probeUrl].filter(Boolean),
  ];
  const condition = options.paidWhen ?? (hasProbe ? undefined : paidWhen);
  const paid = hasProbe ? '' : `\n  paid when ${condition}`;
  if (settings.length) onNotice?.(`the preset ${preset} uses: ${settings.join('\n  ')}${paid}`);
  return { ...options, ...order, ...probe, paidWhen: condition };
}
