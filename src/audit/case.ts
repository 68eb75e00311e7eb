import { shorten } from '../contract/address.ts';
import type { AuditVerdict } from '../contract/audit.ts';
import type { AuditCaseInfo } from '../contract/audit-report.ts';
import type { Payment } from '../contract/payment.ts';
import type { Observation, ProbeRequest } from './client.ts';
import { curlOf, described, requestText } from './describe-request.ts';
import { Ipn } from './ipn.ts';
import type { Fix, MistakeName } from './mistakes.ts';
import type { OrderSnapshot } from './probe.ts';
import type { Shop } from './shop.ts';

/** The result of a case. */
export interface Finding {
  verdict: AuditVerdict;
  sent: string | null;
  observed: string | null;
  /** Overrides the default explanation of the verdict. */
  why?: string;
  curl: string | null;
  /** Overrides the mistake of the case, and its cost. */
  because?: { mistake: MistakeName; harm: string };
  /** Overrides the fix for the case's mistake. */
  fix?: Fix;
  /** The goods that the attack obtained without a payment. */
  unpaid?: Pick<Payment, 'amount' | 'currency'>;
  /** The address and response status of a single request. */
  answer?: { url: string; status: number | null };
  /** Whether a concurrent case may have caused it: if so, the case is run again alone. */
  again?: true;
}

export interface AuditCase extends AuditCaseInfo {
  /** The cost of the mistake for the merchant, in a sentence. */
  harm: string;
  mistake: MistakeName;
  /** Whether the case affects other cases, or is affected by them: no other case runs at the same time. */
  alone?: true;
  /** Whether the case checks the responses to all other cases. */
  last?: true;
  run(shop: Shop): Promise<Finding>;
}

/** A case without its code. */
export type CaseText = Omit<AuditCase, 'run'>;

/** Creates cases that differ only in name and description. */
export const family =
  (common: Omit<CaseText, 'name' | 'about'>) =>
  (name: string, about: string): CaseText => ({ name, about, ...common });

export const NO_ORDERS = 'no orders are left: raise --orders';

export function skipped(why: string): Finding {
  return { verdict: 'skipped', sent: null, observed: null, why, curl: null };
}

/** Runs a case with an order, and releases the order afterwards. */
export async function withOrder(
  shop: Shop,
  run: (payment: Payment, before: OrderSnapshot) => Promise<Finding>,
): Promise<Finding> {
  const payment = await shop.parts.orders.take();
  if (!payment) return skipped(NO_ORDERS);
  let untouched = false;
  try {
    if (shop.canLook && !shop.parts.distinguishes && shop.parts.orders.isRepeated(payment)) {
      const why = `several orders share the identifier "${payment.identifier}", and the probe cannot tell them apart`;
      return { ...skipped(why), verdict: 'unproven' };
    }
    const before = await shop.look(payment);
    if (before.paid) {
      return {
        ...skipped('the probe reports the order as paid before anything was sent: is its identifier reused?'),
        verdict: 'unproven',
      };
    }
    const finding = await run(payment, before);
    const after = shop.canLook ? await shop.look(payment) : before;
    untouched = finding.verdict === 'pass' && after.paid === false && after.text === before.text;
    return finding;
  } finally {
    shop.parts.orders.release(payment, untouched);
  }
}

/** The request and its response, for a finding. */
export function evidence(request: ProbeRequest, observation: Observation, sent = requestText(request)) {
  const answer = { url: request.url, status: observation.status };
  return { sent, observed: described(observation), curl: curlOf(request), answer };
}

/** Sends a request, waits until the shop has processed it, and probes the order. */
export async function sendAndLook(shop: Shop, payment: Payment, request: ProbeRequest) {
  const observation = await shop.send(request);
  const after = await shop.lookAfterGrace(payment);
  return { shown: evidence(request, observation), after };
}

/** @param matter the fact that a probe would show */
export function withoutProbe(matter = 'what the shop did'): { verdict: 'unproven'; why: string } {
  return { verdict: 'unproven', why: `no probe shows ${matter}: a status code alone proves little` };
}

/** The verdict on a request that must not mark an order as paid. */
export function judgeRejected(
  shop: Shop,
  before: OrderSnapshot,
  after: OrderSnapshot,
  shown: ReturnType<typeof evidence>,
  bad: 'fail' | 'at-risk' = 'fail',
): Finding {
  if (after.paid) {
    const { amount, currency } = after.order;
    const observed = `${shown.observed}, and the order is paid`;
    return { ...shown, observed, verdict: bad, unpaid: { amount, currency } };
  }
  const changed = shop.changedEffects(before, after);
  if (changed.length) {
    const why = `The order is not paid, but this changed: ${changed.join(', ')}.`;
    return { ...shown, verdict: 'fail', why, again: true };
  }
  if (!shop.canLook) return { ...shown, ...withoutProbe() };
  return { ...shown, verdict: 'pass' };
}

/** The harm of an IPN that changes an order without a payment. */
export const CHANGES_ORDERS = 'Anyone can cancel or reopen the orders of other customers, even paid ones.';
/** The harm of an IPN that pays an order although its status is not success. */
export const PAYS_BY_ANY_STATUS = 'An IPN for a payment that did not succeed marks the order as paid.';
const CHANGED = { mistake: 'status-not-checked', harm: CHANGES_ORDERS } as const;

/**
 * The verdict on the changes that a forged IPN made to an order without paying it. Only a log line or a count is
 * harmless.
 *
 * @returns undefined if the order is unchanged
 */
export function judgeTraces(
  before: OrderSnapshot,
  after: OrderSnapshot,
): Pick<Finding, 'verdict' | 'why' | 'again' | 'because'> | undefined {
  if (after.text === before.text) return undefined;
  const change = differenceOf(before.text, after.text);
  const isHarmless = isCountOrLog(before.text, after.text);
  const why = isHarmless
    ? `A forged IPN changed only a count or a log of the order: ${change}. If this is more than a record of the IPN, such as stock or credit, it is a mistake.`
    : `A forged IPN changed the order: ${change}.`;
  return { verdict: isHarmless ? 'note' : 'fail', why, again: true, because: CHANGED };
}

/** Whether a text is a time today, in any time zone. A later time may be the end of a customer&#39;s access. */
const isRecentTime = (text: string) =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) && Math.abs(Date.parse(text) - Date.now()) < DAY_MS;
const DAY_MS = 86_400_000;

/** The difference between two outputs of a probe: the changed JSON members, otherwise both texts. */
function differenceOf(before: string, after: string): string {
  const members = (text: string): Map<string, string> => {
    try {
      return new Map(Object.entries(JSON.parse(text)).map(([name, value]) => [name, JSON.stringify(value)]));
    } catch {
      return new Map();
    }
  };
  const [old, current] = [members(before), members(after)];
  const changed = [...current].filter(([name, value]) => old.get(name) !== value);
  const shown = changed.map(
    ([name, value]) => `${name} from ${shorten(old.get(name) ?? 'nothing')} to ${shorten(value)}`,
  );
  if (shown.length) return shown.join(', ');
  const [was, is] = [before, after].map((text) => text.split('\n'));
  const line = is?.findIndex((text, index) => text !== was?.[index]) ?? -1;
  return `${shorten(was?.[line] ?? 'nothing')} before, ${shorten(is?.[line] ?? 'nothing')} after`;
}

/** Whether texts differ only in numbers, recent times, list lengths and added lines. */
export function isCountOrLog(before: string, after: string): boolean {
  const plain = (text: string): unknown => {
    try {
      return JSON.parse(text, (_, value) => {
        if (typeof value === 'number' || Array.isArray(value)) return null;
        return typeof value === 'string' && isRecentTime(value) ? 'a time' : value;
      });
    } catch {
      return undefined;
    }
  };
  const [one, other] = [plain(before), plain(after)];
  if (one !== undefined && other !== undefined) return JSON.stringify(one) === JSON.stringify(other);
  return after.startsWith(before) || after.replace(/\d+/g, '0') === before.replace(/\d+/g, '0');
}

/** The verdict on a request that must mark an order as paid. */
export function judgeAccepted(shop: Shop, after: OrderSnapshot): Pick<Finding, 'verdict' | 'why'> {
  if (!shop.canLook) return withoutProbe();
  return after.paid ? { verdict: 'pass' } : { verdict: 'fail' };
}

/** The order that a case attacks. */
export interface Target {
  shop: Shop;
  payment: Payment;
  /** The correct IPN, which the shop has not yet received. */
  ipn: Ipn;
  /** The request that posts an IPN to the order's ipn_url. */
  post: (ipn: Ipn) => ProbeRequest;
}

export function targetOf(shop: Shop, payment: Payment): Target {
  return {
    shop,
    payment,
    ipn: shop.ipnOf(payment),
    post: (ipn) => shop.requestTo(shop.addressOf(payment), ipn),
  };
}

/** An IPN is posted to the order's ipn_url. */
type Sent = Ipn | ProbeRequest;
type Forged = Sent | readonly Sent[] | string;
export type Forge = (target: Target) => Forged | Promise<Forged>;

const requestOf = (sent: Sent, { post }: Target) => (sent instanceof Ipn ? post(sent) : sent);

/**
 * Finds a flaw in a response, whether or not the order is paid.
 *
 * @param first the response to the first request of the case
 */
type FindFlaw = (observation: Observation, first: Observation) => string | undefined;

/**
 * A case whose requests must not mark a pending order as paid.
 *
 * @param forge the requests, sent one after another until one does harm, or the reason to skip the case
 */
export function rejects(text: CaseText, forge: Forge, findFlaw: FindFlaw = () => undefined): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const target = targetOf(shop, payment);
        const forged = await forge(target);
        if (typeof forged === 'string') return skipped(forged);
        let finding = skipped('there is nothing to send');
        let first: Observation | undefined;
        for (const request of [forged].flat().map((sent) => requestOf(sent, target))) {
          const observation = await shop.send(request);
          first ??= observation;
          const shown = evidence(request, observation);
          const why = findFlaw(observation, first);
          if (why !== undefined) return { ...shown, verdict: 'fail', why };
          const after = await shop.lookAfterGrace(payment);
          finding = judgeRejected(shop, before, after, shown);
          if (finding.verdict === 'pass' && text.group === 'sender') {
            finding = { ...finding, ...judgeTraces(before, after) };
          }
          if (finding.verdict === 'fail') return finding;
        }
        return finding;
      }),
  };
}

/** A case whose unusual request must mark its order as paid. */
export function accepts(text: CaseText, make: (target: Target) => Sent): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await shop.pay(payment);
        const target = targetOf(shop, payment);
        const request = requestOf(make(target), target);
        const observation = await shop.send(request);
        const after = await shop.lookUntilPaid(payment);
        return { ...evidence(request, observation), ...judgeAccepted(shop, after) };
      }),
  };
}

/** Pays an order with its correct IPN. @returns undefined if the shop did not accept it */
export async function paidOrder(
  shop: Shop,
  payment: Payment,
): Promise<{ look: OrderSnapshot; request: ProbeRequest } | undefined> {
  await shop.pay(payment);
  const request = shop.requestTo(shop.addressOf(payment), shop.ipnOf(payment));
  await shop.send(request);
  const look = await shop.lookUntilPaid(payment);
  if (look.paid === false) return undefined;
  // The effects of a payment may appear shortly after it.
  await shop.grace();
  return { look: await shop.look(payment), request };
}

/** A case with a paid order. */
export function afterPayment(
  text: CaseText,
  run: (
    target: Target,
    paid: { look: OrderSnapshot; request: ProbeRequest },
    before: OrderSnapshot,
  ) => Promise<Finding>,
): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const paid = await paidOrder(shop, payment);
        if (!paid)
          return { ...skipped('its correct IPN did not mark the order as paid'), verdict: 'unproven' };
        return run(targetOf(shop, payment), paid, before);
      }),
  };
}
