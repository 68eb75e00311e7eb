import { request } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { timestamp } from '../../src/contract/time.ts';
import type { Delivery, Payment } from '../../src/domain/state.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { Store } from '../../src/store/store.ts';
import type { Clock, DueWork } from '../../src/system/clock.ts';
import { startAutoSettling } from '../../src/usecases/auto-settle.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { gate, startReceiver } from '../helpers/receiver.ts';
import { fields, NOW, pendingPayment, records, state } from '../helpers/records.ts';
import { ask, type Sim, startSim } from '../helpers/sim.ts';

const { public_key: _, ...FIELDS } = fields() as Record<string, string>;
const SUCCESS = 'http://127.0.0.1:4/thanks?order=1';
const CANCEL = 'http://127.0.0.1:4/cart';

async function clock(sim: Sim, body: object): Promise<void> {
  expect((await ask(sim, 'POST', '/clock', body)).status).toBe(200);
}

/** An emulator with a frozen clock, so that nothing happens before the test moves it. */
async function frozen(options: StartOptions = {}): Promise<Sim> {
  const sim = await startSim(options);
  await clock(sim, { freeze: 'now' });
  return sim;
}

const initiated = (sim: Sim, changes: Record<string, string> = {}, mode?: 'sandbox' | 'live') =>
  sim.initiate({ ...FIELDS, ...changes }, mode);
const payment = (sim: Sim, reference = 'order-1') => sim.control<Payment>(`/payments/${reference}`);

async function deliveries(sim: Sim): Promise<Delivery[]> {
  return (await sim.control<{ data: Delivery[] }>('/ipns')).data;
}

describe('automatic settlement', () => {
  it('follows rules, magic e-mails and --auto, each payment at its own time', async () => {
    const sim = await frozen({
      auto: 'approve',
      autoDelay: '5s',
      outcomes: [{ identifier: 'slow-*', outcome: 'approve', delay: '1m', delivery: 'ipn-twice' }],
    });
    await initiated(sim, { identifier: 'slow-1' });
    await initiated(sim, { identifier: 'magic', customer_email: 'cancel@gateway-sim.test' });
    await initiated(sim, { identifier: 'usual' });
    await initiated(sim, { identifier: 'by-hand', customer_email: 'pending@gateway-sim.test' });
    await clock(sim, { advance: '2m' });
    const { data } = await sim.control<{ data: Payment[] }>('/payments');
    const after = (one: Payment) => Date.parse(one.settledAt ?? '') - Date.parse(one.createdAt);
    expect(data.map((one) => [one.identifier, one.status, after(one)])).toEqual([
      ['by-hand', 'pending', Number.NaN],
      ['usual', 'succeeded', 5_000],
      ['magic', 'canceled', 5_000],
      ['slow-1', 'succeeded', 60_000],
    ]);
    expect((await deliveries(sim)).map(({ identifier }) => identifier)).toEqual([
      'slow-1',
      'slow-1',
      'usual',
    ]);
  });

  it.each([false, true])(
    'never happens before the response to initiate is sent (on disk: %s)',
    async (onDisk) => {
      const order: string[] = [];
      const receiver = await startReceiver(({ body }) => {
        order.push(`ipn ${new URLSearchParams(body).get('identifier')}`);
        return {};
      });
      const sim = await startSim({
        auto: 'approve',
        autoDelay: 0,
        ...(onDisk && { inMemory: false, dataDir: await temporaryFolder() }),
        // The first response is slow, the others are not.
        faults: [{ route: 'initiate', identifier: 'n0', latency: '300ms' }],
      });
      const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const initiate = (identifier: string) =>
        new Promise<void>((resolve, reject) => {
          const changes = { public_key: sim.publicKey, identifier, ipn_url: `${receiver.url}/ipn` };
          const sent = request(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', headers });
          sent.on('response', (answer) => {
            order.push(`answer ${identifier}`);
            answer.resume().on('end', resolve);
          });
          sent.on('error', reject).end(new URLSearchParams({ ...FIELDS, ...changes }).toString());
        });
      await Promise.all(names.map(initiate));
      await receiver.request(names.length);
      for (const name of names)
        expect(order.indexOf(`answer ${name}`)).toBeLessThan(order.indexOf(`ipn ${name}`));
    },
  );

  it.each([
    { auto: '1s', expires: '2s', by: 'auto', status: 'failed' },
    { auto: '2s', expires: '2s', by: 'auto', status: 'failed' },
    { auto: '3s', expires: '2s', by: 'clock', status: 'expired' },
  ])(
    'leaves a payment $status if due after $auto, with expiry after $expires',
    async ({ auto, expires, by, status }) => {
      const sim = await frozen({ auto: 'fail', autoDelay: auto, paymentExpires: expires });
      await initiated(sim);
      await clock(sim, { advance: '10s' });
      expect(await payment(sim)).toMatchObject({ status, settledBy: by });
    },
  );
});

describe('the checkout of an automatically settled payment', () => {
  const EMAIL = { approve: SUCCESS, cancel: CANCEL, fail: CANCEL };

  async function settledCheckout(
    options: StartOptions,
    outcome: string,
    mode: 'sandbox' | 'live' = 'sandbox',
  ) {
    const sim = await frozen(options);
    const checkout = await initiated(sim, { customer_email: `${outcome}@gateway-sim.test` }, mode);
    await clock(sim, { advance: '1s' });
    return { sim, checkout };
  }

  const visit = (url: string, method: string, body?: Record<string, string>) =>
    fetch(url, {
      method,
      redirect: 'manual',
      headers: { Accept: 'text/html' },
      ...(body && { body: new URLSearchParams(body) }),
    });

  it.each([
    { outcome: 'approve', mode: 'live' },
    { outcome: 'cancel', mode: 'sandbox' },
    { outcome: 'fail', mode: 'sandbox' },
  ] as const)('redirects to its URL, by GET and by POST: $outcome, $mode', async ({ outcome, mode }) => {
    const { sim, checkout } = await settledCheckout({}, outcome, mode);
    for (const method of ['GET', 'POST', 'GET']) {
      const answer = await visit(checkout, method);
      expect([answer.status, answer.headers.get('location')]).toEqual([303, EMAIL[outcome]]);
    }
    const { timeline } = await sim.control<{ timeline: { event: string; detail: string | null }[] }>(
      '/payments/order-1',
    );
    expect(timeline.filter(({ event }) => event === 'redirected')[0]?.detail).toBe(EMAIL[outcome]);
  });

  it.each([
    ['email', { email: 'test_mode@mail.com' }],
    ['code', { code: '222666' }],
    ['cancel', {}],
    ['panel', { outcome: 'fail' }],
    ['back', {}],
  ])('redirects a browser that still shows the form %s', async (form, body) => {
    const { sim, checkout } = await settledCheckout({}, 'approve');
    const answer = await visit(checkout.replace('/checkout?', `/checkout/${form}?`), 'POST', body);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, SUCCESS]);
    expect(await payment(sim)).toMatchObject({ status: 'succeeded', settledBy: 'auto' });
  });

  it('sends the first attempt of the IPN before the redirect, as in any settlement', async () => {
    const answered = gate();
    const receiver = await startReceiver([{ after: answered.opened }]);
    const sim = await startSim({ auto: 'approve', autoDelay: 0 });
    const checkout = await initiated(sim, { ipn_url: `${receiver.url}/ipn` });
    await receiver.request(1);
    const order: string[] = [];
    const redirect = visit(checkout, 'GET').then((answer) => {
      order.push('redirect');
      return answer;
    });
    expect(await sim.control('/livez')).toEqual({ status: 'live' });
    order.push('ipn');
    answered.open();
    expect((await redirect).headers.get('location')).toBe(SUCCESS);
    expect(order).toEqual(['ipn', 'redirect']);
  });

  it.each([['redirect-then-ipn'], ['ipn-then-redirect']] as const)(
    'does not wait forever for a receiver that hangs: %s',
    async (delivery) => {
      const receiver = await startReceiver(['hang']);
      const sim = await startSim({
        auto: 'approve',
        autoDelay: 0,
        ipnTimeout: '200ms',
        delivery,
      });
      const checkout = await initiated(sim, { ipn_url: `${receiver.url}/ipn` });
      await receiver.request(1);
      const answer = await visit(checkout, 'GET');
      expect([answer.status, answer.headers.get('location')]).toEqual([303, SUCCESS]);
    },
  );
});

it('is done before anything is read, although no timer ran while the machine was suspended', async () => {
  const sim = await startSim({ paymentExpires: '30m' });
  const checkout = await initiated(sim);
  vi.useFakeTimers({ now: Date.now() + 7_200_000, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect((await fetch(checkout)).status).toBe(410);
  expect(await payment(sim)).toMatchObject({ status: 'expired' });
  const settled = await ask(sim, 'POST', '/payments/order-1/settle', { outcome: 'approve' });
  expect(settled.status).toBe(409);
});

it.each([
  ['storage_failed', ['pay_1']],
  ['wrong_state', []],
] as const)('a payment that could not be settled with %s is retried: %j', async (code, expected) => {
  const payment = { ...pendingPayment(state()), id: 'pay_1', expiresAt: timestamp(NOW) };
  const store = await Store.inMemory({ ...records(), payments: [payment] });
  const planned: DueWork[] = [];
  const retried: string[] = [];
  const clock: Pick<Clock, 'plan' | 'retry'> = {
    plan: (_, _id, work) => void planned.push(work),
    retry: (id) => void retried.push(id),
  };
  const settle = async () => {
    throw new GatewayError(code, 'it failed');
  };
  startAutoSettling(store, clock, { settle });
  await planned[0]?.run('pay_1');
  expect(retried).toEqual(expected);
});
