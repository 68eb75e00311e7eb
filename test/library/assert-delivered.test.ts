import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startLibrary } from '../helpers/library.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';

/** A receiver whose code drops the last zero of an amount, unless it is `right`. */
async function startShop(isRight: (request: number) => boolean) {
  const handler = ({ body }: Received, number: number): Answer => {
    const form = new URLSearchParams(body);
    const amount = form.get('data[amount]') ?? '';
    const text = `${isRight(number) ? amount : Number(amount)}${form.get('identifier')}`;
    const expected = createHmac('sha256', 'sec_sim_example_not_a_real_key').update(text).digest('hex');
    return expected.toUpperCase() === form.get('signature') ? {} : { status: 400 };
  };
  const receiver = await startReceiver(handler);
  const sim = await startLibrary();
  const payment = await sim.payments.create({ amount: '49.90', ipnUrl: `${receiver.url}/ipn` });
  return { sim, payment, receiver };
}

describe('ipns.assertDelivered', () => {
  it('returns the IPN, by payment, identifier and id', async () => {
    const { sim, payment } = await startShop(() => true);
    await sim.payments.approve(payment.id);
    const ipn = await sim.ipns.assertDelivered(payment);
    expect(ipn).toMatchObject({ state: 'delivered', paymentId: payment.id });
    for (const reference of [payment.identifier, ipn.id, ipn]) {
      expect(await sim.ipns.assertDelivered(reference)).toEqual(ipn);
    }
  });

  it('fails with the cause that the receiver shows, and the fix', async () => {
    const { sim, payment, receiver } = await startShop(() => false);
    await sim.payments.approve(payment.id);
    const failure = sim.ipns.assertDelivered(payment);
    await expect(failure).rejects.toThrow('Your code signs 49.9. The IPN says 49.90.');
    await expect(failure).rejects.toThrow('Sign the text of data.amount');
    const asked = receiver.requests.length;
    await expect(sim.ipns.assertDelivered(payment, { diagnose: false })).rejects.toThrow('49.9');
    expect(receiver.requests).toHaveLength(asked);
  });

  it('fails although the IPN is accepted later: a gateway sends it once', async () => {
    const { sim, payment } = await startShop((request) => request > 1);
    await sim.payments.approve(payment.id);
    await expect(sim.ipns.assertDelivered(payment)).rejects.toThrow('Your receiver answered 400');
  });

  it('says what happened instead if there is no IPN', async () => {
    const { sim, payment } = await startShop(() => true);
    await expect(sim.ipns.assertDelivered(payment, { timeout: 0 })).rejects.toThrow(
      `payment "${payment.identifier}" is pending: no IPN was sent for it`,
    );
  });
});

describe('payments.visit', () => {
  it('returns the payment that the shop made, or says what it answered', async () => {
    const { sim } = await startShop(() => true);
    const shop = await startReceiver(({ body }) => {
      if (!body) return { status: 500, body: 'no cart' };
      return {
        status: 303,
        after: sim.payments.create({ amount: new URLSearchParams(body).get('total') ?? '' }),
      };
    });
    expect(await sim.payments.visit(`${shop.url}/order`, { total: '7.50' })).toMatchObject({
      amount: '7.50',
      status: 'pending',
    });
    await expect(sim.payments.visit(`${shop.url}/order`)).rejects.toThrow(
      `${shop.url}/order made no payment: it answered 500 no cart`,
    );
  });
});
