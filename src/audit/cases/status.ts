import {
  type AuditCase,
  afterPayment,
  CHANGES_ORDERS,
  type Finding,
  family,
  judgeTraces,
  PAYS_BY_ANY_STATUS,
  sendAndLook,
  targetOf,
  withOrder,
  withoutProbe,
} from '../case.ts';
import type { Ipn } from '../ipn.ts';
import { numericChanges } from '../shop.ts';

const text = family({ class: 'H', group: 'status', harm: CHANGES_ORDERS, mistake: 'status-not-checked' });

const AGAIN = 'An IPN for a payment that did not succeed fulfills a paid order again.';

type Forge = (ipn: Ipn) => Ipn;

const unsigned: (status: string) => Forge = (status) => (ipn) => ipn.set('status', status).unset('signature');
const badlySigned: (status: string) => Forge = (status) => (ipn) => ipn.set('status', status).badlySigned();

/** A forged IPN for a pending order, which must stay pending and payable. */
const onPending = (name: string, about: string, forge: Forge): AuditCase => ({
  ...text(name, about),
  run: (shop) =>
    withOrder(shop, async (payment, before) => {
      const { ipn, post } = targetOf(shop, payment);
      const { shown, after } = await sendAndLook(shop, payment, post(forge(ipn)));
      if (!shop.canLook) return { ...shown, ...withoutProbe() };
      if (after.paid)
        return {
          ...shown,
          verdict: 'fail',
          why: 'Your shop accepted a forged failure and marked the order as paid.',
          because: { mistake: 'status-not-checked', harm: PAYS_BY_ANY_STATUS },
        };
      await shop.pay(payment);
      await shop.send(post(ipn));
      const paid = await shop.lookUntilPaid(payment);
      if (paid.paid) return { ...shown, verdict: 'pass', ...judgeTraces(before, after) };
      const why = `After the forged IPN, the order can no longer be paid. ${CHANGES_ORDERS}`;
      return { ...shown, verdict: 'fail', why };
    }),
});

/**
 * A forged IPN for a paid order, which must not change.
 *
 * @param isSigned whether its signature is valid, so that the shop may count it as a payment
 */
const onPaid = (name: string, about: string, forge: Forge, isSigned = false): AuditCase =>
  afterPayment(text(name, about), async ({ shop, payment, ipn, post }, { look }): Promise<Finding> => {
    const { shown, after } = await sendAndLook(shop, payment, post(forge(ipn)));
    if (!shop.canLook) return { ...shown, ...withoutProbe() };
    const changed = shop.changedEffects(look, after);
    if (changed.length)
      return {
        ...shown,
        verdict: 'fail',
        why: `A forged IPN changed: ${changed.join(', ')}. ${CHANGES_ORDERS}`,
        again: true,
      };
    if (!after.paid) return { ...shown, verdict: 'fail' };
    const { changes } = shop.calibration;
    const again = [...numericChanges(look, after)].find(([place, change]) => changes.get(place) === change);
    if (isSigned && again) {
      const why = `The IPN took effect like a second payment (${again[0]}).`;
      return { ...shown, verdict: 'fail', why, because: { mistake: 'status-not-checked', harm: AGAIN } };
    }
    return { ...shown, verdict: 'pass', ...judgeTraces(look, after) };
  });

const UNPAID = ['failed', 'canceled', 'error'] as const;

export const STATUS: readonly AuditCase[] = [
  ...UNPAID.flatMap((status) => [
    onPending(
      `${status}-unsigned`,
      `An unsigned IPN with status "${status}" for a pending order.`,
      unsigned(status),
    ),
    onPending(
      `${status}-badly-signed`,
      `An incorrectly signed IPN with status "${status}" for a pending order.`,
      badlySigned(status),
    ),
  ]),
  onPaid(
    'failed-unsigned-paid',
    'An unsigned IPN with status "failed" for a paid order.',
    unsigned('failed'),
  ),
  onPaid(
    'failed-badly-signed-paid',
    'An incorrectly signed IPN with status "failed" for a paid order.',
    badlySigned('failed'),
  ),
  onPaid(
    'success-badly-signed-paid',
    'An incorrectly signed IPN with status "success" for a paid order.',
    badlySigned('success'),
  ),
  onPaid(
    'canceled-after-success',
    'A genuine IPN for a paid order with its status changed to "canceled" (the status is not signed).',
    (ipn) => ipn.set('status', 'canceled'),
    true,
  ),
  {
    ...text(
      'canceled-before-success',
      'A genuine IPN for a pending order with its status changed to "canceled".',
    ),
    harm: PAYS_BY_ANY_STATUS,
    run: (shop) =>
      withOrder(shop, async (payment) => {
        const { ipn, post } = targetOf(shop, payment);
        const { shown, after } = await sendAndLook(shop, payment, post(ipn.set('status', 'canceled')));
        if (!shop.canLook) return { ...shown, ...withoutProbe() };
        if (!after.paid) return { ...shown, verdict: 'pass' };
        const why =
          'Your shop accepted a cancellation and marked the order as paid: it does not check the status.';
        const { amount, currency } = after.order;
        return { ...shown, verdict: 'fail', why, unpaid: { amount, currency } };
      }),
  },
];
