import type { Payment } from '../contract/payment.ts';
import type { ExchangeRequest, Observation } from '../delivery/exchange.ts';
import { isCountOrLog, type OrderSnapshot } from '../shop/probe.ts';
import { performance } from '../system/real-time.ts';
import { hundredth, Ipn } from './ipn.ts';
import type { Fix, MistakeName } from './mistakes.ts';
import type { AuditCaseInfo } from './report.ts';
import { curlOf, curlsOf, described, requestText } from './request-text.ts';
import type { Shop } from './shop.ts';
import type { AuditVerdict } from './vocabulary.ts';

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
  /** Whether the shop stopped while it ran. */
  stopped?: true;
  /** Whether another case may have caused it: if so, only what is seen again alone, on a new order, counts. */
  again?: true;
  /** A payment that was lost. A shop that also loses others, or was only late, is not convicted of it by this case. */
  lost?: Payment;
}

/** What the cases of a family have in common. */
interface Common extends Pick<AuditCaseInfo, 'group' | 'class'> {
  /** The cost of the mistake for the merchant, in a sentence. */
  harm: string;
  mistake: MistakeName;
  /**
   * Why no other case runs at the same time: what it looks at may be counted for all orders, such as the stock; or it
   * disturbs other cases, or they disturb it.
   */
  alone?: 'counts' | 'disturbs';
  /** Whether its requests race, so that a mistake may show only sometimes. */
  isRace?: true;
  /** Whether the case checks the responses to all other cases. */
  last?: true;
  /** What it needs: the database of the shop, or the command that starts it. */
  needs?: 'db' | 'shop';
  /** Why it is skipped if the audit makes up the orders. */
  needsOrders?: string;
  /** What must have happened before its request, for people who repeat it. */
  state?: string;
}

export interface Run {
  (shop: Shop): Promise<Finding>;
  /** What it sends, if all of it must be rejected: such cases can share an order. */
  rejecting?: Rejecting;
}

export interface AuditCase extends AuditCaseInfo, Common {
  run: Run;
}

/** Cases by name: what each tests and does, and what differs from its family. */
export type Cases = Readonly<Record<string, { about: string; run: Run } & Partial<Common>>>;

export const family =
  (common: Common) =>
  (cases: Cases): AuditCase[] =>
    Object.entries(cases).map(([name, one]) => ({ name, ...common, ...one }));

/** The state of an order that its genuine IPN has paid. */
export const IS_PAID = 'the genuine IPN has paid the order';

export const NO_ORDERS = 'no orders are left: raise --orders';

export function skipped(why: string): Finding {
  return { verdict: 'skipped', sent: null, observed: null, why, curl: null };
}

export function unproven(why: string): Finding {
  return { ...skipped(why), verdict: 'unproven' };
}

/** The order that a case attacks. */
export interface Target {
  shop: Shop;
  payment: Payment;
  before: OrderSnapshot;
  /** The correct IPN, which the shop has not yet received. */
  ipn: Ipn;
  /** The request that posts an IPN to the order's ipn_url. */
  post: (ipn: Ipn) => ExchangeRequest;
}

/** Whether the probe cannot tell an order from others. */
export function isAmbiguous(shop: Shop, payment: Payment): boolean {
  return shop.canLook && !shop.probes.distinguishes && shop.orders.isRepeated(payment);
}

export function ambiguous({ identifier }: Payment): Finding {
  return unproven(
    `several orders share the identifier "${identifier}", and the probe cannot tell them apart`,
  );
}

/** A case with a pending order. */
export function withOrder(run: (target: Target) => Promise<Finding>): Run {
  return async (shop) => {
    using order = await shop.takeOrder();
    if (!order) return skipped(NO_ORDERS);
    const { payment } = order;
    if (isAmbiguous(shop, payment)) return ambiguous(payment);
    const { check } = shop;
    if (check.order === null) {
      const { identifier, amount, currency, id } = payment;
      Object.assign(check, { wrong: 'probe', order: `${identifier}, ${amount} ${currency}, ${id}` });
    }
    const before = await shop.look(payment);
    if (before.paid) {
      if (!shop.control) check.wrong = 'condition';
      return unproven(
        'the probe reports the order as paid before anything was sent: is its identifier reused?',
      );
    }
    const isReused = order.text !== undefined;
    const ran = await run({ shop, payment, before, ipn: shop.ipnOf(payment), post: shop.postOf(payment) });
    // What another case did to the order may not show in its state.
    const finding: Finding = isReused && ran.verdict === 'fail' ? { again: true, ...ran } : ran;
    const after = shop.canLook ? await shop.look(payment) : before;
    order.isUntouched =
      finding.verdict === 'pass' && after.paid === false && shop.isSame(before.text, after.text);
    order.text = before.text;
    return finding;
  };
}

/** The request and its response, for a finding. */
export const evidence = (
  { gateway: { mask } }: Pick<Shop, 'gateway'>,
  request: ExchangeRequest,
  observation: Observation,
) => ({
  sent: requestText(request, mask),
  observed: described(observation, mask),
  curl: curlOf(request),
  answer: { url: request.url, status: observation.status },
});

/** Several requests, for a finding. */
export const sentText = ({ gateway }: Pick<Shop, 'gateway'>, requests: readonly ExchangeRequest[]): string =>
  requests.map((request) => requestText(request, gateway.mask)).join('\n');

/** An IPN is posted to the order's ipn_url. */
export type Sent = Ipn | ExchangeRequest;

export async function send({ shop, payment, post }: Target, sent: Sent) {
  const request = sent instanceof Ipn ? post(sent) : sent;
  const observation = await shop.try(request, payment);
  return { observation, shown: evidence(shop, request, observation) };
}

/** The part of a finding that does not follow from its request. */
export type Judgement = Pick<Finding, 'verdict'> & Partial<Finding>;

export const fail = (why: string, more?: Partial<Finding>): Judgement => ({ verdict: 'fail', why, ...more });

/** @param matter the fact that a probe would show */
export const withoutProbe = (matter = 'what the shop did') => ({
  verdict: 'unproven' as const,
  why: `no probe shows ${matter}: a status code alone proves little`,
});

/**
 * Probes an order after the shop has had time to process a request. Without a probe, nothing is proven.
 *
 * @param matter what the probe shows
 */
async function lookAndJudge(
  { shop, payment }: Target,
  judge: (after: OrderSnapshot) => Judgement | Promise<Judgement>,
  matter?: string,
): Promise<Judgement> {
  const after = await shop.lookAfterRest(payment);
  return shop.canLook ? judge(after) : withoutProbe(matter);
}

/** Sends a request and judges its effect on the order. @param matter what a probe shows */
export async function attack(
  target: Target,
  sent: Sent,
  judge: (after: OrderSnapshot, observed: string) => Judgement | Promise<Judgement>,
  matter?: string,
): Promise<Finding> {
  const { shown } = await send(target, sent);
  const judged = await lookAndJudge(target, (after) => judge(after, shown.observed), matter);
  return { ...shown, ...judged };
}

/** Judges a request that must not mark an order as paid. */
export const rejected =
  ({ shop, payment: { amount, currency }, before }: Target, bad: 'fail' | 'at-risk' = 'fail') =>
  (after: OrderSnapshot, observed: string): Judgement => {
    if (after.paid) {
      return { observed: `${observed}, and the order is paid`, verdict: bad, unpaid: { amount, currency } };
    }
    const changed = shop.changedEffects(before, after);
    if (!changed.length) return { verdict: 'pass' };
    return fail(`The order is not paid, but this changed: ${changed.join(', ')}.`, { again: true });
  };

/** The harm of an IPN that is accepted without its signature. */
export const PAYS_ORDERS = 'Anyone who knows the ipn_url can mark orders as paid without a payment.';
/** The harm of an IPN that changes an order without a payment. */
export const CHANGES_ORDERS = 'Anyone can cancel or reopen the orders of other customers, even paid ones.';
/** The harm of an amount or currency that is not compared. */
export const PAYS_FOR_LESS =
  'The customer pays less than the order costs, or in a weaker currency, and still receives everything.';
/** The harm of an IPN that pays another order than its own. */
export const PAYS_OTHER_ORDERS = 'An attacker pays for one cheap order and gets other orders for free.';
/** The harm of an IPN that pays an order although its status is not success. */
export const PAYS_BY_ANY_STATUS = 'An IPN for a payment that did not succeed marks the order as paid.';

/** The verdict on the changes that a rejected IPN made to an order without paying it. Only a record of it is harmless. */
export async function judgeTraces(
  shop: Shop,
  before: OrderSnapshot,
  after: OrderSnapshot,
): Promise<Judgement> {
  const places = await shop.changesOf(before, after);
  if (!places.length) return { verdict: 'pass' };
  const paid = await shop.paidPlaces();
  const effects = places.filter(
    (place) => shop.isCounted(place) || shop.isEffect(place) || paid.includes(place),
  );
  const because = effects.length
    ? ({
        mistake: 'effects-before-checks',
        harm: `Anyone who knows the ipn_url can cause this without paying: ${effects.join(', ')}.`,
      } as const)
    : ({ mistake: 'status-not-checked', harm: CHANGES_ORDERS } as const);
  const change = shop.difference(before.text, after.text);
  const log = isCountOrLog(before.text, after.text)
    ? ` Only if ${places.join(' and ')} merely records IPNs, say so with ${places.map((place) => `--log ${place.replace(/\[\]$/, '')}`).join(' ')}.`
    : '';
  return fail(`A forged IPN had an effect: ${change}.${log}`, { again: true, because });
}

/** The verdict on the effects of a signed IPN that did not pay the order: none of what a payment does may happen. */
async function judgeEffects(shop: Shop, before: OrderSnapshot, after: OrderSnapshot): Promise<Judgement> {
  const effects = (await shop.changesOf(before, after)).filter((place) => shop.isCounted(place));
  if (!effects.length) return { verdict: 'pass' };
  const harm = `An IPN that the shop then rejects has effects of a payment: ${effects.join(', ')} changed.`;
  const because = { mistake: 'effects-before-checks', harm } as const;
  return fail(harm, { again: true, because });
}

/** IPNs of an order that must not pay it. */
export const BAD_IPNS: readonly ((ipn: Ipn, secretKey: string) => Ipn)[] = [
  (ipn) => ipn.unset('signature'),
  (ipn) => ipn.badlySigned(),
  (ipn, secretKey) => ipn.set('amount', hundredth(ipn.get('amount'))).signedWith(secretKey),
  (ipn) => ipn.set('status', 'failed'),
];

/** The verdict on a request that must mark an order as paid. */
export async function judgeAccepted(shop: Shop, payment: Payment): Promise<Judgement> {
  const after = await shop.lookUntilPaid(payment);
  if (!shop.canLook) return withoutProbe();
  return after.paid ? { verdict: 'pass' } : { verdict: 'fail', lost: payment };
}

/**
 * The verdict on a request that changed a pending order without paying it: the order's genuine IPN must still pay it.
 *
 * @param isSigned whether the request was validly signed, as one of a payment that someone made
 */
export async function judgeStillPayable(target: Target, isSigned = false): Promise<Judgement> {
  const { shop, payment, before } = target;
  if (!shop.canLook) return withoutProbe();
  if ((await payByIpn(shop, payment, before)).isPaid) return { verdict: 'pass' };
  const why = 'After this request, the genuine IPN of the order no longer pays it.';
  if (isSigned) return { verdict: 'note', why };
  const because = { mistake: 'status-not-checked', harm: CHANGES_ORDERS } as const;
  return fail(`${why} ${CHANGES_ORDERS}`, { because, lost: payment });
}

/** A flaw that a response shows: in words, or with another mistake than that of the case. */
export type Flaw = string | { why: string; because: NonNullable<Finding['because']> };

/** Requests that must be rejected, and how a response may show a flaw. */
interface Rejecting extends Required<Pick<Rejection, 'findFlaw'>> {
  forge: Forge;
}

/** A run that passes if another one does. */
export const passesWith = ({ rejecting }: Run, run: Run): Run =>
  Object.assign(run, rejecting && { rejecting });

/** Requests; or why the shop cannot be harmed by any (`safe`), or why the case is skipped. */
type Forged = Sent | readonly Sent[] | { safe: string } | string;
export type Forge = (target: Target) => Forged | Promise<Forged>;

/** The requests of a forge; or the finding, if there are none. */
async function requestsOf(forge: Forge, target: Target): Promise<Sent[] | Finding> {
  const forged = await forge(target);
  if (typeof forged === 'string') return skipped(forged);
  return 'safe' in forged ? { ...skipped(forged.safe), verdict: 'pass' } : [forged].flat();
}

/** What else is seen of requests that must be rejected. */
interface Rejection {
  /**
   * Finds a flaw in a response, whether or not the order is paid. `first` is the response to the first request.
   */
  findFlaw?: (observation: Observation, first: Observation) => Flaw | undefined;
  /** Whether a request that does not pay the order must not change it either. */
  leavesNoTraces?: boolean;
  /** Whether the requests are validly signed, so that one may change the order. Default: as an IPN is signed. */
  isSigned?: boolean;
  /** Whether the requests may change the order, as visits of a page do: they must only not pay it. */
  mayChange?: boolean;
  /** Whether the genuine IPN must pay the order afterwards, even if it shows no change. */
  staysPayable?: boolean;
}

/**
 * A case whose requests must not mark a pending order as paid.
 *
 * @param forge the requests, or the reason to skip the case
 */
export function rejects(
  forge: Forge,
  {
    findFlaw = () => undefined,
    leavesNoTraces = false,
    isSigned = false,
    mayChange = false,
    staysPayable = false,
  }: Rejection = {},
): Run {
  /** The position of the request that did harm alone: when the case is tried again, only it is sent. */
  const harmful = new WeakMap<Shop, number>();
  /** Sends one request after another until one does harm. @returns the finding, and the requests that led to it */
  const oneByOne = async (target: Target, forged: readonly Sent[]): Promise<[Finding, readonly Sent[]]> => {
    const { shop, before } = target;
    let finding = skipped('there is nothing to send');
    let first: Observation | undefined;
    /** The first request that changed the order. */
    let changing: { sent: Sent; shown: Awaited<ReturnType<typeof send>>['shown'] } | undefined;
    for (const [index, sent] of forged.entries()) {
      const { observation, shown } = await send(target, sent);
      first ??= observation;
      const flaw = findFlaw(observation, first);
      if (typeof flaw === 'string') return [{ ...shown, ...fail(flaw) }, [sent]];
      if (flaw) return [{ ...shown, ...fail(flaw.why, { because: flaw.because }) }, [sent]];
      const judged = await lookAndJudge(target, (after) => {
        if (!shop.isSame(before.text, after.text)) changing ??= { sent, shown };
        const judged = rejected(target)(after, shown.observed);
        if (judged.verdict !== 'pass' || mayChange) return judged;
        return (leavesNoTraces ? judgeTraces : judgeEffects)(shop, before, after);
      });
      finding = { ...shown, ...judged };
      if (finding.verdict === 'fail') return [finding, forged.slice(0, index + 1)];
    }
    if (finding.verdict !== 'pass' || mayChange || !(changing || staysPayable)) return [finding, []];
    const sent = changing?.sent;
    const isGenuine = isSigned || (sent instanceof Ipn && sent.isSignedWith(shop.gateway.secretKey));
    const judged = await judgeStillPayable(target, isGenuine);
    if (judged.verdict === 'pass') return [finding, []];
    return [{ ...finding, ...changing?.shown, ...judged }, sent ? [sent] : forged];
  };
  /**
   * The harm of the last of several requests, on an order of its own; or of all of them, one after another, if it takes
   * them all.
   */
  const oneOrAll = async (
    shop: Shop,
    finding: Finding,
    led: readonly ExchangeRequest[],
  ): Promise<Finding> => {
    const alone = await withOrder(async (target) => {
      const forged = await requestsOf(forge, target);
      const last = Array.isArray(forged) ? forged[led.length - 1] : undefined;
      return last ? (await oneByOne(target, [last]))[0] : skipped('there is nothing to send');
    })(shop);
    if (alone.verdict !== 'fail') return { ...finding, sent: sentText(shop, led), curl: curlsOf(led) };
    harmful.set(shop, led.length - 1);
    return alone;
  };
  /** Sends all requests before it looks. @returns undefined if one of them may have done harm */
  const together = async (target: Target, forged: readonly Sent[]): Promise<Finding | undefined> => {
    const { before } = target;
    const sent = [];
    for (const one of forged) sent.push(await send(target, one));
    const [first] = sent;
    if (!first || sent.some(({ observation }) => findFlaw(observation, first.observation))) return undefined;
    const { shown } = sent.at(-1) ?? first;
    const judged = await lookAndJudge(target, (after) =>
      target.shop.isSame(before.text, after.text) || mayChange
        ? rejected(target)(after, shown.observed)
        : fail('something changed'),
    );
    return judged.verdict === 'fail' ? undefined : { ...shown, ...judged };
  };
  const run =
    (isTogether: boolean): Run =>
    async (shop) => {
      let isHarmless = true;
      let led: readonly ExchangeRequest[] = [];
      const finding = await withOrder(async (target) => {
        const all = await requestsOf(forge, target);
        if (!Array.isArray(all)) return all;
        const known = all[harmful.get(shop) ?? -1];
        if (known) return (await oneByOne(target, [known]))[0];
        // Several are sent together first, and one by one only if something happened.
        if (isTogether && all.length > 1) {
          const found = await together(target, all);
          isHarmless = found !== undefined;
          return found ?? skipped('one of the requests may have done harm');
        }
        const [finding, sent] = await oneByOne(target, all);
        const isFirst = sent.length === 1 && sent[0] === all[0];
        if (finding.verdict === 'fail' && isFirst) harmful.set(shop, 0);
        led = sent.map((one) => (one instanceof Ipn ? target.post(one) : one));
        return finding;
      })(shop);
      if (!isHarmless) return run(false)(shop);
      // Not while it holds its order: there may be no other.
      return led.length > 1 ? oneOrAll(shop, finding, led) : finding;
    };
  return Object.assign(run(true), !mayChange && { rejecting: { forge, findFlaw } });
}

/**
 * Tries cases whose requests must all be rejected on one order, which is looked at once, and must then be payable.
 *
 * @returns the cases that passed; empty if anything happened: then each must run on an order of its own
 */
export async function passedTogether(
  shop: Shop,
  cases: readonly AuditCase[],
): Promise<ReadonlyMap<AuditCase, Finding>> {
  const passed = new Map<AuditCase, Finding>();
  const tried = await withOrder(async (target) => {
    for (const one of cases) {
      const { forge, findFlaw } = one.run.rejecting ?? {};
      const forged = forge && (await requestsOf(forge, target));
      if (forged && !Array.isArray(forged)) passed.set(one, forged);
      const sent = [];
      for (const each of Array.isArray(forged) ? forged : []) sent.push(await send(target, each));
      const [first, last] = [sent[0], sent.at(-1)];
      const isFlawed = first && sent.some(({ observation }) => findFlaw?.(observation, first.observation));
      if (last && !isFlawed) passed.set(one, { ...last.shown, verdict: 'pass' });
    }
    const judged = await lookAndJudge(target, async (after) => {
      const finding = rejected(target)(after, '');
      const isChanged = (await shop.changesOf(target.before, after)).length > 0;
      if (finding.verdict !== 'pass' || isChanged) return fail('something changed');
      return shop.orders.areLimited ? finding : judgeStillPayable(target);
    });
    return { ...skipped(''), ...judged };
  })(shop);
  return tried.verdict === 'pass' ? passed : new Map();
}

/** A case whose unusual request must mark its order as paid. Held back, the genuine IPN must. */
export function accepts(make: (target: Target) => Sent): Run {
  return withOrder(async (target) => {
    const { shop, payment } = target;
    await shop.pay(payment);
    const { shown } = await send(target, make(target));
    if (shop.holdsBack) await payByIpn(shop, payment, target.before);
    return { ...shown, ...(await judgeAccepted(shop, payment)) };
  });
}

/** A case about an address at which there need not be anything. */
export const withoutPlace =
  (run: Run): Run =>
  async (shop) => {
    const { answer, ...finding } = await run(shop);
    return finding.verdict === 'pass' || answer === undefined ? finding : { ...finding, answer };
  };

/**
 * Pays an order with its correct IPN, and waits until it has had all its effects: what comes later would look like an
 * effect of another request.
 *
 * @param given the order before the payment
 * @returns whether it is paid, the response, and the order with all effects of its payment; without these, if some may
 *   still come
 */
export async function payByIpn(
  shop: Shop,
  payment: Payment,
  given?: OrderSnapshot,
): Promise<{ isPaid: boolean; paid?: OrderSnapshot | undefined; observation: Observation }> {
  const before = given ?? (await shop.look(payment));
  const observation = await shop.sendGenuine(payment);
  shop.patience.responded(observation.durationMs);
  if ((await shop.lookUntilPaid(payment)).paid === false) {
    shop.noteLoss(payment, observation);
    return { isPaid: false, observation };
  }
  const isComplete = (await shop.lookUntilComplete(payment, before)) !== undefined;
  shop.settled.push({ payment, at: performance.now() });
  // Other effects than those of the control may follow, too.
  return { isPaid: true, paid: isComplete ? await shop.lookAfterRest(payment) : undefined, observation };
}

/** How many orders are paid until one is. A shop may lose some payments, which is a finding of its own. */
const PAYMENT_TRIES = 3;

/** A case with an order that its correct IPN has paid. @param run gets the order after the payment, as `paid` */
export function afterPayment(run: (target: Target & { paid: OrderSnapshot }) => Promise<Finding>): Run {
  return async (shop) => {
    let isTried = false;
    const once = withOrder(async (target) => {
      const { isPaid, paid, observation } = await payByIpn(shop, target.payment, target.before);
      isTried = isPaid;
      if (paid) return run({ ...target, paid });
      return unproven(
        isPaid
          ? 'what the payment of the control did, another payment had not done in time'
          : `its genuine IPN did not pay the order (${described(observation, shop.gateway.mask)})`,
      );
    });
    let finding = await once(shop);
    for (let count = 1; count < PAYMENT_TRIES && !isTried && finding.verdict === 'unproven'; count++)
      finding = await once(shop);
    return finding;
  };
}
