import {
  type AuditCase,
  afterPayment,
  type Finding,
  family,
  judgeTraces,
  sendAndLook,
  targetOf,
  withOrder,
  withoutProbe,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';

const HARM = 'Anybody can cancel or reopen the orders of others, paid ones included.';

const text = family({ class: 'H', group: 'status', harm: HARM, mistake: 'status-not-checked' });

type Forge = (ipn: Ipn) => Ipn;

const unsigned: (status: string) => Forge = (status) => (ipn) => ipn.set('status', status).unset('signature');
const badlySigned: (status: string) => Forge = (status) => (ipn) => ipn.set('status', status).badlySigned();

/** Forged while the order is pending: it must stay so, and be payable afterwards. */
const onPending = (name: string, about: string, forge: Forge): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment, before) => {
      const { ipn, post } = targetOf(shop, payment);
      const { shown, after } = await sendAndLook(shop, payment, post(forge(ipn)));
      if (!shop.canLook) return { ...shown, ...withoutProbe() };
      if (after.paid)
        return { ...shown, verdict: 'fail', why: 'The shop took a forged failure for a payment.' };
      await shop.pay(payment);
      await shop.send(post(ipn));
      const paid = await shop.lookUntilPaid(payment);
      if (paid.paid) return { ...shown, verdict: 'pass', ...judgeTraces(shop, before, after) };
      const why = `After the forged IPN the order cannot be paid any more. ${HARM}`;
      return { ...shown, verdict: 'fail', why };
    }),
});

/** Forged after the order was paid: nothing may change. */
const onPaid = (name: string, about: string, forge: Forge): AuditCase =>
  afterPayment(text(name, about), async ({ shop, payment, ipn, post }, { look }): Promise<Finding> => {
    const { shown, after } = await sendAndLook(shop, payment, post(forge(ipn)));
    if (!shop.canLook) return { ...shown, ...withoutProbe() };
    const changed = shop.changedEffects(look, after);
    if (changed.length)
      return { ...shown, verdict: 'fail', why: `This changed: ${changed.join(', ')}. ${HARM}`, again: true };
    return { ...shown, verdict: after.paid ? 'pass' : 'fail' };
  });

const NO_SUCCESS = [
  ['failed', 'failure'],
  ['canceled', 'cancellation'],
  ['error', 'error'],
] as const;

export const STATUS: readonly AuditCase[] = [
  ...NO_SUCCESS.flatMap(([status, what]) => [
    onPending(`${status}-unsigned`, `An unsigned ${what} of a pending order.`, unsigned(status)),
    onPending(`${status}-badly-signed`, `A badly signed ${what} of a pending order.`, badlySigned(status)),
  ]),
  onPaid('failed-unsigned-paid', 'An unsigned failure of an order that is paid.', unsigned('failed')),
  onPaid(
    'failed-badly-signed-paid',
    'A badly signed failure of an order that is paid.',
    badlySigned('failed'),
  ),
  onPaid(
    'success-badly-signed-paid',
    'A badly signed success of an order that is paid.',
    badlySigned('success'),
  ),
  onPaid(
    'canceled-after-success',
    'A validly signed cancellation after the payment: status is not signed, and whoever saw the IPN can send it.',
    (ipn) => ipn.set('status', 'canceled'),
  ),
  {
    ...text('canceled-before-success', 'A validly signed cancellation of a pending order.'),
    run: (shop) =>
      withOrder(shop, async (payment) => {
        const { ipn, post } = targetOf(shop, payment);
        const { shown, after } = await sendAndLook(shop, payment, post(ipn.set('status', 'canceled')));
        if (!shop.canLook) return { ...shown, ...withoutProbe() };
        if (!after.paid) return { ...shown, verdict: 'pass' };
        const why = 'The shop took a cancellation for a payment: it does not look at the status.';
        return { ...shown, verdict: 'fail', why };
      }),
  },
];
