import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { AUDIT_CLASSES, AUDIT_GROUPS } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditCaseInfo, AuditReport } from '../contract/audit-report.ts';
import { auditMistakes, auditSummary } from '../contract/audit-summary.ts';
import { duration } from '../contract/duration.ts';
import { didYouMean, GatewayError, usage } from '../contract/error.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { receiveOnLoopback } from '../system/loopback-receiver.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { requireReachable } from './ask.ts';
import type { AuditCase } from './case.ts';
import { CONTROL } from './cases/control.ts';
import { CASES } from './cases/list.ts';
import { AuditClient } from './client.ts';
import { type AuditGateway, withoutSecrets } from './gateway.ts';
import { hasOrders, requireConsistent } from './options.ts';
import type { Orders } from './orders.ts';
import { withPreset } from './presets.ts';
import { isAddress, probesOf } from './probe.ts';
import { runCases } from './run.ts';
import { Shop } from './shop.ts';
import { ordersOf } from './sources.ts';

const TIMEOUT_MS = 10_000;
/** Time to clean up after the audit is cancelled, since the emulator may hang. */
const CLEAN_UP_MS = 2_000;

/** Every case with its description, in the order of the report. */
export function auditCases(): AuditCaseInfo[] {
  return CASES.map(({ name, group, class: kind, about }) => ({ name, group, class: kind, about }));
}

/**
 * Places orders in the merchant's shop, attacks its IPN handler and return page, and checks what the shop did. It
 * settles only its own payments and changes nothing else in the emulator.
 *
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` for an address that the egress rules do not allow
 */
export async function audit(
  gateway: AuditGateway,
  tools: IpnTools,
  given: AuditOptions,
): Promise<AuditReport> {
  return withoutSecrets(gateway, () => audited(gateway, tools, given));
}

async function audited(gateway: AuditGateway, tools: IpnTools, given: AuditOptions): Promise<AuditReport> {
  const { ipnUrl } = given;
  const { egress } = gateway;
  requireReachable(egress, 'ipnUrl', ipnUrl);
  const options = withPreset(given, ipnUrl);
  requireConsistent(options);
  for (const [name, url] of addressesIn(options)) requireReachable(egress, name, url);
  const { cancelled } = options;
  cancelled?.throwIfAborted();
  const chosen = chooseCases(options);
  // The receiver of the attacker's own payments accepts every IPN.
  await using attacker = await receiveOnLoopback(() => ({ status: 200 }));
  const attackerUrl = `${attacker.url}/ipn-of-the-attacker`;
  const notices = new Set<string>();
  const orders = ordersOf(gateway, options, notices, attackerUrl);
  await unlessAborted(cancelled, orders.begin());
  const shop = new Shop({
    gateway,
    tools,
    orders,
    ipnUrl,
    notices,
    attackerUrl,
    ...probesOf(options, gateway),
    client: new AuditClient(egress, options.timeoutMs ?? TIMEOUT_MS, { cancelled }),
    hasOrders: hasOrders(options),
    orderAmount: options.orderAmount,
    confirmUrl: options.confirmUrl,
    cancelled,
  });
  await waitForShop(shop, options.waitMs ?? 0);
  options.onBegin?.(chosen.length);
  const cases = await unlessAborted(cancelled, runCases(shop, chosen, options)).catch(
    async (error: unknown) => {
      // A failing cleanup must not hide the original error.
      const cleanUp = async () => {
        await orders.abandon().catch(() => {});
        await cancelLeftOver(gateway, orders).catch(() => {});
      };
      await unlessLate(cancelled, cleanUp());
      throw error;
    },
  );
  await unlessLate(cancelled, cancelLeftOver(gateway, orders)).catch((error: unknown) => {
    if (!(error instanceof GatewayError)) throw error;
    notices.add(`the audit could not cancel its pending orders: ${error.message}`);
  });
  for (const notice of notices) options.onNotice?.(notice);
  return {
    cases,
    summary: auditSummary(cases),
    mistakes: auditMistakes(cases),
    orders: hasOrders(options) ? orders.made.length : 0,
    notices: [...notices],
  };
}

/** @throws GatewayError `timed_out` if the shop does not listen in time */
async function waitForShop({ parts: { client, ipnUrl, cancelled } }: Shop, waitMs: number): Promise<void> {
  if (waitMs === 0) return;
  const deadline = performance.now() + waitMs;
  while (await client.isDown(ipnUrl)) {
    cancelled?.throwIfAborted();
    if (performance.now() > deadline) {
      const text = `nothing is listening on ${new URL(ipnUrl).host} after ${duration(waitMs)}`;
      throw new GatewayError('timed_out', text);
    }
    await pause(WAIT_POLL_MS);
  }
}
const WAIT_POLL_MS = 100;

/** The addresses of orders and probes, by option. */
function* addressesIn({
  orderUrl,
  probeUrl,
  confirmUrl,
  probes = {},
}: AuditOptions): Generator<[string, string]> {
  if (orderUrl !== undefined) yield ['orderUrl', orderUrl];
  if (probeUrl !== undefined) yield ['probeUrl', probeUrl];
  if (confirmUrl !== undefined) yield ['confirmUrl', confirmUrl];
  for (const [name, one] of Object.entries(probes)) {
    if (typeof one === 'string' && isAddress(one)) yield [`the probe ${name}`, one];
  }
}

/** @throws GatewayError `usage` for an unknown name */
function chooseCases({ only, skip }: AuditOptions): readonly AuditCase[] {
  const known = [...CASES.map(({ name }) => name), ...namesOf(AUDIT_GROUPS), ...namesOf(AUDIT_CLASSES)];
  for (const name of [...(only ?? []), ...(skip ?? [])]) {
    if (known.includes(name)) continue;
    throw usage(`there is no case, group or class "${name}"${didYouMean(name, known)}`);
  }
  const named = (names: readonly string[], { name, group, class: kind }: AuditCase) =>
    [name, group, kind].some((one) => names.includes(one));
  return CASES.filter(
    (one) => one === CONTROL || ((!only || named(only, one)) && !(skip && named(skip, one))),
  );
}

/** Rejects immediately when cancelled. The running requests and commands then fail automatically. */
export async function unlessAborted<Result>(
  signal: AbortSignal | undefined,
  run: Promise<Result>,
): Promise<Result> {
  if (!signal) return run;
  // Each running request and command adds a listener.
  setMaxListeners(0, signal);
  return Promise.race([
    run,
    new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      else signal.addEventListener('abort', () => reject(signal.reason));
    }),
  ]);
}

/** Waits for the cleanup; for a limited time if the audit was cancelled. */
async function unlessLate(signal: AbortSignal | undefined, run: Promise<void>): Promise<void> {
  if (!signal) return run;
  const late = new Promise<void>((resolve) => {
    const begin = () => void setTimeout(resolve, CLEAN_UP_MS).unref();
    if (signal.aborted) begin();
    else signal.addEventListener('abort', begin);
  });
  return Promise.race([run, late]);
}

/** Cancels the audit's pending orders: if they were settled later, the shop would ship goods that no customer bought. */
async function cancelLeftOver(gateway: AuditGateway, orders: Orders): Promise<void> {
  for (const { id } of [...orders.made, ...orders.spare]) {
    await gateway.payments.cancel(id, { delivery: 'redirect-only', by: 'audit' }).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'wrong_state') throw error;
    });
  }
}
