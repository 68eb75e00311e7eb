import { GatewayError, usage } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { plainText, pluralize } from '../contract/text.ts';
import { Database } from '../database/database.ts';
import { valuesOf } from '../shop/command.ts';
import { asRowCondition, conditionProblem, probesOf, valueAt } from '../shop/probe.ts';
import { Witness } from '../shop/witness.ts';
import { asyncDisposable } from '../system/disposal.ts';
import { runConcurrently, unlessAborted } from './audit.ts';
import type { AuditOptions } from './audit-options.ts';
import { type AuditGateway, withoutSecrets } from './gateway.ts';
import { requireConsistent } from './options.ts';
import type { Reconciliation } from './report.ts';

type Reconciled = Reconciliation['data'][number];

/** `orderAmount` is the path of the amount in the probe's output, such as `.total`. */
interface ReconcileOptions
  extends Pick<
    AuditOptions,
    'probeCmd' | 'probeUrl' | 'db' | 'dbCmd' | 'dbSkip' | 'paidWhen' | 'orderAmount' | 'cancelled'
  > {
  /** The path of the number or list of fulfillments in the probe's output, such as `.shipments`. */
  fulfilled?: string | undefined;
}

type Gateway = Pick<AuditGateway, 'payments' | 'env' | 'egress' | 'mask'>;

const PAGE = 200;
const CONCURRENCY = 4;

/**
 * Compares every payment of the emulator with the shop's order. Payments that an audit settled are excluded, because
 * their IPNs were forged or never sent.
 *
 * @throws GatewayError `usage`; `forbidden` for an address that the egress rules do not allow; `check_failed` if
 *   cancelled
 */
export async function reconcile(gateway: Gateway, options: ReconcileOptions) {
  return withoutSecrets(gateway, async () => {
    const { compared, found } = await unlessAborted(options.cancelled, compare(gateway, options));
    return { compared, found: found.map((one) => ({ ...one, detail: gateway.mask(one.detail) })) };
  });
}

/** @returns the number of payments that could be compared, and those that differ or could not be probed */
async function compare(gateway: Gateway, options: ReconcileOptions) {
  const { db, dbCmd, dbSkip, paidWhen } = options;
  const hasRows = (db ?? dbCmd) !== undefined;
  if (hasRows && paidWhen === undefined)
    throw usage('--db needs a condition for paid orders, such as orders.status=paid: specify --paid-when');
  const condition = hasRows && paidWhen !== undefined ? asRowCondition(paidWhen) : paidWhen;
  const { probe: given, isPaid } = probesOf({ ...options, paidWhen: condition }, gateway);
  const database = hasRows
    ? new Database({ db, dbCmd, dbSkip }, (host, port) => gateway.egress.resolve(host, port))
    : undefined;
  await using _client = asyncDisposable(async () => database?.close());
  const rows = database && new Witness(database);
  const probe = rows ? rows.look.bind(rows) : given;
  if (!probe) throw usage('reconcile needs a probe: specify --probe-cmd, --probe-url or --db');
  requireConsistent(options, gateway.egress);
  const byIdentifier = new Map<string, Payment[]>();
  let cursor: string | null | undefined;
  do {
    const page = await gateway.payments.list({ limit: PAGE, ...(cursor && { cursor }) });
    options.cancelled?.throwIfAborted();
    for (const payment of page.data) {
      if (payment.settledBy === 'audit') continue;
      const same = byIdentifier.get(payment.identifier);
      if (same) same.push(payment);
      else byIdentifier.set(payment.identifier, [payment]);
    }
    cursor = page.nextCursor;
  } while (cursor);
  const probedOf = (payments: readonly Payment[]) =>
    payments.find(({ status }) => status === 'succeeded') ?? payments[0];
  await rows?.relate(
    [...byIdentifier.values()].flatMap((all) => probedOf(all) ?? []).map((one) => valuesOf(one)),
  );
  const outputs = new Map<string, string>();
  const found = new Map<string, Reconciled[]>();
  const notProbed = (identifier: string, detail: string) =>
    found.set(identifier, [{ identifier, problem: 'not-probed', detail }]);
  await runConcurrently([...byIdentifier], CONCURRENCY, async ([identifier, payments]) => {
    const probed = probedOf(payments);
    if (!probed) return;
    try {
      outputs.set(identifier, (await probe(valuesOf(probed))).text);
    } catch (error) {
      options.cancelled?.throwIfAborted();
      // A failed probe affects one payment; a forbidden address affects all.
      if (!(error instanceof GatewayError) || error.code === 'forbidden') throw error;
      notProbed(identifier, error.message);
    }
  });
  const problemOf = (output: string) =>
    output === '{}' ? 'no row of the database names this order' : conditionProblem(condition ?? '', output);
  // A shop may create the rows of an order when it is paid. But if no order has them, the condition is wrong.
  const isKnown = !rows || [...outputs.values()].some((output) => problemOf(output) === undefined);
  let compared = 0;
  for (const [identifier, output] of outputs) {
    const payments = byIdentifier.get(identifier) ?? [];
    const problem = isKnown ? undefined : problemOf(output);
    if (problem !== undefined) {
      notProbed(identifier, problem);
      continue;
    }
    found.set(identifier, differences(identifier, payments, output, isPaid(output), options));
    compared += payments.length;
  }
  const inOrder = [...byIdentifier.keys()].flatMap((identifier) => found.get(identifier) ?? []);
  return { compared, found: inOrder };
}

function differences(
  identifier: string,
  payments: readonly Payment[],
  output: string,
  isFulfilled: boolean,
  { orderAmount, fulfilled }: ReconcileOptions,
): Reconciled[] {
  const paid = payments.filter(({ status }) => status === 'succeeded');
  const found: Reconciled[] = [];
  const report = (problem: Reconciled['problem'], detail: string) =>
    found.push({ identifier, problem, detail });
  if (paid.length && !isFulfilled)
    report('paid-not-fulfilled', `${pluralize(paid.length, 'payment')} succeeded`);
  if (!paid.length && isFulfilled)
    report('fulfilled-not-paid', `the payments are ${payments.map(({ status }) => status).join(', ')}`);
  const count = fulfilled === undefined ? undefined : countAt(output, fulfilled);
  if (count !== undefined && count > Math.max(paid.length, 1)) {
    report('fulfilled-twice', `${pluralize(count, 'time')} for ${pluralize(paid.length, 'payment')}`);
  }
  const amount = orderAmount === undefined ? undefined : valueAt(output, orderAmount);
  const shopAmount = plainText(amount);
  const differing = paid.find((one) => amount !== undefined && Number(shopAmount) !== Number(one.amount));
  if (differing)
    report(
      'amount-differs',
      `the customer paid ${differing.amount}, and the shop has ${shopAmount ?? 'no amount'}`,
    );
  return found;
}

/** @throws GatewayError `check_failed` if there is neither a number nor a list */
function countAt(output: string, path: string): number {
  const value = valueAt(output, path);
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'number') return value;
  throw new GatewayError(
    'check_failed',
    `the probe output has neither a number nor a list at ${path}: check the path, and whether the shop knows this order`,
  );
}
