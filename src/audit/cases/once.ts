import { setTimeout as pause } from 'node:timers/promises';
import type { Payment } from '../../contract/payment.ts';
import {
  type AuditCase,
  afterPayment,
  evidence,
  type Finding,
  family,
  paidOrder,
  sendAndLook,
  skipped,
  targetOf,
  withOrder,
  withoutProbe,
} from '../case.ts';
import type { ProbeRequest } from '../client.ts';
import { curlOfAll } from '../describe-request.ts';
import type { OrderSnapshot } from '../probe.ts';
import { numericChanges, type Shop } from '../shop.ts';

const HARM =
  'Each copy of an IPN changes stock or credit again, or sends e-mails or downloads again. Gateways do send copies.';
const LATER_MS = 1_000;

const text = family({
  class: 'once',
  group: 'once',
  harm: HARM,
  mistake: 'paid-more-than-once',
  alone: true,
});

/** The verdict on a copy sent after the payment: any change is a second effect. */
function judgeCopy(shop: Shop, look: OrderSnapshot, after: OrderSnapshot): Pick<Finding, 'verdict' | 'why'> {
  if (!shop.canLook) return withoutProbe('whether the copy had a second effect');
  if (!after.paid) return { verdict: 'fail', why: 'After a copy of its IPN, the order is no longer paid.' };
  const changed = shop.changedEffects(look, after);
  if (after.text !== look.text) changed.unshift('the probe output');
  return changed.length
    ? { verdict: 'fail', why: `A copy took effect again. This changed: ${changed.join(', ')}. ${HARM}` }
    : provenOnce(shop);
}

/** An unchanged order proves something only if a probe shows the effect of a payment. */
function provenOnce(shop: Shop): Pick<Finding, 'verdict' | 'why'> {
  if (shop.hasEffectProbe) return { verdict: 'pass' };
  const why =
    "the probe shows only whether the order is paid: add one that counts e-mails, stock or credit, such as --probe mails='<command or url>', or include such a number in the order's probe";
  return { verdict: 'unproven', why };
}

/** A copy of the IPN that paid the order. */
const replay = (
  name: string,
  about: string,
  send: (shop: Shop, request: ProbeRequest) => Promise<unknown>,
): AuditCase =>
  afterPayment(text(name, about), async ({ shop, payment }, { look, request }) => {
    await send(shop, request);
    const { shown, after } = await sendAndLook(shop, payment, request);
    return { ...shown, ...judgeCopy(shop, look, after) };
  });

/** Simultaneous requests must have the effect of one payment, like the control, and not a multiple of it. */
async function judgeTogether(
  shop: Shop,
  payment: Payment,
  before: OrderSnapshot,
  after: OrderSnapshot,
): Promise<Pick<Finding, 'verdict' | 'why'>> {
  if (!shop.canLook) return withoutProbe('how often the payment took effect');
  if (!after.paid)
    return { verdict: 'fail', why: 'After simultaneous copies of its IPN, the order is not paid.' };
  const { changes, amount } = shop.calibration;
  if (amount !== payment.amount) return provenOnce(shop);
  const several = [...numericChanges(before, after)].flatMap(([place, change]) => {
    const times = change / (changes.get(place) ?? change);
    return times > 1 && Number.isInteger(times) ? [{ place, times }] : [];
  });
  if (!several.length) return provenOnce(shop);
  // Values such as invoice numbers differ for each order: a place counts only if another payment changes it as the control did.
  const single = await changesOfOne(shop);
  const found = several.find(({ place }) => single?.get(place) === changes.get(place));
  if (found) {
    return { verdict: 'fail', why: `One payment took effect ${found.times} times (${found.place}). ${HARM}` };
  }
  if (single && several.every(({ place }) => single.has(place))) return { verdict: 'pass' };
  const missing = single ? 'a single payment showed no such effect' : 'no order is left';
  return {
    verdict: 'unproven',
    why: `the payment may have taken effect more than once, but ${missing} to compare with`,
  };
}

/** The changes when an order is paid once. */
async function changesOfOne(shop: Shop): Promise<Map<string, number> | undefined> {
  const order = await shop.parts.orders.take();
  if (!order) return undefined;
  try {
    const before = await shop.look(order);
    const paid = await paidOrder(shop, order);
    if (!paid) return undefined;
    const { look } = await shop.lookUntilQuiet(order, paid.look);
    return numericChanges(before, look);
  } finally {
    shop.parts.orders.release(order, false);
  }
}

/** Requests that reach the shop at the same time. */
const together = (
  name: string,
  about: string,
  requestsOf: (shop: Shop, payment: Payment) => readonly ProbeRequest[] | string,
): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment, before) => {
      const requests = requestsOf(shop, payment);
      if (typeof requests === 'string') return skipped(requests);
      await shop.pay(payment);
      const observations = await shop.sendTogether(requests);
      await shop.lookUntilPaid(payment);
      const after = await shop.lookAfterGrace(payment);
      const judged = await judgeTogether(shop, payment, before, after);
      const index = Math.max(
        requests.findIndex(({ body }) => body !== undefined),
        0,
      );
      const [request, observation] = [requests[index], observations[index]];
      if (!request || !observation) return skipped('there was nothing to send');
      const sent = `${requests.length} requests at the same time: ${evidence(request, observation).sent}`;
      return { ...evidence(request, observation, sent), curl: curlOfAll(requests), ...judged };
    }),
});

const copies = (count: number) =>
  together(`copies-${count}`, `${count} copies of the IPN at the same time.`, (shop, payment) =>
    Array.from({ length: count }, () => targetOf(shop, payment).post(shop.ipnOf(payment))),
  );

/** The browser returns while the IPN arrives. */
const withReturn = (name: string, about: string, ipnFirst: boolean): AuditCase =>
  together(name, about, (shop, payment) => {
    const refused = shop.parts.gateway.egress.unreachable(payment.successUrl);
    if (!shop.parts.hasOrders || refused)
      return 'the success_url is not a page of this shop, or cannot be opened from here';
    const both = [targetOf(shop, payment).post(shop.ipnOf(payment)), { url: payment.successUrl }];
    return ipnFirst ? both : both.toReversed();
  });

export const ONCE: readonly AuditCase[] = [
  replay('replay-at-once', 'The same IPN again, immediately.', () => Promise.resolve()),
  replay('replay-later', 'The same IPN again, a second later.', () => pause(LATER_MS)),
  replay('replay-twice', 'The same IPN twice more, each on its own connection.', (shop, request) =>
    shop.send(request),
  ),
  afterPayment(
    text('replay-other-trx', 'The same IPN with a different payment_trx (the payment_trx is not signed).'),
    async ({ shop, payment, ipn, post }, { look }) => {
      const request = post(ipn.set('trx', [...ipn.get('trx')].toReversed().join('')));
      const { shown, after } = await sendAndLook(shop, payment, request);
      return { ...shown, ...judgeCopy(shop, look, after) };
    },
  ),
  copies(2),
  copies(20),
  withReturn('ipn-with-return', 'The IPN and the returning browser at the same time, the IPN first.', true),
  withReturn(
    'return-with-ipn',
    'The IPN and the returning browser at the same time, the browser first.',
    false,
  ),
  {
    ...text('retry-while-running', 'A retry while the first attempt is still running.'),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        await shop.pay(payment);
        const request = targetOf(shop, payment).post(shop.ipnOf(payment));
        const first = shop.send(request);
        await pause(Math.max(shop.calibration.answerMs / 2, 1));
        const observation = await shop.send(request);
        await first;
        await shop.lookUntilPaid(payment);
        const after = await shop.lookAfterGrace(payment);
        return { ...evidence(request, observation), ...(await judgeTogether(shop, payment, before, after)) };
      }),
  },
];
