import { expect, it } from 'vitest';
import type { Payment } from '../../src/contract/payment.ts';
import { OUTCOMES } from '../../src/contract/vocabulary.ts';
import { ask, enter, ORDER, startSim } from '../helpers/sim.ts';

it('one of several simultaneous settlements succeeds, while the customer cancels and the time expires', async () => {
  const sim = await startSim({ paymentExpires: '1m' });
  const checkout = await sim.initiate(ORDER, 'live');
  const settle = async (outcome: string) => {
    const json = { outcome, delivery: 'ipn-only' };
    return ask<{ payment: Payment }>(sim, 'POST', '/payments/order-1/settle', json);
  };
  const settlements = [...OUTCOMES, ...OUTCOMES, ...OUTCOMES].map(settle);
  await Promise.all([enter(checkout, 'cancel'), ask(sim, 'POST', '/clock', { advance: '1m' })]);
  const won = (await Promise.all(settlements)).filter(({ status }) => status === 200);
  const { status, settledBy } = await sim.control<Payment>('/payments/order-1');
  expect(won.map(({ body }) => body.payment.status)).toEqual(settledBy === 'control' ? [status] : []);
  const { data } = await sim.control<{ data: unknown[] }>('/ipns');
  expect(data).toHaveLength(status === 'succeeded' ? 1 : 0);
});
