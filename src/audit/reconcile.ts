import { GatewayError } from '../contract/error.ts';
import type { Payment } from '../contract/payment.ts';
import { plainText } from '../contract/plain-text.ts';
import { requireReachable } from './ask.ts';
import { unlessAborted } from './audit.ts';
import { askedIn, usage, valuesOf } from './command.ts';
import { type AuditGateway, secretMask, withoutSecrets } from './gateway.ts';
import { commandProbe, type Probe, readCondition, urlProbe, valueAt, WITHOUT_ORDER } from './probe.ts';

/** In what the shop and the emulator disagree (chosen). */
export type Difference =
  | 'paid-not-fulfilled'
  | 'fulfilled-not-paid'
  | 'fulfilled-twice'
  | 'amount-differs'
  | 'not-probed';

export interface Reconciled {
  identifier: string;
  problem: Difference;
  detail: string;
}

export interface ReconcileOptions {
  probeCmd?: string | undefined;
  probeUrl?: string | undefined;
  /** When the shop counts an order as paid: `.path=value` on JSON, or a regular expression. */
  paidWhen?: string | undefined;
  /** Where the probe says the amount, such as `.total`. */
  orderAmount?: string | undefined;
  /** Where the probe counts how often it was fulfilled, such as `.shipments`: a number, or a list. */
  fulfilled?: string | undefined;
  /** Ends it at once: commands with all that they have started, and requests. */
  cancelled?: AbortSignal | undefined;
}

const PAGE = 200;
const LANES = 4;

/**
 * Compares every payment of the emulator with what the shop says of its identifier. Payments that an audit settled are
 * left out: it told the shop of them in its own way, or never.
 *
 * @throws GatewayError `usage`; `forbidden` for an address that the egress rules do not allow; `check_failed` when it
 *   was cancelled
 */
export async function reconcile(gateway: Gateway, options: ReconcileOptions): Promise<Comparison> {
  return withoutSecrets(gateway, async () => {
    const { compared, found } = await unlessAborted(options.cancelled, compare(gateway, options));
    const mask = secretMask(gateway);
    return { compared, found: found.map((one) => ({ ...one, detail: mask(one.detail) })) };
  });
}

export interface Comparison {
  /** How many payments the shop was asked about, and said something of. */
  compared: number;
  /** Payments in dispute, and those that could not be asked about. */
  found: Reconciled[];
}

type Gateway = Pick<AuditGateway, 'payments' | 'env' | 'egress' | 'secretKey' | 'controlToken'>;

async function compare(gateway: Gateway, options: ReconcileOptions): Promise<Comparison> {
  const probe = requireProbe(options, gateway);
  const isPaid = readCondition(options.paidWhen ?? '');
  const byIdentifier = new Map<string, Payment[]>();
  for await (const payment of allPayments(gateway)) {
    options.cancelled?.throwIfAborted();
    if (payment.settledBy === 'audit') continue;
    const same = byIdentifier.get(payment.identifier);
    if (same) same.push(payment);
    else byIdentifier.set(payment.identifier, [payment]);
  }
  const queue = [...byIdentifier];
  const found = new Map<string, Reconciled[]>();
  let compared = 0;
  const lane = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [identifier, payments] = next;
      const [newest] = payments;
      const asked = payments.find(({ status }) => status === 'succeeded') ?? newest;
      if (!asked) continue;
      try {
        const said = await probe(valuesOf(asked));
        found.set(identifier, differences(identifier, payments, said, isPaid(said), options));
        compared += payments.length;
      } catch (error) {
        options.cancelled?.throwIfAborted();
        // One that cannot be asked about says nothing of the others; an address that is refused is refused to all.
        if (!(error instanceof GatewayError) || error.code === 'forbidden') throw error;
        found.set(identifier, [{ identifier, problem: 'not-probed', detail: error.message }]);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const inOrder = [...byIdentifier.keys()].flatMap((identifier) => found.get(identifier) ?? []);
  return { compared, found: inOrder };
}

function requireProbe(
  { probeCmd, probeUrl, paidWhen, cancelled }: ReconcileOptions,
  { env, egress }: Pick<AuditGateway, 'env' | 'egress'>,
): Probe {
  if ((probeCmd === undefined) === (probeUrl === undefined)) {
    throw usage('reconcile asks the shop by one probe: give --probe-cmd or --probe-url');
  }
  if (paidWhen === undefined)
    throw usage('--paid-when says when an order counts as paid, such as .status=paid');
  const given = probeCmd ?? probeUrl ?? '';
  if (!askedIn(given).length) throw usage(`put {identifier} into the probe (got "${given}")`);
  const running = { environment: env, cancelled };
  if (probeCmd !== undefined) return commandProbe('the probe command', given, WITHOUT_ORDER, running);
  requireReachable(egress, 'probeUrl', given);
  return urlProbe(given, egress, running);
}

async function* allPayments({ payments }: Pick<AuditGateway, 'payments'>): AsyncGenerator<Payment> {
  let cursor: string | undefined;
  do {
    const { data, nextCursor } = await payments.list({ limit: PAGE, ...(cursor && { cursor }) });
    yield* data;
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function differences(
  identifier: string,
  payments: readonly Payment[],
  said: string,
  isFulfilled: boolean,
  { orderAmount, fulfilled }: ReconcileOptions,
): Reconciled[] {
  const paid = payments.filter(({ status }) => status === 'succeeded');
  const found: Reconciled[] = [];
  const tell = (problem: Difference, detail: string) => found.push({ identifier, problem, detail });
  if (paid.length && !isFulfilled) tell('paid-not-fulfilled', `${paid.length} payments succeeded`);
  if (!paid.length && isFulfilled)
    tell('fulfilled-not-paid', `the payments are ${payments.map(({ status }) => status).join(', ')}`);
  const count = fulfilled === undefined ? undefined : countAt(said, fulfilled);
  if (count !== undefined && count > Math.max(paid.length, 1)) {
    tell('fulfilled-twice', `${count} times for ${paid.length} payments`);
  }
  const amount = orderAmount === undefined ? undefined : valueAt(said, orderAmount);
  const told = plainText(amount);
  const differing = paid.find((one) => amount !== undefined && Number(told) !== Number(one.amount));
  if (differing) tell('amount-differs', `paid ${differing.amount}, the shop says ${told ?? 'no amount'}`);
  return found;
}

/** @throws GatewayError `check_failed` where there is no number and no list */
function countAt(said: string, path: string): number {
  const value = valueAt(said, path);
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'number') return value;
  throw new GatewayError('check_failed', `the probe has neither a number nor a list at ${path}`);
}
