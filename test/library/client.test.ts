import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyIpn } from '../../src/index.ts';
import { startClient } from '../helpers/library.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { enter } from '../helpers/sim.ts';

describe('payments', () => {
  it('are created with working defaults, even if plain JavaScript passes null, or with the given values', async () => {
    const sim = await startClient();
    const usual = await sim.payments.create(JSON.parse('{"identifier":null,"amount":null,"mode":null}'));
    expect(usual).toMatchObject({ status: 'pending', mode: 'sandbox', amount: '100.00', currency: 'USD' });
    expect(await sim.cards.create(JSON.parse('{"title":null}'))).toMatchObject({ title: 'Test card' });
    expect(usual).not.toHaveProperty('timeline');
    const page = await fetch(usual.checkoutUrl);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8']);
    const given = {
      identifier: 'order/1 ü',
      amount: '7.50',
      currency: 'EUR',
      details: 'Tea',
      ipnUrl: 'http://127.0.0.1:9/ipn',
      successUrl: 'http://127.0.0.1:9/ok',
      cancelUrl: 'http://127.0.0.1:9/no',
      siteLogo: 'http://127.0.0.1:9/logo.png',
      checkoutTheme: 'dark',
      customerName: 'Zoë',
      customerEmail: 'zoe@example.com',
      mode: 'live',
    } as const;
    expect(await sim.payments.create(given)).toMatchObject(given);
    expect(await sim.payments.get('order/1 ü')).toMatchObject({ timeline: [{ event: 'initiated' }] });
  });

  it('are rejected with every problem', async () => {
    const sim = await startClient();
    await expect(sim.payments.create({ amount: '0', identifier: 'x'.repeat(21) })).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'invalid_fields',
      problems: [expect.stringContaining('identifier'), expect.stringContaining('amount')],
    });
    await expect(sim.payments.create({ publicKey: 'pub_nobody' })).rejects.toThrow('Invalid api key');
  });

  it('are no longer waited for once the signal is aborted', async () => {
    const sim = await startClient();
    const given = new AbortController();
    const waited = sim.payments.waitFor({ identifier: 'never' }, { timeout: '1h', signal: given.signal });
    given.abort(new Error('the test is over'));
    await expect(waited).rejects.toThrow('the test is over');
  });

  it('can be waited for', async () => {
    const sim = await startClient();
    const waited = sim.payments.waitFor({ identifier: 'later', status: 'succeeded' });
    await sim.payments.create({ identifier: 'later', customerEmail: 'approve@gateway-sim.test' });
    expect(await waited).toMatchObject({ identifier: 'later', settledBy: 'auto' });
  });
});

describe('IPNs', () => {
  it('can be waited for', async () => {
    const sim = await startClient();
    await sim.payments.create({ identifier: 'order-1', ipnUrl: 'http://127.0.0.1:9/ipn' });
    const waited = sim.ipns.waitFor({ payment: 'order-1', state: 'failed' });
    const { delivery } = await sim.payments.approve('order-1');
    expect(await waited).toMatchObject({ id: delivery?.id });
  });

  it('are signed with the current key', async () => {
    const receiver = await startReceiver();
    const sim = await startClient();
    const before = sim.secretKey;
    const { secretKey } = await sim.merchants.generateKeys();
    expect([sim.secretKey, sim.env['GATEWAY_SIM_SECRET_KEY']]).toEqual([secretKey, secretKey]);
    expect(secretKey).not.toBe(before);
    await sim.payments.create({ identifier: 'order-1', amount: '5.00', ipnUrl: receiver.url });
    await sim.payments.approve('order-1');
    const { body } = await receiver.request(1);
    expect(verifyIpn(body, sim.secretKey)).toEqual({ valid: true, reason: null });
  });
});

describe('the other resources', () => {
  it("merchants are listed, and new keys for another do not change the first one's", async () => {
    const sim = await startClient();
    const { publicKey } = sim;
    const second = await sim.merchants.create('second');
    expect((await sim.merchants.list()).data.map(({ name }) => name)).toContain('second');
    expect((await sim.merchants.generateKeys('second')).publicKey).not.toBe(second.publicKey);
    expect(sim.publicKey).toBe(publicKey);
  });

  it('a wallet whose reference is a number instead of text is looked up', async () => {
    const sim = await startClient();
    await expect(sim.wallets.fund(5 as never, '1')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('codes of live payments arrive in the inbox', async () => {
    const sim = await startClient();
    const { checkoutUrl, id } = await sim.payments.create({ identifier: 'order-1', mode: 'live' });
    const waited = sim.inbox.waitFor({ payment: 'order-1' });
    await enter(checkoutUrl, 'email', { email: 'wallet@example.com' });
    expect(await waited).toMatchObject({ paymentId: id, code: expect.stringMatching(/^\d{6}$/) });
    expect((await sim.inbox.list()).data).toHaveLength(1);
    expect(await sim.inbox.waitFor({ payment: id })).toEqual(await waited);
  });

  it('requests are listed by path, method and payment, and waited for', async () => {
    const sim = await startClient();
    const waited = sim.requests.waitFor({ path: '/payment/initiate' });
    await sim.payments.create({ identifier: 'sandbox' });
    await sim.payments.create({ identifier: 'live', mode: 'live' });
    expect(await waited).toMatchObject({ method: 'POST', status: 200 });
    expect((await sim.requests.list()).data).toHaveLength(2);
    const { data } = await sim.requests.list({ path: '/sandbox/payment/initiate', method: 'post' });
    expect(data.map(({ requestBody }) => requestBody)).toEqual([
      expect.stringContaining('identifier=sandbox'),
    ]);
    expect((await sim.requests.list({ limit: 1 })).data).toHaveLength(1);
    expect((await sim.requests.list({ payment: 'live' })).data).toHaveLength(1);
    expect((await sim.requests.list({ path: '/api/cards' })).data).toEqual([]);
  });

  it('the clock takes dates and milliseconds', async () => {
    const sim = await startClient();
    await sim.clock.freeze(new Date('2040-01-01T00:00:00Z'));
    expect(await sim.clock.advance(60_000)).toMatchObject({ now: '2040-01-01T00:01:00.000Z' });
    expect(await sim.clock.freeze()).toMatchObject({ frozen: true });
    const wrong = [sim.clock.advance('soon'), sim.clock.advance(-1), sim.clock.freeze(new Date('never'))];
    await Promise.all(wrong.map((one) => expect(one).rejects.toMatchObject({ code: 'usage' })));
  });

  it('a move of the clock that waits for a hanging receiver ends after its time limit', async () => {
    const sim = await startClient({ delivery: 'redirect-then-ipn' });
    const receiver = await startReceiver(['hang']);
    await sim.clock.freeze();
    await sim.payments.create({ identifier: 'order-1', ipnUrl: receiver.url });
    await sim.payments.approve('order-1');
    await expect(sim.clock.advance('1h', { timeout: 200 })).rejects.toMatchObject({
      code: 'timed_out',
      message: expect.stringContaining('the due tasks took too long: the clock stopped at'),
    });
    // A restart would find the current state, too.
    const { now } = await sim.clock.now();
    const { clock } = (await sim.snapshot()) as unknown as { clock: { frozenAt: string }[] };
    expect(clock).toMatchObject([{ frozenAt: now }]);
    await receiver.close();
    await sim.clock.advance('1s', { timeout: '4m' });
    await expect(sim.clock.advance('1s', { timeout: '5m' })).rejects.toMatchObject({
      message: expect.stringContaining('timeout must be a duration such as 500ms or 10s, at most 240s'),
    });
    const misspelt = { timout: 1 } as object;
    await expect(sim.clock.advance('1s', misspelt)).rejects.toMatchObject({ code: 'usage' });
  });

  it('the state is restored, and the keys stay correct, also after a reset', async () => {
    const sim = await startClient();
    await sim.payments.create({ identifier: 'order-1' });
    const snapshot = await sim.snapshot();
    const { publicKey } = sim;
    const { publicKey: changed } = await sim.merchants.generateKeys();
    await sim.reset();
    expect(sim.publicKey).toBe(changed);
    await sim.payments.create({ identifier: 'after' });
    await sim.restore(snapshot);
    expect(sim.publicKey).toBe(publicKey);
    expect((await sim.payments.list()).data.map(({ identifier }) => identifier)).toEqual(['order-1']);
  });
});

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
  const sim = await startClient();
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
    await expect(failure).rejects.toThrow('Your handler signs 49.9. The IPN says 49.90.');
    await expect(failure).rejects.toThrow('Sign the text of data.amount');
    const asked = receiver.requests.length;
    await expect(sim.ipns.assertDelivered(payment, { diagnose: false })).rejects.toThrow('49.9');
    expect(receiver.requests).toHaveLength(asked);
  });

  it('fails although the IPN is accepted later: a gateway sends it once', async () => {
    const { sim, payment } = await startShop((request) => request > 1);
    await sim.payments.approve(payment.id);
    await expect(sim.ipns.assertDelivered(payment)).rejects.toThrow(
      'Your handler rejected a genuine IPN (400)',
    );
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
      `${shop.url}/order made no payment: it returned 500 no cart`,
    );
  });
});
