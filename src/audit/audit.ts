import { addAbortListener, setMaxListeners } from 'node:events';
import { command, didYouMean, GatewayError, hint, usage } from '../contract/error.ts';
import { pluralize } from '../contract/text.ts';
import { duration } from '../contract/time.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { ExchangeClient } from '../delivery/exchange.ts';
import { languageOf } from '../diagnosis/receiver-answer.ts';
import { signatureCode } from '../diagnosis/signature-code.ts';
import { Withheld } from '../shop/command.ts';
import { isAboutOneOrder } from '../shop/probe.ts';
import { asyncDisposable } from '../system/disposal.ts';
import { receiveOnLoopback } from '../system/loopback-receiver.ts';
import { pause, performance, setTimeout } from '../system/real-time.ts';
import type { AuditOptions } from './audit-options.ts';
import { Bystanders } from './bystanders.ts';
import {
  type AuditCase,
  CHANGES_ORDERS,
  evidence,
  type Finding,
  fail,
  passedTogether,
  skipped,
  unproven,
} from './case.ts';
import { AMOUNT } from './cases/amount.ts';
import { CHECKOUT } from './cases/checkout.ts';
import { CONTROL, EVERY_PAYMENT } from './cases/control.ts';
import { IDENTIFIER } from './cases/identifier.ts';
import { MUCH_LATER, ONCE } from './cases/once.ts';
import { BREAKS, PROTOTYPE, ROBUSTNESS } from './cases/robustness.ts';
import { SANDBOX } from './cases/sandbox.ts';
import { SENDER } from './cases/sender.ts';
import { TRANSPORT } from './cases/transport.ts';
import { type AuditGateway, withoutSecrets } from './gateway.ts';
import { type Fix, MISTAKES } from './mistakes.ts';
import { completeOptions, hasOrders, withPreset } from './options.ts';
import { Orders } from './order-source.ts';
import { QUICK } from './quick.ts';
import type { AuditCaseInfo, AuditedCase, AuditReport } from './report.ts';
import { routeOf, Shop, TIMEOUT_MS } from './shop.ts';
import { ShopProcess } from './shop-process.ts';
import { auditMistakes, auditSummary } from './summary.ts';
import { AUDIT_CLASSES, AUDIT_GROUPS, isReportable } from './vocabulary.ts';

/** Every case, in the order of the report. */
const CASES: readonly AuditCase[] = [
  CONTROL,
  ...EVERY_PAYMENT,
  ...SENDER,
  ...IDENTIFIER,
  ...SANDBOX,
  ...AMOUNT,
  ...TRANSPORT,
  ...ONCE,
  ...CHECKOUT,
  ...ROBUSTNESS,
  ...MUCH_LATER,
  ...PROTOTYPE,
];

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
export async function audit(gateway: AuditGateway, given: AuditOptions): Promise<AuditReport> {
  return withoutSecrets(gateway, async () => {
    const asked = withPreset(given);
    const ipnUrl = asked.ipnUrl ?? (await handlerOf(gateway, asked));
    const options = completeOptions({ ...asked, ipnUrl }, gateway.egress);
    const { cancelled } = options;
    cancelled?.throwIfAborted();
    const chosen = chooseCases(options);
    // The receiver of the attacker's own payments accepts every IPN.
    await using attacker = await receiveOnLoopback(() => ({ status: 200 }));
    const shop = new Shop(gateway, options, `${attacker.url}/ipn-of-the-attacker`);
    await using _client = asyncDisposable(async () => shop.database?.close());
    const { orders, notices } = shop;
    await using started = options.shop ? new ShopProcess(options.shop, gateway.env) : undefined;
    shop.process = started;
    await unlessAborted(cancelled, shop.restart());
    await unlessAborted(cancelled, orders.begin());
    await waitForShop(() => shop.isDown(), ipnUrl, options.waitMs, cancelled);
    const reported = new Set<string>();
    const report = () => {
      for (const notice of notices) if (!reported.has(notice)) options.onNotice?.(notice);
      for (const notice of notices) reported.add(notice);
    };
    const run = async () => {
      await shop.learn();
      report();
      return runCases(shop, chosen);
    };
    const cases = await unlessAborted(cancelled, run()).catch(async (error: unknown) => {
      // A failing cleanup must not hide the original error.
      const cleanUp = async () => {
        await orders.abandon().catch(() => {});
        await cancelLeftOver(gateway, orders).catch(() => {});
      };
      await unlessLate(cancelled, cleanUp());
      throw error;
    });
    await unlessLate(cancelled, cancelLeftOver(gateway, orders)).catch((error: unknown) => {
      if (!(error instanceof GatewayError)) throw error;
      notices.add(`the audit could not cancel its pending orders: ${error.message}`);
    });
    report();
    const check = Object.fromEntries(
      Object.entries(shop.check).map(([name, text]) => [name, text && gateway.mask(text)]),
    ) as AuditReport['check'];
    return {
      ...(shop.witness?.learned && { learned: shop.witness.learned }),
      ...(check && { check }),
      cases,
      summary: auditSummary(cases),
      mistakes: auditMistakes(cases),
      missing: whatIsMissing(shop, cases),
      ...(options.signal?.aborted && { interrupted: true as const }),
      // One more has shown the address of the handler.
      orders: hasOrders(options) ? orders.made.length + (asked.ipnUrl === undefined ? 1 : 0) : 0,
      notices: [...notices],
    };
  });
}

/**
 * The handler of a shop: the `ipn_url` of an order, which is then canceled.
 *
 * @throws GatewayError `usage` if the shop places no orders
 */
async function handlerOf(gateway: AuditGateway, options: AuditOptions): Promise<string> {
  const { orderUrl, shop, waitMs, cancelled } = options;
  if (!hasOrders(options) || shop !== undefined) {
    const why =
      shop === undefined
        ? 'audit requires the address of the IPN handler, or a way to place orders in a running shop'
        : '--shop also requires the address of the IPN handler: the shop is not running yet';
    throw usage(why, { hint: hint`For example: ${command('audit', 'http://localhost:3000/ipn')}` });
  }
  if (orderUrl !== undefined) {
    const client = new ExchangeClient(gateway.egress, TIMEOUT_MS, { cancelled });
    await waitForShop((url) => client.isDown(url), orderUrl, waitMs, cancelled);
  }
  const orders = new Orders(gateway, { ...options, ipnUrl: gateway.url }, new Set(), '');
  await orders.begin();
  using order = await orders.take().catch((error: unknown) => {
    const isSetUp = error instanceof GatewayError && ['check_failed', 'timed_out'].includes(error.code);
    throw isSetUp ? usage(error.message) : error;
  });
  await cancelLeftOver(gateway, orders);
  const { origin = '', pathname = '' } =
    order && URL.canParse(order.payment.ipnUrl) ? new URL(order.payment.ipnUrl) : {};
  return origin + pathname;
}

/** @throws GatewayError `usage` for an unknown name */
function chooseCases({ only = [], thorough = false, db, dbCmd, shop }: AuditOptions): readonly AuditCase[] {
  const skipped = only.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
  const wanted = only.filter((name) => !name.startsWith('-'));
  const known = [...CASES.map(({ name }) => name), ...namesOf(AUDIT_GROUPS), ...namesOf(AUDIT_CLASSES)];
  for (const name of [...wanted, ...skipped]) {
    if (known.includes(name)) continue;
    throw usage(`there is no case, group or class "${name}"${didYouMean(name, known)}`);
  }
  // The name of a case means that case, and not the group or class of this name.
  const isCase = (name: string) => CASES.some((one) => one.name === name);
  const named = (names: readonly string[], { name, group, class: kind }: AuditCase) =>
    [name, group, kind].some((one) => names.includes(one) && (one === name || !isCase(one)));
  const given = { db: db ?? dbCmd, shop };
  const isWanted = (one: AuditCase) => (wanted.length ? named(wanted, one) : thorough || QUICK.has(one.name));
  return CASES.filter(({ needs }) => !needs || given[needs] !== undefined).filter(
    (one) => one === CONTROL || (isWanted(one) && !named(skipped, one)),
  );
}

const WAIT_POLL_MS = 100;

/** @throws GatewayError `timed_out` if nothing listens there in time */
async function waitForShop(
  isDown: (url: string) => Promise<boolean>,
  url: string,
  waitMs = 0,
  cancelled?: AbortSignal,
): Promise<void> {
  if (waitMs === 0) return;
  const deadline = performance.now() + waitMs;
  while (await isDown(url)) {
    cancelled?.throwIfAborted();
    if (performance.now() > deadline) {
      const text = `nothing is listening on ${new URL(url).host} after ${duration(waitMs)}`;
      throw new GatewayError('timed_out', text);
    }
    await pause(WAIT_POLL_MS);
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => addAbortListener(signal, () => resolve()));

/** Rejects immediately when cancelled. The running requests and commands then fail automatically. */
export async function unlessAborted<Result>(
  signal: AbortSignal | undefined,
  run: Promise<Result>,
): Promise<Result> {
  if (!signal) return run;
  // Each running request and command adds a listener.
  setMaxListeners(0, signal);
  const rejected = aborted(signal).then(() => {
    throw signal.reason;
  });
  return Promise.race([run, rejected]);
}

/** Time to clean up after the audit is cancelled, since the emulator may hang. */
const CLEAN_UP_MS = 2_000;
const timeToCleanUp = () =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, CLEAN_UP_MS).unref();
  });

/** Waits for the cleanup; for a limited time if the audit was cancelled. */
async function unlessLate(signal: AbortSignal | undefined, run: Promise<void>): Promise<void> {
  if (!signal) return run;
  return Promise.race([run, aborted(signal).then(timeToCleanUp)]);
}

/** Cancels the audit's pending orders: if they were settled later, the shop would ship goods that no customer bought. */
async function cancelLeftOver(gateway: AuditGateway, orders: Orders): Promise<void> {
  for (const { id } of [...orders.made, ...orders.repeated, ...orders.spare]) {
    await gateway.payments.cancel(id, { delivery: 'redirect-only', by: 'audit' }).catch((error: unknown) => {
      if (!(error instanceof GatewayError) || error.code !== 'wrong_state') throw error;
    });
  }
}

/** Maximum concurrent cases; more for a shop that pays late, because its cases mostly wait. */
const CONCURRENCY = 6;
const CONCURRENCY_IF_LATE = 24;
const LATE_MS = 300;
/** The longest wait for IPNs that the shop has queued, while its rows still change. */
const LONGEST_QUEUE_MS = 120_000;
/** The number of responses that are searched for the shop's language. */
const LANGUAGE_SAMPLE = 30;

/**
 * Runs the control, then concurrent cases, then cases that must run alone, and finally the cases that check all others.
 */
async function runCases(shop: Shop, chosen: readonly AuditCase[]): Promise<AuditedCase[]> {
  const { options } = shop;
  const startedAt = performance.now();
  let bystanders: Bystanders | undefined;
  const isStopped = () => options.signal?.aborted === true;
  const run = async (one: AuditCase): Promise<Finding> => {
    const harms = bystanders?.harms ?? 0;
    const finding = await findingOf(shop, one);
    if (finding.verdict === 'fail' || finding.stopped || !finding.answer) return finding;
    const harm = await bystanders?.harmSince(harms).catch(withoutFinding);
    if (harm === undefined) return finding;
    if (shop.holdsBack) bystanders?.ignore();
    const because = { mistake: 'order-not-by-identifier', harm: CHANGES_ORDERS } as const;
    return { ...finding, ...fail(`${harm} ${CHANGES_ORDERS}`, { because, again: true }) };
  };
  // It shows how late the effects of a payment come.
  const control = await run(CONTROL);
  // With a probe of the whole shop, the effect of one case would look like the effect of another.
  const isShared = Object.values(options.probes ?? {}).some((one) =>
    typeof one === 'string' ? !isAboutOneOrder(one) : one.length === 0,
  );
  const isLate = shop.patience.lagMs > LATE_MS;
  const most = isLate ? CONCURRENCY_IF_LATE : CONCURRENCY;
  const limit = isShared ? 1 : most;
  // For a shop that pays late, cases mostly wait. What looks like a second effect is tried again alone.
  const waitsWithOthers = isLate && !shop.witness && shop.probes.effects.size === 0;
  const isAlone = ({ alone }: AuditCase) => alone === 'disturbs' || (alone === 'counts' && !waitsWithOthers);
  const done = new Map<AuditCase, AuditedCase>();
  for (const one of chosen) {
    const earlier = options.finished?.find(({ name }) => name === one.name);
    if (earlier && one !== CONTROL) done.set(one, earlier);
  }
  const own = chosen.filter((one) => !done.has(one));
  /** The time that a case takes, in that of the control. */
  const effort = (one: AuditCase) => {
    if (one === CONTROL || isAlone(one) || one.last) return 1;
    return 1 / limit / (one.run.rejecting ? GROUP_SIZE : 1);
  };
  const effortOf = (some: readonly AuditCase[]) => some.reduce((sum, one) => sum + effort(one), 0);
  /** Convictions for the loss of a payment. They hold only if the shop loses none without them, which is known last. */
  const losses = new Map<AuditCase, [Finding, string | null]>();
  const record = (one: AuditCase, finding: Finding, seen: string | null = null) => {
    const proven = provenBy(shop, done.get(CONTROL), one, finding);
    if (one !== CONTROL && proven.verdict === 'fail' && proven.lost && !losses.has(one)) {
      losses.set(one, [proven, seen]);
      return;
    }
    const audited = auditedCase(shop, one, proven, seen);
    done.set(one, audited);
    const [doneEffort, whole] = [effortOf(own.filter((other) => done.has(other))), effortOf(own)];
    const leftMs = ((performance.now() - startedAt) * (whole - doneEffort)) / doneEffort;
    options.onCase?.(audited, { done: done.size, of: chosen.length, leftMs });
  };
  record(CONTROL, control);
  bystanders = new Bystanders(shop);
  shop.isAlone = false;
  const impossible = whyNothingElseRuns(shop, done.get(CONTROL));
  if (impossible)
    for (const one of chosen) {
      // Attacks from a browser need no IPN, only orders.
      const isByBrowser = CHECKOUT.includes(one) && impossible.verdict === 'skipped';
      if (!done.has(one) && !isByBrowser) record(one, impossible);
    }
  const cases = chosen.filter((one) => !done.has(one));
  /** Convictions and notes, which are tried again alone and on a fresh order. */
  const suspected = new Map<AuditCase, Finding>();
  const concurrent = cases.filter((one) => !isAlone(one) && !one.last);
  const passed = async (together: readonly AuditCase[]): Promise<ReadonlyMap<AuditCase, Finding>> => {
    const harms = bystanders.harms;
    const found = await passedTogether(shop, together).catch(withoutFinding);
    return found && (await bystanders.harmSince(harms).catch(withoutFinding)) === undefined
      ? found
      : new Map();
  };
  await runConcurrently(inGroups(concurrent), limit, async (group) => {
    if (isStopped()) return;
    const found = group.length > 1 ? await passed(group) : new Map<AuditCase, Finding>();
    for (const one of group) {
      if (isStopped() && !found.has(one)) continue;
      const finding = found.get(one) ?? (await run(one));
      if (['fail', 'note'].includes(finding.verdict) || finding.stopped)
        suspected.set(one, one.alone ? { ...finding, again: true } : finding);
      else record(one, finding);
    }
  });
  shop.isAlone = true;
  // A shop that works off its IPNs one by one has many left, and seems to lose them.
  const isBehind = [...suspected.values()].some(({ lost }) => lost);
  if (shop.control)
    await shop
      .lookUntilAtRest(shop.control.payment, shop.patience.restMs, isBehind ? LONGEST_QUEUE_MS : undefined)
      .catch(withoutFinding);
  if ([...suspected.values()].some(({ stopped }) => stopped)) await shop.restart();
  /** Proven effects of forged IPNs that do not pay, with the first case that has each. */
  const traces = new Map<string | undefined, string>();
  for (const one of chosen) {
    const finding = suspected.get(one);
    if (!finding || isStopped()) continue;
    const isTrace = one.group === 'sender' && finding.because?.mistake === 'effects-before-checks';
    const first = isTrace ? traces.get(finding.why) : undefined;
    if (first !== undefined) {
      record(one, skipped(`not tried twice: ${first} proves the same effect`));
      continue;
    }
    const [proven, seen] = await tryAgain(one, finding, run, shop);
    if (isTrace && proven.verdict === 'fail') traces.set(finding.why, one.name);
    record(one, proven, seen);
  }
  const runAlone = async (some: readonly AuditCase[]) => {
    for (const one of some) {
      if (isStopped()) break;
      const finding = await run(one);
      record(one, ...(await tryAgain(one, finding, run, shop)));
    }
  };
  await runAlone(cases.filter((one) => isAlone(one) && !one.last));
  let waitMs: number | undefined;
  for (const [one, [{ lost }, seen]] of losses) {
    const look = lost && (await shop.lookUntilPaid(lost, waitMs).catch(withoutFinding));
    // What is not paid by now will not be, and neither will the others.
    if (!look?.paid) {
      waitMs = 0;
      continue;
    }
    losses.delete(one);
    const why = 'its order was paid later: your shop handles IPNs more slowly than they came';
    record(one, unproven(why), seen);
  }
  // These may send the genuine IPN again.
  await runAlone(cases.filter((one) => one.last));
  const losesOthers = EVERY_PAYMENT.some((one) => done.get(one)?.verdict === 'fail');
  // Then it is not known.
  if (isStopped()) losses.clear();
  for (const [one, [finding, seen]] of losses) {
    const also = unproven('this shop also loses payments without this request');
    record(one, losesOthers ? { ...finding, ...also } : finding, seen);
  }
  const left = chosen.filter((one) => !done.has(one));
  if (left.length) {
    shop.cutShort ??= 'it was interrupted';
    for (const one of left) done.set(one, auditedCase(shop, one, skipped('the audit was interrupted'), null));
  }
  return withOneCause(chosen.flatMap((one) => done.get(one) ?? []));
}

/** How many cases share an order. */
const GROUP_SIZE = 10;

/** Groups of cases whose requests must all be rejected; the others each form a group of their own. */
function inGroups(cases: readonly AuditCase[]): AuditCase[][] {
  const sharing = cases.filter(({ run }) => run.rejecting);
  const groups = Array.from({ length: Math.ceil(sharing.length / GROUP_SIZE) }, (_, index) =>
    sharing.slice(index * GROUP_SIZE, (index + 1) * GROUP_SIZE),
  );
  return [...groups, ...cases.filter(({ run }) => !run.rejecting).map((one) => [one])];
}

/**
 * Runs a case alone that was running when the shop stopped, if the audit can start the shop again. Only a case that stops
 * it alone is blamed, for whatever it tried: a crash shows only that the handler breaks.
 */
async function afterStop(
  one: AuditCase,
  first: Finding,
  run: (one: AuditCase) => Promise<Finding>,
  shop: Shop,
): Promise<[Finding, string | null]> {
  if (!shop.process || ((await shop.isDown()) && !(await shop.restart()))) return [first, null];
  shop.cutShort = null;
  const alone = await run(one);
  if (!alone.stopped) return tryAgain(one, alone, run, shop);
  shop.cutShort = null;
  const last = shop.seen.at(-1);
  const shown = last ? evidence(shop, last.request, last.observation) : {};
  await shop.restart();
  const because = { mistake: 'handler-breaks', harm: BREAKS } as const;
  const why = `Your shop stops when it gets this request, also alone in a fresh process. ${BREAKS}`;
  return [{ ...alone, ...shown, verdict: 'fail', why, because }, '2/2'];
}

/** How often a race is tried until it is seen twice. */
const RACE_TRIES = 5;

/**
 * Runs a case that failed again: only what happens twice is a failure.
 *
 * @returns the finding, and how often it was seen, such as `2/2`; null for a finding that needs no proof
 */
async function tryAgain(
  one: AuditCase,
  first: Finding,
  run: (one: AuditCase) => Promise<Finding>,
  shop: Shop,
): Promise<[Finding, string | null]> {
  if (first.stopped) return afterStop(one, first, run, shop);
  if (first.verdict === 'note' && first.answer) {
    if (!shop.orders.areLimited) shop.orders.allowAnother();
    return [await run(one), null];
  }
  // What a request of the shop itself shows does not change.
  if (first.verdict !== 'fail' || !first.answer) return [first, null];
  const most = one.isRace ? RACE_TRIES : 2;
  let [seen, tries, last] = [1, 1, first];
  while (seen < 2 && tries < most && !shop.options.signal?.aborted) {
    // On a new order: one that other cases have used may be closed, which its state does not show.
    if (!shop.orders.areLimited) shop.orders.allowAnother();
    const next = await run(one);
    tries++;
    if (next.verdict === 'fail') [seen, last] = [seen + 1, next];
    // Something else, such as a concurrent case, may have caused what was seen.
    else if (first.again) return [next, null];
  }
  if (seen >= 2) {
    const without = await withoutRequest(one, run, shop);
    // What a response shows is proven by it. A shop that takes no payment any more has been broken by the request.
    const isProven =
      one.group === 'leaks' ||
      without?.verdict !== 'fail' ||
      (last.lost && (await withoutRequest(one, run, shop))?.verdict === 'fail');
    if (isProven) return [last, `${seen}/${tries}`];
    const why = `the same happens without this request: ${without.why ?? one.harm}`;
    return [{ ...last, verdict: 'unproven', why }, `${seen}/${tries}`];
  }
  const times = tries === 1 ? 'seen once, and not tried again' : `seen once in ${tries} tries`;
  const why = `${times}: ${first.why ?? one.harm}`;
  return [{ ...first, verdict: 'unproven', why }, `${seen}/${tries}`];
}

/** Runs a case without the request that is on trial, whose conviction would then prove nothing. */
async function withoutRequest(
  one: AuditCase,
  run: (one: AuditCase) => Promise<Finding>,
  shop: Shop,
): Promise<Finding | undefined> {
  if (!shop.orders.areLimited) shop.orders.allowAnother();
  shop.holdsBack = true;
  try {
    return await run(one);
  } finally {
    shop.holdsBack = false;
  }
}

/** Why no other case can run. */
function whyNothingElseRuns(shop: Shop, control: AuditedCase | undefined): Finding | undefined {
  if (control?.verdict === 'fail') {
    return skipped('the control failed: a shop that rejects every IPN also rejects forged ones');
  }
  // Without a probe, responses can still show a mistake.
  const isSetUp = control?.verdict === 'pass' || (control?.sent !== null && !shop.canLook);
  return isSetUp ? undefined : unproven(`the control proved nothing: ${control?.why}`);
}

/** Why an audit proves nothing, or was cut short; null if it was complete. */
function whatIsMissing({ cutShort, canLook }: Shop, cases: readonly AuditedCase[]): string | null {
  const isEmpty = ({ verdict }: AuditedCase) => verdict === 'unproven' || verdict === 'skipped';
  const [control, ...attacks] = cases;
  if (control && cases.every(isEmpty)) return withoutStop(`nothing is proven: ${control.why}`);
  if (cutShort !== null) {
    const empty = cases.filter(isEmpty).length;
    return `the audit was cut short, because ${cutShort}: ${empty} of ${pluralize(cases.length, 'case')} prove nothing`;
  }
  const unproven = attacks.filter(({ verdict }) => verdict === 'unproven');
  // Without a probe, that is so in every audit.
  if (canLook && unproven.length > cases.length / 2)
    return withoutStop(
      `${unproven.length} of ${pluralize(cases.length, 'case')} prove nothing: ${unproven[0]?.why}`,
    );
  const [first] = attacks;
  return first && control?.verdict === 'pass' && attacks.every(isEmpty)
    ? withoutStop(`nothing is proven, except that the shop accepts a correct IPN: ${first.why}`)
    : null;
}

const withoutStop = (text: string) => text.replace(/\.$/, '');

/** After a failure, starts nothing else, but finishes what is running before it rejects. */
export async function runConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const work = async () => {
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
    } catch (error) {
      queue.length = 0;
      throw error;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: limit }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** What cannot be seen proves nothing. */
function withoutFinding(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error;
}

/** Runs a case. A case that cannot run, or that crashes the shop, is also a finding. */
async function findingOf(shop: Shop, one: AuditCase): Promise<Finding> {
  if (one.needsOrders && !shop.hasOrders) return skipped(`the order is made up: ${one.needsOrders}`);
  shop.running.add(one.name);
  try {
    return await one.run(shop);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message } = error;
    if (error instanceof Withheld) return skipped(message);
    const ended = one === CONTROL ? undefined : await shop.outage();
    if (ended !== undefined) shop.cutShort ??= `the shop stopped while ${listed([...shop.running])} ran`;
    else if (error.code === 'no_server') shop.cutShort = 'the emulator stopped';
    const why = ended === undefined ? message : `the shop stopped: ${ended}`;
    if (ended !== undefined && !shop.process)
      shop.notices.add(`${why}. With --shop, the audit starts it again and finds the request that stops it`);
    return { ...unproven(why), observed: message, ...(ended !== undefined && { stopped: true }) };
  } finally {
    shop.running.delete(one.name);
  }
}

/** The first names, in words. */
function listed(names: readonly string[]): string {
  const rest = names.length - CONCURRENCY;
  return `${names.slice(0, CONCURRENCY).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/**
 * A rejection proves something only if the control passed, and only at an address that accepts a genuine IPN. A missing
 * handler, or one that ignores everything, looks the same.
 */
function provenBy(shop: Shop, control: AuditedCase | undefined, one: AuditCase, finding: Finding): Finding {
  if (finding.verdict !== 'pass' || one === CONTROL) return finding;
  if (control?.verdict !== 'pass') {
    const why = 'nothing shows that the handler works: one that ignores every request looks the same';
    return { ...finding, verdict: 'unproven', why };
  }
  if (!finding.answer) return finding;
  const { url, status } = finding.answer;
  // Such a response may come from a server without a handler.
  const isNoHandler = status === null || status === 404 || status === 405 || (status >= 300 && status < 400);
  const isReturn = one.group === 'return';
  if (!isNoHandler || (isReturn ? status !== null : routeOf(url) === shop.calibration.route)) return finding;
  const problem = `${status === null ? 'no response' : `status ${status}`} from ${url}`;
  const why = isReturn ? problem : `${problem}, which has not accepted a genuine IPN`;
  return { ...finding, verdict: 'unproven', why };
}

/** The result of a case for the report, without secrets that the shop may have revealed. */
function auditedCase(shop: Shop, one: AuditCase, finding: Finding, seen: string | null): AuditedCase {
  const { verdict, sent, observed, why, curl, unpaid, because = one } = finding;
  const { mask } = shop.gateway;
  const isBad = isReportable(verdict);
  const known: Fix = finding.fix ?? MISTAKES[because.mistake];
  const language = languageOf(shop.seen.slice(0, LANGUAGE_SAMPLE).map(({ observation }) => observation));
  const codes = typeof known.code === 'function' ? known.code(signatureCode()) : known.code;
  const code = codes && language ? { [language]: codes[language] } : codes;
  const lines = Object.entries(code ?? {}).map(([of, line]) => `${of}: ${line}`);
  return {
    name: one.name,
    group: one.group,
    class: one.class,
    about: one.about,
    verdict,
    sent: sent && mask(sent),
    observed: observed && mask(observed),
    why: mask(why ?? (isBad ? because.harm : one.about)),
    mistake: isBad ? because.mistake : null,
    cost: isBad ? because.harm : null,
    fix: isBad ? [known.text, ...lines].join('\n') : null,
    instruction: isBad ? known.text : null,
    code: (isBad && code) || null,
    unpaid: (isBad && unpaid) || null,
    curl: curl && mask(one.state === undefined ? curl : `# Before it: ${one.state}.\n${curl}`),
    seen,
  };
}

/** A shop that accepts any signature accepts everything an attacker sends: one mistake, and one fix. */
function withOneCause(cases: AuditedCase[]): AuditedCase[] {
  const any = cases.find(({ name }) => name === 'signature-garbage');
  if (!any?.unpaid) return cases;
  const { mistake, cost, fix, instruction, code } = any;
  return cases.map((one) =>
    one.mistake && one.group === 'sender' ? { ...one, mistake, cost, fix, instruction, code } : one,
  );
}
