import { describe, expect, it } from 'vitest';
import type { Delivery as DeliveryView } from '../../src/contract/delivery.ts';
import type { FaultRule } from '../../src/contract/fault.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { fields } from '../helpers/records.ts';
import { ask, idOf, type Sim, startSim } from '../helpers/sim.ts';

/** Initiates and approves payments with these identifiers, one by one. */
async function approve(sim: Sim, ipnUrl: string, ...identifiers: string[]): Promise<void> {
  for (const identifier of identifiers) {
    const { public_key: _, ...others } = fields({ ipn_url: ipnUrl, identifier }) as Record<string, string>;
    const id = idOf(await sim.initiate(others));
    await ask(sim, 'POST', `/payments/${id}/settle`, { outcome: 'approve' });
  }
}

/** Starts an emulator with one fault on IPNs, and approves the payment `a`. */
async function approvedWith(fault: Partial<FaultRule>, options: StartOptions = {}, script?: Answer[]) {
  const receiver = await startReceiver(script);
  const sim = await startSim({ ...options, faults: [{ route: 'ipn', ...fault }] });
  await approve(sim, `${receiver.url}/ipn`, 'a');
  return { sim, receiver };
}

const deliveries = async (sim: Sim) => (await sim.control<{ data: DeliveryView[] }>('/ipns')).data;
const advance = (sim: Sim, by: string) => ask(sim, 'POST', '/clock', { advance: by });
const freeze = (sim: Sim) => ask(sim, 'POST', '/clock', { freeze: 'now' });
const identifierIn = (body: string) => new URLSearchParams(body).get('identifier');

describe('a fault on IPNs', () => {
  it('acts like an error from the receiver, and a later retry reaches the receiver', async () => {
    const { sim, receiver } = await approvedWith({ status: 503, times: 2 }, { ipnSchedule: ['1h', '1h'] });
    expect(receiver.requests).toHaveLength(0);
    await advance(sim, '3h');
    expect(receiver.requests).toHaveLength(1);
    const [delivery] = await deliveries(sim);
    expect(delivery?.attempts.map(({ responseStatus }) => responseStatus)).toEqual([503, 503, 200]);
    expect(delivery?.attempts[0]?.error).toContain('fault rule');
  });

  it('applies its Retry-After like one from the receiver', async () => {
    const receiver = await startReceiver();
    const sim = await startSim({
      faults: [{ route: 'ipn', retryAfter: '50m', times: 1 }],
      ipnSchedule: ['1s'],
    });
    await freeze(sim);
    await approve(sim, `${receiver.url}/ipn`, 'a');
    const [delivery] = await deliveries(sim);
    expect(delivery?.attempts[0]).toMatchObject({
      responseStatus: 429,
      responseHeaders: [['Retry-After', '3000']],
    });
    const started = Date.parse(delivery?.attempts[0]?.startedAt ?? '');
    expect(Date.parse(delivery?.nextAttemptAt ?? '') - started).toBe(50 * 60_000);
  });

  it('loses the IPN, and the attempt fails', async () => {
    const { sim, receiver } = await approvedWith({ drop: true });
    expect(await deliveries(sim)).toMatchObject([
      {
        state: 'failed',
        attempts: [{ responseStatus: null, error: expect.stringContaining('dropped it; nothing was sent') }],
      },
    ]);
    expect(receiver.requests).toHaveLength(0);
  });

  it('sends the same bytes twice, records both, and delivers once', async () => {
    const { sim, receiver } = await approvedWith({ duplicate: true }, {}, [{}, { status: 409 }]);
    await receiver.request(2);
    await expect.poll(async () => (await deliveries(sim))[0]?.attempts.length).toBe(2);
    const [delivery] = await deliveries(sim);
    expect(delivery).toMatchObject({
      state: 'delivered',
      attempts: [
        { number: 1, responseStatus: 200 },
        { number: 2, responseStatus: 409 },
      ],
    });
    const [one, two] = receiver.requests;
    expect(two?.body).toBe(one?.body);
  });

  it("delays the IPN once, on the emulator's clock", async () => {
    const receiver = await startReceiver();
    const sim = await startSim({ faults: [{ route: 'ipn', delay: '2h' }] });
    await freeze(sim);
    await approve(sim, `${receiver.url}/ipn`, 'a');
    expect(await deliveries(sim)).toMatchObject([
      { state: 'pending', attempts: [], note: 'postponed by a fault rule: delayed by 2h' },
    ]);
    await advance(sim, '7199s');
    expect(receiver.requests).toHaveLength(0);
    await advance(sim, '1s');
    expect(receiver.requests).toMatchObject([
      { headers: expect.not.objectContaining({ 'x-gateway-sim-fault': expect.anything() }) },
    ]);
    expect(await deliveries(sim)).toMatchObject([{ state: 'delivered', note: null }]);
  });

  it('sends the next IPN before this one', async () => {
    const receiver = await startReceiver();
    const sim = await startSim({ faults: [{ route: 'ipn', reorder: true }] });
    await freeze(sim);
    await approve(sim, `${receiver.url}/ipn`, 'a', 'b', 'c', 'd');
    await receiver.request(4);
    expect(receiver.requests.map(({ body }) => identifierIn(body))).toEqual(['b', 'a', 'd', 'c']);
  });

  it('sends the IPN after a while if no other follows', async () => {
    const receiver = await startReceiver();
    const sim = await startSim({ faults: [{ route: 'ipn', reorder: true }] });
    await freeze(sim);
    await approve(sim, `${receiver.url}/ipn`, 'a');
    expect(receiver.requests).toHaveLength(0);
    await advance(sim, '10s');
    expect(receiver.requests).toHaveLength(1);
  });

  it('changes only the signature, and says so in a header', async () => {
    const { sim, receiver } = await approvedWith({ corruptSignature: true, times: 1 });
    await ask(sim, 'POST', `/ipns/${(await deliveries(sim))[0]?.id}/resend`);
    const [bad, good] = receiver.requests;
    const signatureIn = (body = '') => new URLSearchParams(body).get('signature') ?? '';
    const [wrong, right] = [signatureIn(bad?.body), signatureIn(good?.body)];
    expect(right).toMatch(/^[0-9A-F]{64}$/);
    expect([wrong.slice(1), wrong === right]).toEqual([right.slice(1), false]);
    expect(bad?.body.replace(wrong, right)).toBe(good?.body);
    expect(bad?.headers['x-gateway-sim-fault']).toBe('signature corrupted');
    expect(good?.headers['x-gateway-sim-fault']).toBeUndefined();
  });

  it.each([
    ['form', { truncate: true }, /^status=success&signature=/],
    ['form', { malformed: true }, /^statussuccess&signature=/],
    ['json', { malformed: true }, /^\{"status""success"/],
  ] as const)('corrupts a %s body with %j, and sends the right length', async (ipnFormat, effect, body) => {
    const receiver = await startReceiver();
    const sim = await startSim({ faults: [{ route: 'ipn', ...effect }], ipnFormat });
    // In JSON, these characters have more than one byte each.
    await approve(sim, `${receiver.url}/ipn`, 'Zoë €');
    const [received] = receiver.requests;
    expect(received?.body).toMatch(body);
    const [delivery] = await deliveries(sim);
    expect(delivery?.body).not.toBe(received?.body);
    expect(delivery?.attempts[0]?.requestBody).toBe(received?.body);
    expect(received?.headers['content-length']).toBe(String(Buffer.byteLength(received?.body ?? '')));
  });

  it('for one payment does not delay the IPNs of another', async () => {
    const receiver = await startReceiver();
    const sim = await startSim({
      faults: [{ route: 'ipn', latency: '10m', identifier: 'slow' }],
      delivery: 'redirect-then-ipn',
    });
    await approve(sim, `${receiver.url}/ipn`, 'slow', 'fast');
    expect(identifierIn((await receiver.request(1)).body)).toBe('fast');
  });

  it('does not affect retries after it is cleared', async () => {
    const { sim, receiver } = await approvedWith({ drop: true }, { ipnSchedule: ['1h'] });
    await ask(sim, 'DELETE', '/faults');
    await advance(sim, '1h');
    await receiver.request(1);
    expect(await deliveries(sim)).toMatchObject([{ state: 'delivered' }]);
  });
});
