import { requireAddress } from '../contract/address.ts';
import {
  AUDIT_CLASSES,
  AUDIT_GROUPS,
  type AuditCaseInfo,
  type AuditedCase,
  type AuditOptions,
  type AuditReport,
  type AuditVerdict,
  auditSummary,
  isTold,
} from '../contract/audit.ts';
import { didYouMean, GatewayError } from '../contract/error.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { Egress } from '../delivery/egress.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { listenAsAttacker } from './attacker.ts';
import { type AuditCase, type Finding, failedProbe, skipped } from './case.ts';
import { CONTROL } from './cases/control.ts';
import { CASES } from './cases/list.ts';
import { AuditClient } from './client.ts';
import type { AuditGateway } from './gateway.ts';
import { mendText } from './mends.ts';
import { requireConsistent, usage } from './options.ts';
import { Orders, type PlaceOrder } from './orders.ts';
import { isAboutOneOrder, probesOf } from './probe.ts';
import { ofTheUser, runShell } from './shell.ts';
import { Shop } from './shop.ts';

const TIMEOUT_MS = 10_000;
const MAX_ORDERS = 150;
const MAX_ORDERS_BY_HAND = 3;
/** For the shop to initiate after an order was placed; by hand that takes longer. */
const INITIATE_LIMIT_MS = 15_000;
const BY_HAND_LIMIT_MS = 10 * 60_000;
/** Cases that run side by side. */
const LANES = 6;

/** Every case with what it stands for, in the order of the report. */
export function auditCases(): AuditCaseInfo[] {
  return CASES.map(({ name, group, class: kind, about }) => ({ name, group, class: kind, about }));
}

/**
 * Places orders in the merchant's shop, attacks its IPN handler and return page, and looks at what the shop did. Only
 * payments that it made itself are settled; nothing else in the emulator is changed.
 *
 * @throws GatewayError `usage`, or `forbidden` when the shop is neither on a loopback nor on a private address
 */
export async function audit(
  gateway: AuditGateway,
  tools: IpnTools,
  options: AuditOptions,
): Promise<AuditReport> {
  requireConsistent(options);
  const chosen = chooseCases(options);
  const egress = new Egress(options.allowIpnHosts ?? [], () => undefined);
  const ipnUrl = requireAddress(options.ipnUrl);
  const refused = egress.unreachable(ipnUrl);
  if (refused !== null) throw new GatewayError('forbidden', `the shop may not be attacked there: ${refused}`);
  await using attacker = await listenAsAttacker();
  const notices = new Set<string>();
  const orders = ordersOf(gateway, options, notices, attacker.url);
  await orders.begin();
  const shop = new Shop({
    ...{ gateway, tools, orders, ipnUrl, notices, attackerUrl: attacker.url },
    ...probesOf(options, gateway.env),
    client: new AuditClient(egress, options.timeoutMs ?? TIMEOUT_MS),
    refusal: (url) => egress.unreachable(url),
    hasOrders: hasOrders(options),
    orderAmount: options.orderAmount,
  });
  options.onBegin?.(chosen.length);
  const cases = await runCases(shop, chosen, options);
  await cancelLeftOver(gateway, orders);
  for (const notice of notices) options.onNotice?.(notice);
  return { cases, summary: auditSummary(cases), orders: orders.made.length, notices: [...notices] };
}

const hasOrders = ({ orderCmd, orderUrl, order, orderWait }: AuditOptions) =>
  Boolean(orderCmd ?? orderUrl ?? order ?? (orderWait || undefined));

/** @throws GatewayError `usage` for a name that is neither a case's nor a group's nor a class's */
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

function ordersOf(
  gateway: AuditGateway,
  options: AuditOptions,
  notices: Set<string>,
  attackerUrl: string,
): Orders {
  const { orderWait = false, orders: max = orderWait ? MAX_ORDERS_BY_HAND : MAX_ORDERS } = options;
  return new Orders(gateway, placeOf(gateway, options), {
    ...{ max, notices },
    limitMs: orderWait ? BY_HAND_LIMIT_MS : INITIATE_LIMIT_MS,
    isOurs: ({ ipnUrl }) => ipnUrl === attackerUrl,
  });
}

function placeOf(gateway: AuditGateway, options: AuditOptions): PlaceOrder {
  const { orderCmd, orderUrl, orderMethod = 'POST', order, orderWait, ipnUrl, onNotice } = options;
  if (order) return () => ofTheUser('placing an order', order);
  if (orderCmd !== undefined) return () => runShell(orderCmd, gateway.env);
  if (orderUrl !== undefined) {
    const address = requireAddress(orderUrl);
    return async () => {
      const response = await fetch(address, { method: orderMethod, redirect: 'manual' }).catch(
        (error: Error) => {
          const { message } = (error.cause as Error | undefined) ?? error;
          throw new GatewayError(
            'check_failed',
            `no order could be placed: ${address} did not answer: ${message}`,
          );
        },
      );
      await response.arrayBuffer();
      if (response.status < 400) return;
      throw new GatewayError(
        'check_failed',
        `${orderMethod} ${address} was answered ${response.status}: no order`,
      );
    };
  }
  if (orderWait)
    return async () => onNotice?.('Place an order at the shop now; it is waited for 10 minutes.');
  return () => gateway.payments.create({ ipnUrl });
}

/** The control first; what can run side by side; what must be alone; and at last what looks back at all of it. */
async function runCases(
  shop: Shop,
  chosen: readonly AuditCase[],
  { onCase, probes = {}, signal }: AuditOptions,
): Promise<AuditedCase[]> {
  const done = new Map<AuditCase, AuditedCase>();
  const record = (one: AuditCase, finding: Finding) => {
    const audited = auditedCase(one, finding);
    done.set(one, audited);
    onCase?.(audited, done.size, chosen.length);
  };
  const run = async (one: AuditCase) => {
    signal?.throwIfAborted();
    record(one, await one.run(shop).catch(failedProbe));
  };
  await run(CONTROL);
  signal?.throwIfAborted();
  const others = chosen.filter((one) => one !== CONTROL);
  const control = done.get(CONTROL);
  if (control?.verdict === 'fail') {
    const why = 'the control failed: nothing that follows would mean anything';
    for (const one of others) record(one, skipped(why));
  } else if (control?.sent === null) {
    const why = `the control could not be carried out: ${control.why}`;
    for (const one of others) record(one, { ...skipped(why), verdict: 'unproven' });
  } else {
    // A probe that sees all orders would take the effect of one case for that of another.
    const isShared = Object.values(probes).some((one) => typeof one === 'string' && !isAboutOneOrder(one));
    const beside = others.filter(({ alone, last }) => !alone && !last);
    await inLanes(beside, isShared ? 1 : LANES, run);
    await inLanes(
      others.filter(({ alone, last }) => alone && !last),
      1,
      run,
    );
    await inLanes(
      others.filter(({ last }) => last),
      1,
      run,
    );
  }
  return chosen.flatMap((one) => done.get(one) ?? []);
}

async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const WHY: Readonly<Record<AuditVerdict, (one: AuditCase) => string>> = {
  pass: ({ about }) => about,
  fail: ({ harm }) => harm,
  exposed: ({ harm }) => harm,
  unproven: ({ about }) => about,
  skipped: ({ about }) => about,
};

function auditedCase(one: AuditCase, { verdict, sent, observed, why, curl }: Finding): AuditedCase {
  return {
    ...{ name: one.name, group: one.group, class: one.class, about: one.about, verdict, sent, observed },
    why: why ?? WHY[verdict](one),
    mend: isTold(verdict) ? mendText(one.mend) : null,
    curl,
  };
}

/** No order of the audit stays pending: somebody may settle it later, and the shop would get goods out of nowhere. */
async function cancelLeftOver(gateway: AuditGateway, orders: Orders): Promise<void> {
  for (const { id } of orders.made) {
    await gateway.payments.cancel(id, { delivery: 'redirect-only', by: 'audit' }).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'wrong_state') throw error;
    });
  }
}
