import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { connectGatewaySim, GatewayError, type GatewaySim, verifyIpn } from '../../src/index.ts';
import type { FireOptions } from '../../src/library/api.ts';
import { SNAPSHOT_VERSION } from '../../src/store/migrations.ts';
import { startLibrary } from '../helpers/library.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { enter, ORDER } from '../helpers/sim.ts';

describe('payments', () => {
  it('are created with working defaults, even if plain JavaScript passes null, or with the given values', async () => {
    const sim = await startLibrary();
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
    const sim = await startLibrary();
    await expect(sim.payments.create({ amount: '0', identifier: 'x'.repeat(21) })).rejects.toMatchObject({
      name: 'GatewayError',
      code: 'invalid_fields',
      problems: [expect.stringContaining('identifier'), expect.stringContaining('amount')],
    });
    await expect(sim.payments.create({ publicKey: 'pub_nobody' })).rejects.toThrow('Invalid api key');
  });

  it('are settled with a visit of the redirect address on request', async () => {
    const receiver = await startReceiver([{}, { body: 'Thank you' }]);
    const sim = await startLibrary();
    const { id } = await sim.payments.create({ ipnUrl: receiver.url, successUrl: `${receiver.url}/paid` });
    expect((await sim.payments.approve(id, { visit: true })).visit).toEqual({
      ...{ status: 200, location: null, body: 'Thank you', error: null },
    });
    expect(receiver.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /', 'GET /paid']);
  });

  it('are no longer waited for once the signal is aborted', async () => {
    const sim = await startLibrary();
    const given = new AbortController();
    const waited = sim.payments.waitFor({ identifier: 'never' }, { timeout: '1h', signal: given.signal });
    given.abort(new Error('the test is over'));
    await expect(waited).rejects.toThrow('the test is over');
  });

  it('can be waited for', async () => {
    const sim = await startLibrary();
    const waited = sim.payments.waitFor({ identifier: 'later', status: 'succeeded' });
    await sim.payments.create({ identifier: 'later', customerEmail: 'approve@gateway-sim.test' });
    expect(await waited).toMatchObject({ identifier: 'later', settledBy: 'auto' });
  });
});

describe('IPNs', () => {
  it('can be waited for', async () => {
    const sim = await startLibrary();
    await sim.payments.create({ identifier: 'order-1', ipnUrl: 'http://127.0.0.1:9/ipn' });
    const waited = sim.ipns.waitFor({ payment: 'order-1', state: 'failed' });
    const { delivery } = await sim.payments.approve('order-1');
    expect(await waited).toMatchObject({ id: delivery?.id });
  });

  it('are signed with the current key', async () => {
    const receiver = await startReceiver();
    const sim = await startLibrary();
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
  it("merchants are listed and created, and new keys for one do not change the first one's", async () => {
    const sim = await startLibrary();
    const { publicKey } = sim;
    const second = await sim.merchants.create('second');
    expect((await sim.merchants.list()).data.map(({ name }) => name)).toContain('second');
    expect((await sim.merchants.generateKeys('second')).publicKey).not.toBe(second.publicKey);
    expect(sim.publicKey).toBe(publicKey);
    await expect(sim.merchants.generateKeys('third')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('codes of live payments arrive in the inbox', async () => {
    const sim = await startLibrary();
    const { checkoutUrl, id } = await sim.payments.create({ identifier: 'order-1', mode: 'live' });
    const waited = sim.inbox.waitFor({ payment: 'order-1' });
    await enter(checkoutUrl, 'email', { email: 'wallet@example.com' });
    expect(await waited).toMatchObject({ paymentId: id, code: expect.stringMatching(/^\d{6}$/) });
    expect((await sim.inbox.list()).data).toHaveLength(1);
    expect(await sim.inbox.waitFor({ payment: id })).toEqual(await waited);
  });

  it('requests are listed by path, method and payment, and waited for', async () => {
    const sim = await startLibrary();
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
    const sim = await startLibrary();
    const frozen = await sim.clock.freeze(new Date('2040-01-01T00:00:00Z'));
    expect(frozen).toMatchObject({ now: '2040-01-01T00:00:00.000Z', frozen: true });
    expect(await sim.clock.advance(60_000)).toMatchObject({ now: '2040-01-01T00:01:00.000Z' });
    expect(await sim.clock.freeze()).toMatchObject({ frozen: true });
    const wrong = [sim.clock.advance('soon'), sim.clock.advance(-1), sim.clock.freeze(new Date('never'))];
    for (const one of wrong) await expect(one).rejects.toMatchObject({ code: 'usage' });
  });

  it('a move of the clock that waits for a hanging receiver ends after its time limit', async () => {
    const sim = await startLibrary({ delivery: 'redirect-then-ipn' });
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

  it('the state is reset, exported and restored, and the keys stay correct', async () => {
    const sim = await startLibrary();
    await sim.payments.create({ identifier: 'order-1', amount: '1.00' });
    const snapshot = await sim.snapshot();
    const { publicKey } = sim;
    const { publicKey: changed } = await sim.merchants.generateKeys();
    await sim.reset();
    expect(sim.publicKey).toBe(changed);
    expect((await sim.payments.list()).data).toEqual([]);
    await sim.payments.create({ identifier: 'after' });
    await sim.restore(snapshot);
    expect(sim.publicKey).toBe(publicKey);
    expect((await sim.payments.list()).data.map(({ identifier }) => identifier)).toEqual(['order-1']);
    await sim.payments.create();
    await expect(sim.restore({ version: SNAPSHOT_VERSION + 1 })).rejects.toMatchObject({
      code: 'invalid_fields',
    });
    expect((await sim.payments.list()).data).toHaveLength(2);
  });
});

describe('a wait that fails', () => {
  const TIMEOUT = { timeout: 30 };
  const messageOf = async (waited: Promise<unknown>) => {
    const error = await waited.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'timed_out' });
    return (error as GatewayError).message.split('\n  ');
  };

  it('for a payment reports what was initiated and rejected instead', async () => {
    const sim = await startLibrary();
    expect(await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT))).toEqual([
      'there was no payment with identifier "order-1" within 0.03 s',
      'no payment was initiated',
    ]);
    const other = await sim.payments.create({ identifier: 'order-2' });
    await fetch(sim.initiateUrl, { method: 'OPTIONS' });
    await fetch(`${sim.url}/sandbox/payments/initiate`, { method: 'POST' });
    await sim.payments.create({ amount: 'much', publicKey: '' }).catch(() => {});
    await sim.faults.set({ route: 'initiate', status: 503 });
    await sim.payments.create().catch(() => {});
    expect(await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT))).toEqual([
      'there was no payment with identifier "order-1" within 0.03 s',
      `payment "order-2" is pending (sandbox, ${other.id})`,
      expect.stringMatching(/^POST \/sandbox\/payment\/initiate was rejected \(503\): fault rule: /),
      expect.stringMatching(
        /^POST \/sandbox\/payment\/initiate was rejected \(200\): public_key is required; amount must be a plain/,
      ),
      expect.stringMatching(
        /^POST \/sandbox\/payments\/initiate was rejected \(404\): .*\/sandbox\/payment\/initiate/,
      ),
    ]);
    const [, happened] = await messageOf(
      sim.payments.waitFor({ identifier: 'order-2', status: 'succeeded' }, TIMEOUT),
    );
    expect(happened).toBe(`payment "order-2" is pending (sandbox, ${other.id})`);
  });

  it('for a payment names the options that accept a rejected request as in code', async () => {
    const sim = await startLibrary();
    const body = new URLSearchParams({ ...ORDER, public_key: sim.publicKey, site_logo: '', currency: 'npr' });
    await fetch(sim.initiateUrl, { method: 'POST', body });
    const [, , reason] = await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT));
    expect(reason).toMatch(
      /: site_logo is required; For clients .*, use profile \(observed\) or accept this request with: startGatewaySim\(\{ loose: true, currency: \['NPR'\] \}\)$/,
    );
  });

  it('for an IPN reports the state of the existing ones', async () => {
    const receiver = await startReceiver([{ status: 503 }]);
    const sim = await startLibrary();
    const wait = () => messageOf(sim.ipns.waitFor({ payment: 'order-1', state: 'delivered' }, TIMEOUT));
    expect(await wait()).toEqual([
      'there was no IPN with payment "order-1", state "delivered" within 0.03 s',
      'there is no payment "order-1"',
    ]);
    await sim.payments.create({ identifier: 'order-1', ipnUrl: `${receiver.url}/ipn` });
    expect((await wait())[1]).toBe('payment "order-1" is pending: no IPN was sent for it');
    const { delivery } = await sim.payments.approve('order-1');
    expect((await wait())[1]).toMatch(
      `IPN ${delivery?.id} of "order-1" to ${receiver.url}/ipn is failed: Your handler answered 503`,
    );
    expect(await messageOf(sim.ipns.waitFor({ state: 'refused' }, TIMEOUT))).toHaveLength(2);
  });

  it('for a request reports what was requested instead', async () => {
    const sim = await startLibrary();
    expect((await messageOf(sim.requests.waitFor({ path: '/api/cards' }, TIMEOUT)))[1]).toBe(
      'the service was not called',
    );
    await sim.payments.create();
    expect(await messageOf(sim.requests.waitFor({ path: '/api/cards' }, TIMEOUT))).toEqual([
      'there was no request with path "/api/cards" within 0.03 s',
      'POST /sandbox/payment/initiate returned 200',
    ]);
  });

  it('for a code reports who received codes instead', async () => {
    const sim = await startLibrary();
    expect(await messageOf(sim.inbox.waitFor({ payment: 'order-1' }, TIMEOUT))).toEqual([
      'there was no verification code for payment "order-1" within 0.03 s',
      'no code was sent: a live checkout sends one when the customer enters an e-mail',
    ]);
  });

  it('ends immediately if its arguments are invalid or the emulator has stopped', async () => {
    const sim = await startLibrary();
    const client = await connectGatewaySim(sim.url);
    const wrong = { status: 'paid' } as unknown as { status: 'succeeded' };
    await expect(client.payments.waitFor(wrong)).rejects.toMatchObject({ code: 'invalid_fields' });
    await expect(client.payments.waitFor({}, { timeout: 'soon' })).rejects.toMatchObject({ code: 'usage' });
    await sim.stop();
    await expect(client.payments.waitFor()).rejects.toMatchObject({ code: 'no_server' });
  });

  it.each([
    ['text as the filter', 'order-1', undefined, 'the filter must be an object (got "order-1")'],
    ['a timeout in the filter', { timeout: 500 }, undefined, 'timeout is not a filter'],
    ['a number of milliseconds', {}, 100, 'the second argument of waitFor must be an object'],
    ['a mistyped timeout', {}, { timout: 100 }, 'unknown field timout: did you mean timeout?'],
  ])('rejects %s', async (_, filter, options, message) => {
    const sim = await startLibrary();
    for (const { waitFor } of [sim.payments, sim.ipns, sim.requests, sim.inbox] as { waitFor: unknown }[]) {
      // Like a call from plain JavaScript.
      const wait = waitFor as (...given: unknown[]) => Promise<unknown>;
      const refused = { code: 'usage', message: expect.stringContaining(message) };
      await expect(wait(filter, options)).rejects.toMatchObject(refused);
    }
  });

  it.each<[string, (sim: GatewaySim) => Promise<unknown>, string]>([
    ['of the inbox', (sim) => sim.inbox.waitFor({ paymet: 'x' } as object), 'did you mean payment?'],
    ['of an audit', (sim) => sim.audit({ ipnUrll: 'x' } as never), 'ipnUrll: did you mean ipnUrl?'],
    ['of a connection', ({ url }) => connectGatewaySim(url, { contrlToken: 'x' } as object), 'controlToken?'],
  ])('a mistyped name %s is rejected', async (_, call, message) => {
    const refused = { code: 'usage', message: expect.stringContaining(message) };
    await expect(call(await startLibrary())).rejects.toMatchObject(refused);
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
      `${shop.url}/order made no payment: it answered 500 no cart`,
    );
  });
});

/** An emulator, a receiver, and an IPN sent to it by hand. */
async function listening() {
  const sim = await startLibrary();
  const receiver = await sim.listen();
  const fire = (options: FireOptions = {}) => sim.ipns.fire({ to: receiver.url, ...options });
  return { sim, receiver, fire };
}

it('the IPN of an approved payment is received as valid, with its fields and its raw body', async () => {
  const { sim, receiver } = await listening();
  const ipnUrl = `${receiver.url}/ipn?token=1`;
  await sim.payments.create({ identifier: 'order-1', amount: '49.90', ipnUrl });
  await sim.payments.approve('order-1');
  const ipn = await receiver.waitFor({ identifier: 'order-1' });
  expect(ipn).toMatchObject({
    method: 'POST',
    url: '/ipn?token=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    fields: { status: 'success', identifier: 'order-1', 'data[amount]': '49.90' },
    valid: true,
    reason: null,
  });
  expect(new URLSearchParams(ipn.body).get('identifier')).toBe('order-1');
  expect(receiver.received).toEqual([ipn]);
});

it('a forged IPN is received with the reason why it is invalid', async () => {
  const { receiver, fire } = await listening();
  await fire({ tamper: ['amount'] });
  expect(await receiver.waitFor()).toMatchObject({
    valid: false,
    reason: expect.stringContaining('signature'),
  });
});

it('JSON has the same field names as a form', async () => {
  const { receiver, fire } = await listening();
  await fire({ format: 'json', amount: '7.50' });
  expect(await receiver.waitFor({ 'data[amount]': '7.50' })).toMatchObject({ valid: true });
});

it('the receiver sends the given response, or the result of a handler', async () => {
  const { receiver, fire } = await listening();
  const answered = async () => {
    const [delivery] = await fire({ amount: '7.50' });
    const { responseStatus, responseBody } = delivery?.attempts.at(-1) ?? {};
    return [responseStatus, responseBody];
  };
  expect(await answered()).toEqual([200, '']);
  receiver.respondWith(503);
  expect(await answered()).toEqual([503, '']);
  receiver.respondWith({ body: 'OK' });
  expect(await answered()).toEqual([200, 'OK']);
  receiver.respondWith(({ fields }) => ({ status: 409, body: `no ${fields['data[amount]']}` }));
  expect(await answered()).toEqual([409, 'no 7.50']);
  receiver.respondWith(() => {
    throw new Error('a bug in the handler');
  });
  expect(await answered()).toEqual([500, 'Error: a bug in the handler']);
});

it.each([99, 600, null, 'OK', { statsu: 500 }])('the receiver rejects %j as a response', async (answer) => {
  const { receiver } = await listening();
  expect(() => receiver.respondWith(answer as 200)).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('the error for a missing IPN lists the IPNs that were received or sent instead', async () => {
  const { sim, receiver, fire } = await listening();
  const waited = (identifier: string) => receiver.waitFor({ identifier }, { timeout: 0 });
  await expect(waited('order-2')).rejects.toThrow(
    `there was no IPN with identifier "order-2" within 0 s\n  ${receiver.url} received nothing\n  no IPN was sent`,
  );
  await sim.ipns.fire({ to: 'http://127.0.0.1:9/ipn', identifier: 'order-1' });
  await expect(waited('order-2')).rejects.toThrow('of "order-1" to http://127.0.0.1:9/ipn is failed');
  await fire({ identifier: 'order-1' });
  await expect(waited('order-2')).rejects.toThrow('POST / had identifier "order-1": valid');
});

it('an incomplete or oversized request is ignored, and the next one is received', async () => {
  const { receiver, fire } = await listening();
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1').resume();
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
  await once(socket, 'close');
  const large = await fetch(receiver.url, { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) });
  expect([large.status, receiver.received]).toEqual([413, []]);
  await fire();
  expect(receiver.received).toHaveLength(1);
});

it('the test must close the receiver of a connected emulator; an emulator that the test started closes its own receiver', async () => {
  const { sim, receiver } = await listening();
  const connected = await connectGatewaySim(sim.url);
  const other = await connected.listen();
  await other.close();
  await other.close();
  await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  expect((await fetch(receiver.url)).status).toBe(200);
  await sim.stop();
  await expect(fetch(receiver.url)).rejects.toThrow('fetch failed');
});
