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
  'Stock, credit, mails or downloads are given out again for each copy, and a gateway does send copies.';
const LATER_MS = 1_000;

const text = family({
  class: 'once',
  group: 'once',
  harm: HARM,
  mistake: 'paid-more-than-once',
  alone: true,
});

/** What the probes say of a copy that came after the payment: anything that changed is a second effect. */
function judgeCopy(shop: Shop, look: OrderSnapshot, after: OrderSnapshot): Pick<Finding, 'verdict' | 'why'> {
  if (!shop.canLook) return withoutProbe('whether it had a second effect');
  if (!after.paid)
    return { verdict: 'fail', why: 'After a copy of its own IPN the order is no longer paid.' };
  const changed = shop.changedEffects(look, after);
  if (after.text !== look.text && !shop.changesByItself) changed.unshift('what the probe says of the order');
  return changed.length
    ? { verdict: 'fail', why: `A copy changed ${changed.join(', ')} once more. ${HARM}` }
    : heldOnce(shop);
}

/** That nothing changed proves something only where a probe tells what one payment does. */
function heldOnce(shop: Shop): Pick<Finding, 'verdict' | 'why'> {
  if (shop.hasEffectProbe) return { verdict: 'pass' };
  const why =
    "no probe tells what a payment does, only whether the order is paid: name one that counts mails, stock or credit, such as --probe mails='<command or url>', or let the order's probe tell a number that grows";
  return { verdict: 'unproven', why };
}

/** A copy of the IPN that paid the order. */
const replay = (
  name: string,
  about: string,
  send: (shop: Shop, shot: ProbeRequest) => Promise<unknown>,
): AuditCase =>
  afterPayment(text(name, about), async ({ shop, payment }, { look, shot }) => {
    await send(shop, shot);
    const { shown, after } = await sendAndLook(shop, payment, shot);
    return { ...shown, ...judgeCopy(shop, look, after) };
  });

/** What came together has had the effect of one payment: as much as that of the control, not a multiple of it. */
async function judgeTogether(
  shop: Shop,
  payment: Payment,
  before: OrderSnapshot,
  after: OrderSnapshot,
): Promise<Pick<Finding, 'verdict' | 'why'>> {
  if (!shop.canLook) return withoutProbe('how many effects there were');
  if (!after.paid) return { verdict: 'fail', why: 'After copies that came together the order is not paid.' };
  const { changes, amount } = shop.calibration;
  if (amount !== payment.amount) return heldOnce(shop);
  const several = [...numericChanges(before, after)].flatMap(([place, change]) => {
    const times = change / (changes.get(place) ?? change);
    return times > 1 && Number.isInteger(times) ? [{ place, times }] : [];
  });
  if (!several.length) return heldOnce(shop);
  // The number of an invoice is another one for each order: only what one payment always changes by as much counts.
  const single = await changesOfOne(shop);
  if (!single) {
    const why =
      'an effect looks like several, and there are no more orders to see what a single payment does';
    return { verdict: 'unproven', why };
  }
  const found = several.find(({ place }) => single.get(place) === changes.get(place));
  return found
    ? { verdict: 'fail', why: `One payment had its effect ${found.times} times (${found.place}). ${HARM}` }
    : { verdict: 'pass' };
}

/** What an order changes that is paid once. */
async function changesOfOne(shop: Shop): Promise<Map<string, number> | undefined> {
  const order = await shop.parts.orders.take();
  if (!order) return undefined;
  try {
    const before = await shop.look(order);
    const paid = await paidOrder(shop, order);
    return paid && numericChanges(before, paid.look);
  } finally {
    shop.parts.orders.release(order, false);
  }
}

/** Requests that reach the shop in the same instant, and what a copy does afterwards. */
const together = (
  name: string,
  about: string,
  shotsOf: (shop: Shop, payment: Payment) => readonly ProbeRequest[] | string,
): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment, before) => {
      const shots = shotsOf(shop, payment);
      if (typeof shots === 'string') return skipped(shots);
      await shop.pay(payment);
      const observations = await shop.sendTogether(shots);
      await shop.lookUntilPaid(payment);
      const after = await shop.lookAfterGrace(payment);
      const judged = await judgeTogether(shop, payment, before, after);
      const index = Math.max(
        shots.findIndex(({ body }) => body !== undefined),
        0,
      );
      const [shot, observation] = [shots[index], observations[index]];
      if (!shot || !observation) return skipped('nothing was sent');
      const said = `${shots.length} requests in the same instant: ${evidence(shot, observation).sent}`;
      return { ...evidence(shot, observation, said), curl: curlOfAll(shots), ...judged };
    }),
});

const copies = (count: number) =>
  together(`copies-${count}`, `${count} copies of the IPN in the same instant.`, (shop, payment) =>
    Array.from({ length: count }, () => targetOf(shop, payment).post(shop.ipnOf(payment))),
  );

/** The browser comes back while the IPN arrives. */
const withReturn = (name: string, about: string, ipnFirst: boolean): AuditCase =>
  together(name, about, (shop, payment) => {
    const refused = shop.parts.gateway.egress.unreachable(payment.successUrl);
    if (!shop.parts.hasOrders || refused)
      return 'the success_url is not one of this shop that can be opened here';
    const both = [targetOf(shop, payment).post(shop.ipnOf(payment)), { url: payment.successUrl }];
    return ipnFirst ? both : both.toReversed();
  });

export const ONCE: readonly AuditCase[] = [
  replay('replay-at-once', 'The same IPN again, at once.', () => Promise.resolve()),
  replay('replay-later', 'The same IPN again, a second later.', () => pause(LATER_MS)),
  replay('replay-twice', 'The same IPN twice again, each over a connection of its own.', (shop, shot) =>
    shop.send(shot),
  ),
  afterPayment(
    text('replay-other-trx', 'The same IPN again with another payment_trx, which is not signed.'),
    async ({ shop, payment, ipn, post }, { look }) => {
      const shot = post(ipn.set('trx', [...ipn.get('trx')].toReversed().join('')));
      const { shown, after } = await sendAndLook(shop, payment, shot);
      return { ...shown, ...judgeCopy(shop, look, after) };
    },
  ),
  copies(2),
  copies(20),
  withReturn('ipn-with-return', 'IPN and browser in the same instant, the IPN first.', true),
  withReturn('return-with-ipn', 'Browser and IPN in the same instant, the browser first.', false),
  {
    ...text('retry-while-running', 'A retry that comes while the first attempt still runs.'),
    run: (shop) =>
      withOrder(shop, async (payment, before) => {
        await shop.pay(payment);
        const shot = targetOf(shop, payment).post(shop.ipnOf(payment));
        const first = shop.send(shot);
        await pause(Math.max(shop.calibration.answerMs / 2, 1));
        const observation = await shop.send(shot);
        await first;
        await shop.lookUntilPaid(payment);
        const after = await shop.lookAfterGrace(payment);
        return { ...evidence(shot, observation), ...(await judgeTogether(shop, payment, before, after)) };
      }),
  },
];
