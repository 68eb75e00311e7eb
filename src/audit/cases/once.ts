import type { Payment } from '../../contract/payment.ts';
import type { ExchangeRequest } from '../../delivery/exchange.ts';
import { isCountOrLog, numericChanges, type OrderSnapshot } from '../../shop/probe.ts';
import { pause, performance } from '../../system/real-time.ts';
import {
  type AuditCase,
  afterPayment,
  ambiguous,
  attack,
  CHANGES_ORDERS,
  evidence,
  type Finding,
  fail,
  family,
  IS_PAID,
  isAmbiguous,
  type Judgement,
  judgeStillPayable,
  judgeTraces,
  NO_ORDERS,
  PAYS_BY_ANY_STATUS,
  passesWith,
  payByIpn,
  type Run,
  rejected,
  rejects,
  type Sent,
  send,
  skipped,
  type Target,
  withOrder,
  withoutPlace,
  withoutProbe,
} from '../case.ts';
import { hundredth, type Ipn, plainAmount, swapCase, withQuery } from '../ipn.ts';
import { curlOfAll, described } from '../request-text.ts';
import type { Shop } from '../shop.ts';
import { OTHER_TRANSPORTS } from '../transports.ts';
import { guessedAddress } from './sandbox.ts';

/*
 * A payment takes effect once, only with the status success, and a paid order stays paid.
 */

const HARM =
  'Each copy of an IPN can change stock or credit or send the goods again, and gateways do send copies.';
/** A return page has read its order by then. */
const DURING_MS = 100;

/** A copy of the IPN that paid the order. Any change after it is a second effect. */
const replay = (copyOf: (target: Target) => Ipn | Promise<Ipn>): Run =>
  afterPayment(async (target) => {
    const judge = judgeCopy(target.shop, target.payment, target.paid);
    return attack(target, await copyOf(target), judge, 'whether the copy had a second effect');
  });

/** The final state of an order: an e-mail may follow later than that of the control did. */
const lookLast = async (shop: Shop, payment: Payment, first: OrderSnapshot): Promise<OrderSnapshot> =>
  shop.probes.effects.size ? (await shop.lookUntilAtRest(payment)).look : first;

const judgeCopy = (shop: Shop, payment: Payment, paid: OrderSnapshot) => async (first: OrderSnapshot) => {
  const after = await lookLast(shop, payment, first);
  if (!after.paid) return fail('After a copy of its IPN, the order is no longer paid.');
  const changed = shop.changedEffects(paid, after);
  const places = await shop.changesOf(paid, after);
  if (places.length) changed.unshift(...places);
  if (!changed.length) return provenOnce(shop);
  const log = isCountOrLog(paid.text, after.text)
    ? ` Only if ${changed.join(' and ')} merely records IPNs, say so with --log.`
    : '';
  return fail(`A copy took effect again: ${changed.join(', ')} changed. ${HARM}${log}`);
};

/** An unchanged order proves something only if a probe shows the effect of a payment. */
function provenOnce(shop: Shop): Judgement {
  if (shop.hasEffectProbe) return { verdict: 'pass' };
  const why =
    "the probe shows only whether the order is paid: add one that counts e-mails, stock or credit, such as --effect mails='<command or url>', or include such a number in the order's probe";
  return { verdict: 'unproven', why };
}

/** Simultaneous requests must have the effect of one payment, like the control, and not a multiple of it. */
async function judgeTogether(target: Target): Promise<Judgement> {
  const judged = await judgeEffects(target);
  if (judged.verdict !== 'pass' || (await target.shop.overlaps())) return judged;
  const why =
    'your server handles one request at a time, so these never met: start it with several workers or threads (in PHP: PHP_CLI_SERVER_WORKERS=4)';
  return { verdict: 'unproven', why };
}

async function judgeEffects({ shop, payment, before }: Target): Promise<Judgement> {
  await shop.lookUntilPaid(payment);
  const after = await lookLast(shop, payment, await shop.lookAfterRest(payment));
  if (!shop.canLook) return withoutProbe('how often the payment took effect');
  if (!after.paid) return fail('After copies of its IPN, the order is not paid.', { lost: payment });
  const { changes, amount } = shop.calibration;
  if (amount !== payment.amount) return provenOnce(shop);
  const isRecord = await shop.records();
  const several = [...numericChanges(before, after)].flatMap(([place, change]) => {
    if (isRecord(place)) return [];
    const times = change / (changes.get(place) ?? change);
    return times > 1 && Number.isInteger(times) ? [{ place, times }] : [];
  });
  if (!several.length) return provenOnce(shop);
  // Values such as invoice numbers differ for each order: a place counts only if another payment changes it as the control did.
  const single = await changesOfOne(shop);
  const found = several.find(({ place }) => single?.get(place) === changes.get(place));
  if (found) return fail(`One payment took effect ${found.times} times (${found.place}). ${HARM}`);
  if (single && several.every(({ place }) => single.has(place))) return { verdict: 'pass' };
  const missing = single ? 'a single payment showed no such effect' : 'no order is left';
  return {
    verdict: 'unproven',
    why: `the payment may have taken effect more than once, but ${missing} to compare with`,
  };
}

/** The changes when an order is paid once. */
async function changesOfOne(shop: Shop): Promise<Map<string, number> | undefined> {
  using order = await shop.takeAnother();
  if (!order) return undefined;
  const { payment } = order;
  const before = await shop.look(payment);
  const { paid } = await payByIpn(shop, payment);
  return paid && numericChanges(before, (await shop.lookUntilAtRest(payment)).look);
}

/** Requests that reach the shop at the same time. */
const together = (requestsOf: (target: Target) => readonly ExchangeRequest[] | string): Run =>
  withOrder(async (target) => {
    const { shop, payment } = target;
    const requests = requestsOf(target);
    if (typeof requests === 'string') return skipped(requests);
    const request = requests.find(({ body }) => body !== undefined);
    if (!request) return skipped('there was nothing to send');
    await shop.pay(payment);
    const observations = await shop.tryTogether(requests, request, payment);
    const judged = await judgeTogether(target);
    const observation = observations[requests.indexOf(request)];
    if (!observation) return skipped('there was nothing to send');
    const shown = evidence(shop, request, observation);
    const sent = `${requests.length} requests at the same time: ${shown.sent}`;
    return { ...shown, sent, curl: curlOfAll(requests), ...judged };
  });

/** Tries each of them on an order of its own, until one does harm. */
const each =
  <Item>(items: readonly Item[], runOf: (item: Item) => Run): Run =>
  async (shop) => {
    let finding = skipped('there is nothing to send');
    for (const item of items) {
      finding = await runOf(item)(shop);
      if (finding.verdict !== 'pass') break;
    }
    return finding;
  };

/** Times from the genuine IPN of another order to the forgeries, in milliseconds. */
const OFFSETS_MS = [0, 10, 20, 40, 80];

const withOther: Run = withOrder(async (target) => {
  const { shop, ipn, post } = target;
  using other = await shop.takeAnother();
  if (!other) return skipped(NO_ORDERS);
  await shop.pay(other.payment);
  const before = await shop.look(other.payment);
  const genuine = shop.postOf(other.payment)(shop.ipnOf(other.payment));
  const forgery = post(ipn.badlySigned());
  const ofOther = payByIpn(shop, other.payment, before);
  const sent = [];
  for (const offset of OFFSETS_MS) {
    await pause(offset);
    sent.push(shop.try(forgery, target.payment));
  }
  const [first] = await Promise.all(sent);
  const { isPaid: paid } = await ofOther;
  if (!first) return skipped('there is nothing to send');
  const shown = evidence(shop, forgery, first);
  const judged = rejected(target)(await shop.lookAfterRest(target.payment), shown.observed);
  if (!shop.canLook) return { ...shown, ...withoutProbe() };
  const isLost = judged.verdict === 'pass' && !paid;
  return {
    ...shown,
    ...judged,
    ...(isLost &&
      fail('The order whose genuine IPN was being handled is not paid.', { lost: other.payment })),
    curl: curlOfAll([genuine, forgery]),
  };
});

const EACH_TO_ITS_END = {
  text: 'Handle every IPN to its end before you answer it, or answer 503, so that the gateway sends it again. A lock belongs to an order, not to the shop.',
};

/** The genuine IPNs of two orders at the same time. An IPN that is answered with success is never sent again. */
const ofTwoOrders: Run = withOrder(async (target) => {
  const { shop, payment, ipn, post } = target;
  using other = await shop.takeAnother();
  if (!other) return skipped(NO_ORDERS);
  const both = [payment, other.payment];
  for (const one of both) await shop.pay(one);
  const requests = [post(ipn), shop.postOf(other.payment)(shop.ipnOf(other.payment))] as const;
  const oneByOne = async () => [await shop.sendGenuine(payment), await shop.sendGenuine(other.payment)];
  const observations = await (shop.holdsBack ? oneByOne() : shop.sendTogether(requests));
  let finding = skipped('there was nothing to send');
  for (const [index, observation] of observations.entries()) {
    const [one, request] = [both[index] ?? payment, requests[index] ?? requests[0]];
    const { paid } = await shop.lookUntilPaid(one);
    const isTaken = observation.status !== null && observation.status < 300;
    finding = { ...evidence(shop, request, observation), verdict: 'pass', curl: curlOfAll(requests) };
    if (!shop.canLook) return { ...finding, ...withoutProbe() };
    if (!paid) shop.noteLoss(one, observation);
    if (paid || !isTaken) continue;
    const why = `The genuine IPNs of two orders arrived at the same time. One was ${described(observation, shop.gateway.mask)}, but its order is not paid.`;
    return { ...finding, ...fail(why, { fix: EACH_TO_ITS_END, lost: one }) };
  }
  return finding;
});

/** Why the return page of an order cannot be opened; undefined if it can. */
const returnRefused = ({ shop, payment }: Target) =>
  shop.hasOrders
    ? shop.whyClosed(payment.successUrl)
    : 'the order is made up, so the shop has no page for it';

/** Shops that remember copies for a while remember them for a few seconds, or for days. */
const MUCH_LATER_MS = 10_000;
/** A quick audit waits only until a shop has shipped. */
const QUICK_LATER_MS = 3_000;

/** A copy of the oldest IPN that paid an order, some time after it. Each try takes another order. */
const replayOfOldest: Run = async (shop) => {
  const { thorough, only = [] } = shop.options;
  const isQuick = !thorough && only.every((name) => name.startsWith('-'));
  const laterMs = isQuick ? QUICK_LATER_MS : MUCH_LATER_MS;
  const settled = shop.settled.shift();
  if (!settled) return replay(({ ipn }) => pause(laterMs).then(() => ipn))(shop);
  const { payment, at } = settled;
  if (isAmbiguous(shop, payment)) return ambiguous(payment);
  await pause(Math.max(at + laterMs - performance.now(), 0));
  // Rows of no order may still come from the payment of another case.
  if (shop.witness) await shop.patience.rest();
  const before = await shop.look(payment);
  const target = { shop, payment, before, ipn: shop.ipnOf(payment), post: shop.postOf(payment) };
  return attack(target, target.ipn, judgeCopy(shop, payment, before), 'whether the copy had a second effect');
};

/** Copies of the IPN that paid an order, one after another; if they do harm, each for an order of its own. */
const replays =
  (copiesOf: (target: Target) => readonly Sent[]): Run =>
  async (shop) => {
    let count = 0;
    const tried = (choose: (all: readonly Sent[]) => readonly Sent[]) =>
      afterPayment(async (target) => {
        const all = copiesOf(target);
        count = all.length;
        const copies = choose(all);
        for (const copy of copies.slice(0, -1)) await send(target, copy);
        const judge = judgeCopy(shop, target.payment, target.paid);
        return attack(target, copies.at(-1) ?? target.ipn, judge, 'whether a copy had a second effect');
      })(shop);
    const finding = await tried((all) => all);
    for (let index = 0; finding.verdict === 'fail' && index < count; index++) {
      const alone = await tried((all) => all.slice(index, index + 1));
      if (alone.verdict === 'fail') return alone;
    }
    return finding;
  };

/** The genuine IPN without a field that is not signed, and one with an unusual value in it. */
function incomplete(ipn: Ipn): Ipn[] {
  const names = new Set(ipn.pairs.map(([name]) => name));
  for (const field of ['status', 'signature', 'identifier', 'amount'] as const)
    names.delete(ipn.nameOf(field));
  return [...[...names].map((name) => ipn.without(name)), ipn.set('holder', 'Zoë 🙂'.repeat(60))];
}

const NOT_BY_OTHERS = 'The token in the ipn_url keeps others from sending such an IPN.';

/** Each of them twice, on an order of its own, and then the genuine IPN: a handler that fails halfway must not ship again. */
const copiesOfIncomplete: Run = async (shop) => {
  const { control } = shop;
  if (!control) return skipped('no order is paid');
  const tried = (index: number) =>
    withOrder(async (target) => {
      const request = incomplete(target.ipn)[index] ?? target.ipn;
      await shop.pay(target.payment);
      await send(target, request);
      const { shown } = await send(target, request);
      await shop.sendGenuine(target.payment);
      const judged = await judgeEffects(target);
      const isNote = judged.verdict === 'fail' && guessedAddress(target).hasToken;
      return {
        ...shown,
        ...judged,
        ...(isNote && { verdict: 'note', why: `${judged.why} ${NOT_BY_OTHERS}` }),
      };
    })(shop);
  const all = await Promise.all(incomplete(shop.ipnOf(control.payment)).map((_, index) => tried(index)));
  const isHarm = ({ verdict }: Finding) => verdict === 'fail' || verdict === 'note';
  for (const [index, one] of all.entries()) {
    if (!isHarm(one)) continue;
    // The others may have caused an effect that their orders share.
    const alone = await tried(index);
    if (isHarm(alone)) return alone;
  }
  return all.find((one) => !isHarm(one)) ?? skipped('there is nothing to send');
};

/** Copies of an IPN that differ in what its signature does not cover. */
function changedCopies(target: Target): Sent[] {
  const { ipn, post, shop, payment } = target;
  const fields = shop.jsonOf(payment);
  // Anyone can get such an IPN by a sandbox payment.
  const signed = (field: 'amount' | 'identifier', text: string) =>
    ipn.set(field, text).signedWith(shop.gateway.secretKey);
  const [amount, identifier] = [ipn.get('amount'), ipn.get('identifier')];
  return [
    ...[`0${amount}`, `${amount}0`, `+${amount}`, plainAmount(amount)].map((text) => signed('amount', text)),
    ...[swapCase(identifier), `${identifier} `, `0${identifier}`].map((text) => signed('identifier', text)),
    ...['SUCCESS', 'Success', 'completed'].map((status) => ipn.set('status', status)),
    ipn.set('currency', ipn.get('currency').toLowerCase()),
    ipn.set('signature', ipn.get('signature').toLowerCase()),
    ipn.and(['attempt', '2']),
    ipn.after(['attempt', '2']),
    ipn.set('holder', 'Somebody Else').set('trx', ipn.get('trx').toLowerCase()),
    ...['json', 'multipart', 'query', 'both', 'get', 'put'].flatMap(
      (name) => OTHER_TRANSPORTS[name]?.send(fields, target) ?? [],
    ),
    { ...post(ipn), url: withQuery(post(ipn).url, ['attempt', '2']) },
    {
      ...post(ipn),
      headers: [
        ['Idempotency-Key', 'another'],
        ['X-Request-Id', 'another'],
        ['X-Retry', '1'],
      ],
    },
  ];
}

/** What may make a shop forget that it has handled a payment, and then a copy of its IPN. */
const afterFailure: Run = afterPayment(async (target) => {
  const { shop, payment, ipn } = target;
  for (const status of ['failed', 'canceled']) await send(target, ipn.set('status', status));
  for (const url of [payment.cancelUrl, payment.successUrl])
    if (shop.hasOrders && shop.whyClosed(url) === undefined) await shop.try({ url }, payment);
  const before = await shop.lookAfterRest(payment);
  return attack(target, ipn, judgeEffect(shop, before), 'whether the copy had a second effect');
});

/** A copy must not have the effect of a payment. What else it changes is the matter of other cases. */
const judgeEffect = (shop: Shop, before: OrderSnapshot) => async (after: OrderSnapshot) => {
  const places = (await shop.changesOf(before, after)).filter((place) => shop.isCounted(place));
  const changed = [...places, ...shop.changedEffects(before, after)];
  return changed.length
    ? fail(`A copy took effect again: ${changed.join(', ')} changed. ${HARM}`)
    : provenOnce(shop);
};

/** The state of an order of which copies arrive together. */
const UNPAID = 'the customer has paid, and no IPN has arrived; each try needs a new order';

const ofCopies = family({
  class: 'once',
  group: 'once',
  harm: HARM,
  mistake: 'paid-more-than-once',
  alone: 'counts',
  state: IS_PAID,
});

const COPIED = ofCopies({
  'replay-at-once': { about: 'The same IPN again, immediately.', run: replay(({ ipn }) => ipn) },
  'replay-other-trx': {
    about: 'The same IPN with a different payment_trx (the payment_trx is not signed).',
    run: replay(({ ipn }) => ipn.set('trx', [...ipn.get('trx')].toReversed().join(''))),
  },
  'replay-changed': {
    about:
      'The same IPN again, changed where nothing is signed: its signature in lower case, other fields, another transport.',
    run: replays(changedCopies),
  },
  'copies-incomplete': {
    about:
      'The IPN without a field that is not signed, or with an unusual value in it, twice; and then the genuine IPN.',
    run: copiesOfIncomplete,
    state: 'the customer has paid, and the same request arrived once; after it, send the genuine IPN',
  },
  'replay-after-failure': {
    about:
      'The same IPN again, after IPNs with the status "failed" and "canceled" and a visit of the return pages.',
    run: afterFailure,
    state: `${IS_PAID}, and the same IPN arrived with the status failed, and then canceled`,
  },
  'copies-other-trx': {
    about: '5 copies of the IPN at the same time, each with a different payment_trx.',
    run: together(({ post, ipn }) =>
      Array.from({ length: 5 }, (_, index) => post(ipn.set('trx', ipn.get('trx').slice(0, -1) + index))),
    ),
    isRace: true,
    state: UNPAID,
  },
  'ipn-with-other': {
    about:
      'Forged IPNs while the genuine IPN of another order is handled: they must not pay, and that order must be paid.',
    run: withOther,
    isRace: true,
    state: 'another order is paid for, and its genuine IPN is sent at the same time',
    harm: 'What the handler keeps outside its function belongs to another IPN: orders are paid by forgeries, or payments are lost.',
    mistake: 'state-shared',
  },
  'ipns-of-two-orders': {
    about: 'The genuine IPNs of two orders at the same time: both orders must be paid.',
    run: ofTwoOrders,
    isRace: true,
    state: 'two customers have paid, and no IPN has arrived; each try needs two new orders',
    harm: 'When two customers pay at the same moment, one of them pays and gets nothing.',
    mistake: 'state-shared',
  },
  'copies-20': {
    about: '20 copies of the IPN at the same time.',
    run: together(({ post, ipn }) => Array.from({ length: 20 }, () => post(ipn))),
    isRace: true,
    state: UNPAID,
  },
  'ipn-with-return': {
    about: 'The IPN and the returning browser at the same time: the IPN first, and the browser first.',
    run: each([false, true], (isReversed) =>
      together((target) => {
        const both = [target.post(target.ipn), { url: target.payment.successUrl }];
        return returnRefused(target) ?? (isReversed ? both.toReversed() : both);
      }),
    ),
    isRace: true,
    state: UNPAID,
  },
  'ipn-during-return': {
    about: 'The IPN while the return page is still being made.',
    run: withOrder(async (target) => {
      const { shop, payment, ipn, post } = target;
      const refused = returnRefused(target);
      if (refused !== undefined) return skipped(refused);
      await shop.pay(payment);
      const page = shop.try({ url: payment.successUrl }, payment);
      await pause(DURING_MS);
      const request = post(ipn);
      const observation = await shop.sendGenuine(payment);
      await page;
      return { ...evidence(shop, request, observation), ...(await judgeTogether(target)) };
    }),
    isRace: true,
    state: UNPAID,
  },
  'retry-while-running': {
    about: 'A retry while the first attempt is still running.',
    state: 'the customer has paid; each try needs a new order',
    run: withOrder(async (target) => {
      const { shop, payment, ipn, post } = target;
      const request = post(ipn);
      const first = shop.sendGenuine(payment);
      await pause(Math.max(shop.calibration.answerMs / 2, 1));
      const observation = await shop.try(request, payment);
      await first;
      const curl = curlOfAll([request, request]);
      return { ...evidence(shop, request, observation), curl, ...(await judgeTogether(target)) };
    }),
    isRace: true,
  },
});

type Change = (ipn: Ipn) => Ipn;

const REFUNDS =
  'Anyone who can replay an IPN can refund a paid order, or get store credit for it, and keep the goods.';
const AGAIN = 'An IPN for a payment that did not succeed fulfills a paid order again.';

/**
 * A forged IPN for a paid order, which must not change.
 *
 * @param isSigned whether its signature is valid, so that the shop may count it as a payment
 */
const onPaid = (forge: Change, isSigned = false): Run =>
  afterPayment((target) => {
    const { shop, paid, ipn } = target;
    return attack(target, forge(ipn), async (after) => {
      const changed = shop.changedEffects(paid, after);
      if (changed.length) {
        return fail(`A forged IPN changed: ${changed.join(', ')}. ${CHANGES_ORDERS}`, { again: true });
      }
      if (!after.paid) return { verdict: 'fail' };
      const { changes } = shop.calibration;
      const isRecord = isSigned ? await shop.records() : () => true;
      const again = [...numericChanges(paid, after)].find(
        ([place, change]) => !isRecord(place) && changes.get(place) === change,
      );
      if (!isSigned || !again) return judgeTraces(shop, paid, after);
      const because = { mistake: 'status-not-checked', harm: AGAIN } as const;
      return fail(`The IPN took effect like a second payment (${again[0]}).`, { because });
    });
  });

/** The same request twice for a pending order. The second must not change what a payment changes, such as the stock. */
const twice = (requestOf: (target: Target) => ExchangeRequest | string): Run =>
  withOrder(async (target) => {
    const { shop, payment } = target;
    const request = requestOf(target);
    if (typeof request === 'string') return skipped(request);
    await shop.send(request);
    const before = await shop.lookAfterRest(payment);
    return attack(target, request, judgeEffect(shop, before), 'whether the second had an effect');
  });

const SENT_ONCE = 'the same request, for a pending order';
const RESTOCKS =
  'Anyone who repeats a canceled IPN or the cancel page changes your stock or credit each time.';

/** IPNs with one of these statuses that anyone can make: unsigned, and incorrectly signed. */
const forgedWith = (...statuses: readonly string[]): Change[] =>
  statuses.flatMap((status): Change[] => [
    (ipn) => ipn.set('status', status).unset('signature'),
    (ipn) => ipn.set('status', status).badlySigned(),
  ]);

/** A pending order must stay pending and payable. */
const changesNothing = (forgeries: readonly Change[]): Run => {
  const run = rejects(({ ipn }) => forgeries.map((forge) => forge(ipn)), {
    leavesNoTraces: true,
    staysPayable: true,
  });
  return passesWith(run, async (shop) => {
    const finding = await run(shop);
    const because = { mistake: 'status-not-checked', harm: PAYS_BY_ANY_STATUS } as const;
    return finding.unpaid ? { ...finding, because } : finding;
  });
};

const BLOCKS_ORDERS = 'Anyone who knows the ipn_url can keep an order from being paid.';
const REMEMBER_NOTHING = {
  text: 'An IPN that you reject must leave nothing behind about the order it names: no lock, no count, and no note that its payment_trx was seen.',
};
/** A shop that locks an order after some forgeries does so after fewer. */
const FORGERIES = 12;

const STATUS = family({ class: 'H', group: 'status', harm: CHANGES_ORDERS, mistake: 'status-not-checked' })({
  'failed-forged': {
    about: 'An unsigned or incorrectly signed IPN with status "failed" or "error" for a pending order.',
    run: changesNothing(forgedWith('failed', 'error')),
  },
  'canceled-forged': {
    about: 'An unsigned or incorrectly signed IPN with status "canceled" for a pending order.',
    run: changesNothing(forgedWith('canceled')),
  },
  'forged-for-paid': {
    state: IS_PAID,
    about:
      'Forged IPNs for a paid order: unsigned or incorrectly signed with the status "failed", and incorrectly signed with "success".',
    run: each([...forgedWith('failed'), (ipn) => ipn.badlySigned()], (forge) => onPaid(forge)),
  },
  'genuine-after-forgeries': {
    state: `it was sent ${FORGERIES - 1} times; after it, send the genuine IPN`,
    about: `${FORGERIES} incorrectly signed IPNs with the identifier and payment_trx of an order, and then its genuine IPN, which must pay it.`,
    run: withOrder(async (target) => {
      const forged = target.ipn.badlySigned();
      for (let count = 1; count < FORGERIES; count++) await send(target, forged);
      const { shown } = await send(target, forged);
      const paid = rejected(target)(await target.shop.lookAfterRest(target.payment), shown.observed);
      if (paid.verdict === 'fail') return { ...shown, ...paid };
      const judged = await judgeStillPayable(target);
      if (judged.verdict !== 'fail') return { ...shown, ...judged };
      const because = { mistake: 'effects-before-checks', harm: BLOCKS_ORDERS } as const;
      const why = `After ${FORGERIES} forged IPNs, the genuine IPN no longer pays this order. ${BLOCKS_ORDERS}`;
      return { ...shown, ...fail(why, { because, fix: REMEMBER_NOTHING, lost: target.payment }) };
    }),
  },
  'canceled-after-success': {
    state: IS_PAID,
    about: 'A genuine IPN for a paid order with its status changed to "canceled" (the status is not signed).',
    run: onPaid((ipn) => ipn.set('status', 'canceled'), true),
  },
  'refunded-after-success': {
    about:
      'A genuine IPN for a paid order with its status changed to "refunded", "reversed" or "chargeback" (the status is not signed).',
    run: each(['refunded', 'reversed', 'chargeback'], (status) =>
      onPaid((ipn) => ipn.set('status', status), true),
    ),
    harm: REFUNDS,
    state: IS_PAID,
  },
  'amount-low-after-success': {
    state: IS_PAID,
    about: 'A validly signed IPN for a hundredth of the price, for a paid order.',
    run: afterPayment((target) => {
      const { shop, ipn } = target;
      const low = ipn.set('amount', hundredth(ipn.get('amount'))).signedWith(shop.gateway.secretKey);
      return attack(target, low, (after) =>
        after.paid
          ? { verdict: 'pass' }
          : fail(`After it, the paid order is no longer paid. ${CHANGES_ORDERS}`),
      );
    }),
    mistake: 'amount-not-compared',
  },
  'canceled-twice': {
    state: SENT_ONCE,
    about: 'A genuine IPN for a pending order with its status changed to "canceled", twice.',
    run: twice(({ ipn, post }) => post(ipn.set('status', 'canceled'))),
    harm: RESTOCKS,
    mistake: 'paid-more-than-once',
    alone: 'counts',
  },
  'cancel-page-twice': {
    state: SENT_ONCE,
    about: 'The cancel_url of a pending order, opened twice.',
    run: withoutPlace(
      twice(({ shop, payment }) => shop.whyClosed(payment.cancelUrl) ?? { url: payment.cancelUrl }),
    ),
    harm: RESTOCKS,
    mistake: 'return-page-pays',
    needsOrders: "only the shop's orders have a cancel_url",
    alone: 'counts',
  },
  'canceled-before-success': {
    about: 'A genuine IPN for a pending order with its status changed to "canceled".',
    run: withOrder((target) =>
      attack(target, target.ipn.set('status', 'canceled'), (after) => {
        if (!after.paid) return { verdict: 'pass' };
        const { amount, currency } = target.payment;
        return fail(
          'Your shop accepted a cancellation and marked the order as paid: it does not check the status.',
          { unpaid: { amount, currency } },
        );
      }),
    ),
    harm: PAYS_BY_ANY_STATUS,
  },
});

export const ONCE: readonly AuditCase[] = [...COPIED, ...STATUS];

/** The last case of all, so that the others use the time it waits. */
export const MUCH_LATER: readonly AuditCase[] = ofCopies({
  'replay-much-later': {
    about:
      'The IPN of the order that was paid first, after other payments and at least ten seconds later (three in a quick audit).',
    run: replayOfOldest,
    state: `${IS_PAID}, some seconds ago`,
    last: true,
  },
});
