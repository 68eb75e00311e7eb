import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import type { ControlError as ErrorBody } from '../../src/contract/error-body.ts';
import { Secrets } from '../../src/contract/secrets.ts';
import { Courier } from '../../src/delivery/courier.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { Poster } from '../../src/delivery/poster.ts';
import { UNSEEN } from '../../src/diagnosis/seen-rows.ts';
import { Faults } from '../../src/domain/faults.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { Store } from '../../src/store/store.ts';
import { Clock } from '../../src/system/clock.ts';
import { ipnUseCases } from '../../src/usecases/ipns.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { context, dueDelivery, records } from '../helpers/records.ts';
import { ask, ORDER, type Sim, startSim } from '../helpers/sim.ts';
import { sign } from '../merchants/node-shop.ts';

/** An address for documentation (RFC 5737), which is never allowed or reachable. */
const PUBLIC_URL = 'http://203.0.113.9/ipn';

interface Settled {
  payment: { status: string };
  delivery: DeliveryView | null;
  redirectUrl: string | null;
}

const post = <Body>(sim: Sim, path: string, body?: object) => ask<Body>(sim, 'POST', path, body);

/** Starts an emulator with one pending payment, order-1, whose IPN goes to `ipnUrl`. */
async function withPayment(ipnUrl: string, options: StartOptions = {}): Promise<Sim> {
  const sim = await startSim(options);
  await sim.initiate({ ...ORDER, ipn_url: ipnUrl });
  return sim;
}

async function settle(sim: Sim, input: object = {}): Promise<Settled> {
  const { status, body } = await post<Settled>(sim, '/payments/order-1/settle', {
    outcome: 'approve',
    ...input,
  });
  expect(status).toBe(200);
  return body;
}

const show = (sim: Sim, id: string) => sim.control<DeliveryView>(`/ipns/${id}`);

function delivered(settled: Settled): DeliveryView {
  if (settled.delivery) return settled.delivery;
  throw new Error('no delivery was made');
}

describe('the order of IPN and redirect', () => {
  it('redirect-then-ipn: the response is sent half a second before the IPN is due', async () => {
    const receiver = await startReceiver();
    const sim = await withPayment(receiver.url);
    const settled = await settle(sim, { delivery: 'redirect-then-ipn' });
    const { attempts, createdAt, nextAttemptAt } = delivered(settled);
    expect(attempts).toEqual([]);
    expect(Date.parse(nextAttemptAt ?? '') - Date.parse(createdAt)).toBe(500);
    expect(settled.redirectUrl).toBe(ORDER['success_url']);
    await receiver.request(1);
  });

  it('ipn-twice: two deliveries with the same bytes, one after the other; the response has the last one', async () => {
    const receiver = await startReceiver();
    const sim = await withPayment(receiver.url);
    const last = delivered(await settle(sim, { delivery: 'ipn-twice' }));
    const { data } = await sim.control<{ data: DeliveryView[] }>('/ipns?payment=order-1');
    expect(data.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(data[0]?.id).toBe(last.id);
    expect(receiver.requests.map(({ headers }) => headers['x-gateway-sim-delivery'])).toEqual(
      data.map(({ id }) => id).reverse(),
    );
    expect(receiver.requests[0]?.body).toBe(receiver.requests[1]?.body);
  });

  it("defaults to the order in the emulator's options", async () => {
    const sim = await withPayment(PUBLIC_URL, { delivery: 'redirect-only' });
    expect((await settle(sim)).delivery).toBeNull();
  });

  it('redirects after at most 3 s, even while the attempt is in progress', async () => {
    const receiver = await startReceiver(['hang']);
    const sim = await withPayment(receiver.url, { ipnTimeout: '60s' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let isSettled = false;
    const settling = settle(sim).finally(() => {
      isSettled = true;
    });
    await receiver.request(1);
    await vi.advanceTimersByTimeAsync(2_999);
    // An earlier response would have arrived before this one.
    await sim.control('/livez');
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const settled = await settling;
    expect(delivered(settled)).toMatchObject({ state: 'pending', attempts: [] });
    expect(settled.redirectUrl).toBe(ORDER['success_url']);
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('--forward-ipn', () => {
  it.each([
    ['/local', '?order=1&q=%C3%A9', '/local?order=1&q=%C3%A9'],
    ['/local?from=sim', '?order=1', '/local?from=sim&order=1'],
    ['/local', '', '/local'],
  ])('to %s keeps the query %j (%s), and sends the ipn_url in a header', async (to, query, got) => {
    const receiver = await startReceiver();
    const sim = await withPayment(PUBLIC_URL + query, { forwardIpn: receiver.url + to });
    const delivery = delivered(await settle(sim));
    expect(delivery).toMatchObject({ state: 'delivered', url: PUBLIC_URL + query });
    expect(delivery.attempts[0]?.url).toBe(receiver.url + got);
    expect(receiver.requests[0]).toMatchObject({
      url: got,
      headers: { host: `127.0.0.1:${receiver.port}`, 'x-gateway-sim-original-url': PUBLIC_URL + query },
    });
  });

  it('does not affect IPNs that are sent by hand to another address', async () => {
    const [forwarded, named] = [await startReceiver(), await startReceiver()];
    const sim = await withPayment(PUBLIC_URL, { forwardIpn: forwarded.url });
    const { id } = delivered(await settle(sim));
    await post(sim, `/ipns/${id}/resend`, { to: `${named.url}/mine` });
    expect(named.requests.map(({ url }) => url)).toEqual(['/mine']);
    expect(named.requests[0]?.headers).not.toHaveProperty('x-gateway-sim-original-url');
    expect(forwarded.requests).toHaveLength(1);
  });

  it('allows its own host, which the guard would block, without a warning about the ipn_url', async () => {
    const receiver = await startReceiver();
    // The unspecified address reaches this machine, but is not a loopback address.
    const unspecified = receiver.url.replace('127.0.0.1', '0.0.0.0');
    const guarded = await withPayment(unspecified);
    expect(delivered(await settle(guarded)).state).toBe('refused');
    const sim = await withPayment(PUBLIC_URL, { forwardIpn: unspecified });
    expect(delivered(await settle(sim)).state).toBe('delivered');
    const { data } = await sim.control<{ data: { warnings: string[] }[] }>('/payments');
    expect(data[0]?.warnings).toEqual([]);
  });
});

describe('POST /_sim/ipns/:id/resend', () => {
  it.each(['form', 'json'] as const)(
    'signs a %s body again if the key pair was replaced, and says so',
    async (ipnFormat) => {
      const receiver = await startReceiver();
      const sim = await withPayment(receiver.url, { ipnFormat });
      const { id, body: before, merchantId } = delivered(await settle(sim));
      const { body: keys } = await post<{ secretKey: string }>(sim, `/merchants/${merchantId}/keys`);
      const { body: after } = await post<DeliveryView>(sim, `/ipns/${id}/resend`);
      const signature = sign('49.90', 'order-1', keys.secretKey);
      expect(after).toMatchObject({ state: 'delivered', note: expect.stringContaining('signed again') });
      expect(after.body).toBe(before.replace(/[0-9A-F]{64}/, signature));
      expect(receiver.requests.map(({ body }) => body)).toEqual([before, after.body]);
      const { body: third } = await post<DeliveryView>(sim, `/ipns/${id}/resend`);
      expect(third.body).toBe(after.body);
    },
  );

  it('to another address creates a new delivery with the same bytes, and leaves the old one unchanged', async () => {
    const [one, two] = [await startReceiver(), await startReceiver()];
    const sim = await withPayment(one.url);
    const first = delivered(await settle(sim));
    const { body: second } = await post<DeliveryView>(sim, `/ipns/${first.id}/resend`, {
      to: `${two.url}/x`,
    });
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ paymentId: first.paymentId, url: `${two.url}/x`, state: 'delivered' });
    expect(second.attempts).toHaveLength(1);
    expect(two.requests[0]?.body).toBe(first.body);
    expect(await show(sim, first.id)).toEqual(first);
  });

  it('names the flag that allows a blocked delivery', async () => {
    const sim = await withPayment(PUBLIC_URL);
    const { id, state } = delivered(await settle(sim));
    expect(state).toBe('refused');
    const { status, body } = await post<ErrorBody>(sim, `/ipns/${id}/resend`);
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'egress_refused' });
    expect(body.message).toContain('203.0.113.9 is neither a loopback nor a private address');
    expect(body.remedy).toBe(
      'Start the emulator with --allow-ipn-host 203.0.113.9, or send all IPNs to your handler with --forward-ipn <url>.',
    );
    expect((await show(sim, id)).attempts).toHaveLength(2);
  });

  it('adds attempts with the same bytes, and a failed one does not change a delivered IPN', async () => {
    const receiver = await startReceiver([{}, { status: 500 }, {}]);
    const sim = await withPayment(receiver.url);
    const { id } = delivered(await settle(sim));
    const { status, body } = await post<DeliveryView>(sim, `/ipns/${id}/resend`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      state: 'delivered',
      nextAttemptAt: null,
      note: 'a later attempt failed: the receiver returned 500',
    });
    expect(body.attempts.map(({ responseStatus }) => responseStatus)).toEqual([200, 500]);
    const { body: again } = await post<DeliveryView>(sim, `/ipns/${id}/resend`);
    expect(again).toMatchObject({ state: 'delivered', note: null });
    expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1);
  });

  it('does not change a delivered IPN whose address is no longer allowed, and says so', async () => {
    const receiver = await startReceiver();
    const ipnUrl = receiver.url.replace('127.0.0.1', '0.0.0.0');
    const dataDir = await temporaryFolder();
    const first = await withPayment(ipnUrl, { inMemory: false, dataDir, allowIpnHost: ['0.0.0.0'] });
    const { id, state } = delivered(await settle(first));
    expect(state).toBe('delivered');
    await first.server.stop();
    const sim = await startSim({ inMemory: false, dataDir });
    const { status, body } = await post<ErrorBody>(sim, `/ipns/${id}/resend`);
    expect([status, body.remedy]).toEqual([403, expect.stringContaining('--allow-ipn-host 0.0.0.0')]);
    expect(await show(sim, id)).toMatchObject({
      state: 'delivered',
      note: expect.stringContaining('a later attempt failed: 0.0.0.0 is neither'),
    });
  });

  it('to the emulator itself says that no option allows it', async () => {
    const receiver = await startReceiver();
    const sim = await withPayment(receiver.url);
    const { id } = delivered(await settle(sim));
    const { body } = await post<ErrorBody>(sim, `/ipns/${id}/resend`, { to: `${sim.url}/ipn` });
    expect(body).toMatchObject({
      code: 'egress_refused',
      message: expect.stringContaining('is the emulator itself'),
      remedy: expect.stringContaining('No option allows this address.'),
    });
  });

  it.each([undefined, 500])(
    'makes one attempt for each of twenty simultaneous requests (receiver status: %s)',
    async (status) => {
      const receiver = await startReceiver([status ? { status } : {}]);
      const sim = await withPayment(receiver.url);
      const { id } = delivered(await settle(sim));
      const resends = Array.from({ length: 20 }, () => post<DeliveryView>(sim, `/ipns/${id}/resend`));
      const counts = (await Promise.all(resends)).map(({ body }) => body.attempts.length);
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
      expect(receiver.requests).toHaveLength(21);
    },
  );

  it('waits for the current attempt to end, then makes its own', async () => {
    const receiver = await startReceiver(['hang', { body: 'second' }]);
    const sim = await withPayment(receiver.url, { ipnTimeout: '200ms' });
    const settling = settle(sim);
    const { headers } = await receiver.request(1);
    const id = String(headers['x-gateway-sim-delivery']);
    const { body } = await post<DeliveryView>(sim, `/ipns/${id}/resend`);
    await settling;
    expect(body.attempts.map(({ responseBody }) => responseBody)).toEqual([null, 'second']);
    expect(body.state).toBe('delivered');
  });

  it.each([
    ['ipn_nope', {}, 404, /no IPN delivery has the id "ipn_nope"/],
    [':id', { to: 'localhost:3000' }, 422, /to must be an absolute http or https address/],
    [':id', { too: 'x' }, 422, /unknown field too: did you mean to\?/],
  ])('rejects %s with %j: status %d', async (id, input, status, message) => {
    const receiver = await startReceiver();
    const sim = await withPayment(receiver.url);
    const made = delivered(await settle(sim));
    const answer = await post<ErrorBody>(sim, `/ipns/${id.replace(':id', made.id)}/resend`, input);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(message);
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('POST /_sim/ipns', () => {
  it('adds a note about the tampering after any other note', async () => {
    const receiver = await startReceiver([{ status: 500 }, {}]);
    const sim = await startSim();
    const input = { to: receiver.url, tamper: ['status=lost', 'amount'] };
    const { body } = await post<DeliveryView>(sim, '/ipns', input);
    expect(body).toMatchObject({
      status: 'lost',
      note: 'the receiver returned 500; tampered with: status success → lost, amount 100.00 → 9100.00',
    });
    const { body: again } = await post<DeliveryView>(sim, `/ipns/${body.id}/resend`);
    expect(again).toMatchObject({
      state: 'delivered',
      note: 'tampered with: status success → lost, amount 100.00 → 9100.00',
    });
  });

  it('sends a signed IPN without a payment only once, and responds after the attempt', async () => {
    const receiver = await startReceiver([{ status: 500, body: 'no' }]);
    const sim = await startSim({ ipnSchedule: ['1ms'] });
    const { status, body } = await post<DeliveryView>(sim, '/ipns', {
      to: `${receiver.url}/x`,
      identifier: 'inv-1',
      amount: '7.50',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      paymentId: null,
      identifier: 'inv-1',
      state: 'failed',
      nextAttemptAt: null,
    });
    expect(body.attempts.map(({ responseBody }) => responseBody)).toEqual(['no']);
    const sent = new URLSearchParams(receiver.requests[0]?.body);
    expect(sent.get('signature')).toBe(sign('7.50', 'inv-1', sim.secretKey));
    expect(sent.get('data[currency][code]')).toBe('USD');
  });

  it("sends a payment's IPN to its ipn_url, with the same bytes as after settling", async () => {
    const receiver = await startReceiver();
    const sim = await withPayment(`${receiver.url}/ipn?order=1`);
    await settle(sim);
    const { body } = await post<DeliveryView>(sim, '/ipns', { payment: 'order-1' });
    expect(body.paymentId).not.toBeNull();
    expect(receiver.requests[1]?.url).toBe('/ipn?order=1');
    expect(receiver.requests[1]?.body).toBe(receiver.requests[0]?.body);
  });

  it('sends the same bytes several times, and waits for the delay before each', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    const input = { to: receiver.url, times: 2, delay: '40ms' };
    const { body } = await post<{ data: DeliveryView[] }>(sim, '/ipns', input);
    expect(body.data.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(receiver.requests[0]?.body).toBe(receiver.requests[1]?.body);
    const waits = body.data.map(({ createdAt, attempts }) =>
      attempts.map(({ startedAt }) => Date.parse(startedAt) - Date.parse(createdAt)),
    );
    expect(waits[0]?.[0]).toBeGreaterThanOrEqual(40);
    expect(waits[1]?.[0]).toBeGreaterThanOrEqual(80);
  });

  it('never signs a forged IPN again', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    const { body } = await post<DeliveryView>(sim, '/ipns', { to: receiver.url, tamper: 'secret' });
    const { body: again } = await post<DeliveryView>(sim, `/ipns/${body.id}/resend`);
    expect(again).toMatchObject({ body: body.body, note: 'tampered with: signed with another key' });
  });

  it.each([
    [{}, 422, /to is required/],
    [{ to: PUBLIC_URL }, 403, /--allow-ipn-host 203\.0\.113\.9/],
    [{ to: ':url', payment: 'nope' }, 404, /no payment has the id or identifier "nope"/],
    [{ to: ':url', tamper: ['case', 'amuont'] }, 422, /did you mean amount\?/],
    [{ to: ':url', amount: '1e5' }, 422, /amount must be a plain decimal/],
    [{ to: ':url', times: 0 }, 422, /times must be a whole number from 1 to 1000/],
    [{ to: ':url', set: { data: 'x' } }, 422, /it is a group of fields; set data\.payment_trx/],
    [{ to: ':url', set: { '__proto__.x': 'x' } }, 422, /set expects field names/],
    [{ to: ':url', set: { note: 'x'.repeat(66_000) } }, 422, /must not exceed 65536 bytes \(64 KiB\)/],
    [
      { to: ':url', set: { note: 'x'.repeat(60_000) }, times: 1_000 },
      422,
      /times must be at most 13\d for an IPN of 60\d\d\d bytes/,
    ],
    [{ to: ':url', ammount: '1' }, 422, /unknown field ammount: did you mean amount\?/],
  ])('rejects %j with %d', async (input, status, message) => {
    const receiver = await startReceiver();
    const sim = await startSim();
    const to = 'to' in input ? { to: input.to === ':url' ? receiver.url : input.to } : {};
    const answer = await post<ErrorBody>(sim, '/ipns', { ...input, ...to });
    expect(answer.status).toBe(status);
    expect(answer.body.message).toMatch(message);
    expect(receiver.requests).toEqual([]);
  });
});

it('a resend fails if no attempt is made in time, and stays due', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const delivery = dueDelivery('http://127.0.0.1:9/ipn');
  const store = await Store.inMemory({ ...records(), deliveries: [delivery] });
  const parts = { store, context: () => context(), settings: context().settings };
  const faults = new Faults({ fraction: () => 0 });
  const poster = new Poster(new Egress([], () => undefined), {});
  // A courier that was not started makes no attempts, as when all its lanes are busy.
  const courier = new Courier({ ...parts, clock: new Clock(), poster, faults, onWaiting: () => {} });
  const others = { orderProbe: async () => undefined, rows: UNSEEN, secrets: new Secrets() };
  const resent = ipnUseCases({ ...parts, courier, ...others })
    .resend(delivery.id)
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(12_999);
  expect(await Promise.race([resent, 'waiting'])).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  expect(await resent).toMatchObject({
    code: 'timed_out',
    message: `IPN ${delivery.id} was not attempted within 13 s`,
  });
  expect(store.state.deliveries.get(delivery.id)).toMatchObject({ state: 'pending', attemptCount: 0 });
});
