import { shorten } from '../contract/address.ts';
import type { AuditVerdict } from '../contract/audit.ts';
import type { AuditCaseInfo } from '../contract/audit-report.ts';
import type { Payment } from '../contract/payment.ts';
import type { Observation, ProbeRequest } from './client.ts';
import { curlOf, described, shotText } from './describe-request.ts';
import { Ipn } from './ipn.ts';
import type { MistakeName } from './mistakes.ts';
import type { OrderSnapshot } from './probe.ts';
import type { Shop } from './shop.ts';

/** What a case found out. */
export interface Finding {
  verdict: AuditVerdict;
  sent: string | null;
  observed: string | null;
  /** Instead of what the case says of its verdict. */
  why?: string;
  curl: string | null;
  /** Instead of the fix for the mistake of the case. */
  fix?: string;
  /** What went out unpaid: the order that it paid. */
  unpaid?: Pick<Payment, 'amount' | 'currency'>;
  /** Where it was sent and what came back, of a single request. */
  answer?: { url: string; status: number | null };
  /** It rests on what something that runs beside it may have done, too: it is tried again alone. */
  again?: true;
}

export interface AuditCase extends AuditCaseInfo {
  /** What it costs the merchant, in a sentence. */
  harm: string;
  mistake: MistakeName;
  /** It disturbs others, or is disturbed by them: nothing else runs beside it. */
  alone?: true;
  /** It looks at what all others have seen. */
  last?: true;
  run(shop: Shop): Promise<Finding>;
}

/** A case that is part of a table: how it runs is said apart. */
export type CaseText = Omit<AuditCase, 'run'>;

/** Cases that have all but their name and what they are about in common. */
export const family =
  (common: Omit<CaseText, 'name' | 'about'>) =>
  (name: string, about: string): CaseText => ({ name, about, ...common });

export const NO_ORDERS = 'there are no more orders: --orders allows more of them';

export function skipped(why: string): Finding {
  return { verdict: 'skipped', sent: null, observed: null, why, curl: null };
}

/** An order for a case, handed back when it is done. */
export async function withOrder(
  shop: Shop,
  run: (payment: Payment, before: OrderSnapshot) => Promise<Finding>,
): Promise<Finding> {
  const payment = await shop.parts.orders.take();
  if (!payment) return skipped(NO_ORDERS);
  let untouched = false;
  try {
    if (shop.canLook && shop.parts.orders.isRepeated(payment)) {
      const why = `several orders have the identifier "${payment.identifier}": the probe cannot tell them apart`;
      return { ...skipped(why), verdict: 'unproven' };
    }
    const before = await shop.look(payment);
    if (before.paid) {
      return {
        ...skipped('the probe said that the order is paid before anything was sent: do identifiers repeat?'),
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

/** What was sent and seen, for a finding. */
export function evidence(shot: ProbeRequest, observation: Observation, said?: string) {
  const answer = { url: shot.url, status: observation.status };
  return { sent: said ?? shotText(shot), observed: described(observation), curl: curlOf(shot), answer };
}

/** Sends something, and looks at an order when what the shop did with it shows. */
export async function sendAndLook(shop: Shop, payment: Payment, shot: ProbeRequest) {
  const observation = await shop.send(shot);
  const after = await shop.lookAfterGrace(payment);
  return { shown: evidence(shot, observation), after };
}

/**
 * The verdict where there is no probe.
 *
 * @param matter what a probe would tell
 */
export function withoutProbe(matter = 'what the shop did with it'): { verdict: 'unproven'; why: string } {
  return { verdict: 'unproven', why: `no probe tells ${matter}: a status code alone proves little` };
}

/** The verdict on something that must not pay an order. */
export function judgeRefused(
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
    const why = `The order was not paid, but this changed: ${changed.join(', ')}.`;
    return { ...shown, verdict: 'fail', why, again: true };
  }
  if (!shop.canLook) return { ...shown, ...withoutProbe() };
  return { ...shown, verdict: 'pass' };
}

/**
 * The verdict on what an IPN that is not authentic left behind of an order that it did not pay: anything else than a
 * line of a log or a count is harm.
 *
 * @returns undefined where nothing is left
 */
export function judgeTraces(
  shop: Shop,
  before: OrderSnapshot,
  after: OrderSnapshot,
): Pick<Finding, 'verdict' | 'why'> | undefined {
  if (after.text === before.text || shop.changesByItself) return undefined;
  const change = differenceOf(before.text, after.text);
  return isCountOrLog(before.text, after.text)
    ? { verdict: 'note', why: `An IPN that must be refused is counted or logged with the order: ${change}.` }
    : { verdict: 'fail', why: `An IPN that must be refused changed the order: ${change}.` };
}

/** What a probe says otherwise: the members of JSON that changed, else both texts. */
function differenceOf(before: string, after: string): string {
  const members = (text: string): Map<string, string> => {
    try {
      return new Map(Object.entries(JSON.parse(text)).map(([name, value]) => [name, JSON.stringify(value)]));
    } catch {
      return new Map();
    }
  };
  const [was, is] = [members(before), members(after)];
  const changed = [...is].filter(([name, value]) => was.get(name) !== value);
  const shown = changed.map(
    ([name, value]) => `${name} from ${shorten(was.get(name) ?? 'nothing')} to ${shorten(value)}`,
  );
  return shown.join(', ') || `${shorten(before)} before, ${shorten(after)} after it`;
}

/** Whether a text differs by numbers, longer lists and further lines only. */
export function isCountOrLog(before: string, after: string): boolean {
  const plain = (text: string): unknown => {
    try {
      return JSON.parse(text, (_, value) =>
        typeof value === 'number' || Array.isArray(value) ? null : value,
      );
    } catch {
      return undefined;
    }
  };
  const [one, other] = [plain(before), plain(after)];
  if (one !== undefined && other !== undefined) return JSON.stringify(one) === JSON.stringify(other);
  return after.startsWith(before) || after.replace(/\d+/g, '0') === before.replace(/\d+/g, '0');
}

/** The verdict on something that must pay an order. */
export function judgeTaken(shop: Shop, after: OrderSnapshot): Pick<Finding, 'verdict' | 'why'> {
  if (!shop.canLook) return withoutProbe();
  return after.paid ? { verdict: 'pass' } : { verdict: 'fail' };
}

/** What a forger starts from. */
export interface Target {
  shop: Shop;
  payment: Payment;
  /** The correct IPN, which the shop has not got. */
  ipn: Ipn;
  /** What posts an IPN to the order's own address, query included. */
  post: (ipn: Ipn) => ProbeRequest;
}

export function targetOf(shop: Shop, payment: Payment): Target {
  return { shop, payment, ipn: shop.ipnOf(payment), post: (ipn) => shop.shot(shop.addressOf(payment), ipn) };
}

/** An IPN is posted to the order's own address. */
type Sent = Ipn | ProbeRequest;
type Forged = Sent | readonly Sent[] | string;
export type Forge = (target: Target) => Forged | Promise<Forged>;

const shotOf = (sent: Sent, { post }: Target) => (sent instanceof Ipn ? post(sent) : sent);

/**
 * What is wrong with an answer, whatever was paid; undefined when nothing is.
 *
 * @param first the answer to the first request of the case
 */
type FindFlaw = (observation: Observation, first: Observation) => string | undefined;

/**
 * A case that sends something to a pending order which must not pay it.
 *
 * @param forge what is sent, one after another until one does harm; a text says why it is skipped
 */
export function refuses(text: CaseText, forge: Forge, findFlaw: FindFlaw = () => undefined): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const target = targetOf(shop, payment);
        const forged = await forge(target);
        if (typeof forged === 'string') return skipped(forged);
        let finding = skipped('there is nothing to send');
        let first: Observation | undefined;
        for (const shot of [forged].flat().map((sent) => shotOf(sent, target))) {
          const observation = await shop.send(shot);
          first ??= observation;
          const shown = evidence(shot, observation);
          const why = findFlaw(observation, first);
          if (why !== undefined) return { ...shown, verdict: 'fail', why };
          const after = await shop.lookAfterGrace(payment);
          finding = judgeRefused(shop, before, after, shown);
          if (finding.verdict === 'pass' && text.group === 'sender') {
            finding = { ...finding, ...judgeTraces(shop, before, after) };
          }
          if (finding.verdict === 'fail') return finding;
        }
        return finding;
      }),
  };
}

/** A case that sends something odd which must pay its order all the same. */
export function takes(text: CaseText, make: (target: Target) => Sent): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment) => {
        await shop.pay(payment);
        const target = targetOf(shop, payment);
        const shot = shotOf(make(target), target);
        const observation = await shop.send(shot);
        const after = await shop.lookUntilPaid(payment);
        return { ...evidence(shot, observation), ...judgeTaken(shop, after) };
      }),
  };
}

/** Pays an order the correct way. @returns how the shop looks then; undefined when it did not take it */
export async function paidOrder(
  shop: Shop,
  payment: Payment,
): Promise<{ look: OrderSnapshot; shot: ProbeRequest } | undefined> {
  await shop.pay(payment);
  const shot = shop.shot(shop.addressOf(payment), shop.ipnOf(payment));
  await shop.send(shot);
  const look = await shop.lookUntilPaid(payment);
  if (look.paid === false) return undefined;
  // What follows a payment may come a little later than the payment itself.
  await shop.grace();
  return { look: await shop.look(payment), shot };
}

/** A case whose order is paid already. */
export function afterPayment(
  text: CaseText,
  run: (
    target: Target,
    paid: { look: OrderSnapshot; shot: ProbeRequest },
    before: OrderSnapshot,
  ) => Promise<Finding>,
): AuditCase {
  return {
    ...text,
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        const paid = await paidOrder(shop, payment);
        if (!paid) return { ...skipped('the order was not paid by its correct IPN'), verdict: 'unproven' };
        return run(targetOf(shop, payment), paid, before);
      }),
  };
}
