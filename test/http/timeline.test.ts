import { describe, expect, it } from 'vitest';
import type { TimelineEntry } from '../../src/contract/payment.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { ask, ORDER, type Sim, startSim } from '../helpers/sim.ts';

interface Story {
  id: string;
  status: string;
  identifier: string;
  timeline: TimelineEntry[];
}

const story = (sim: Sim, ref: string) => sim.control<Story>(`/payments/${ref}`);

async function post(sim: Sim, path: string, json: unknown): Promise<void> {
  expect((await ask(sim, 'POST', path, json)).status).toBeLessThan(300);
}

/** An emulator and a receiver, with one sandbox payment initiated; returns its checkout. */
async function initiated(
  script: Answer[],
  options: StartOptions = {},
): Promise<{ sim: Sim; checkout: string; receiverUrl: string }> {
  const receiver = await startReceiver(script);
  const sim = await startSim(options);
  const checkout = await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
  return { sim, checkout, receiverUrl: receiver.url };
}

/** Pays on the pages, with a wrong e-mail first. */
async function pay(checkout: string): Promise<void> {
  await fetch(checkout);
  const steps = [
    ['email', { email: 'somebody@else.test' }],
    ['email', { email: 'test_mode@mail.com' }],
    ['code', { code: '222666' }],
  ] as const;
  for (const [name, form] of steps) {
    await fetch(checkout.replace('/checkout?', `/checkout/${name}?`), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(form),
    });
  }
}

const STORY = [
  'initiated',
  'opened',
  'email_refused',
  'email_entered',
  'settled',
  'ipn_attempted',
  'redirected',
];

describe('the timeline of a payment', () => {
  it.each([false, true])('has every step in order (frozen clock: %s)', async (frozen) => {
    const { sim, checkout } = await initiated([{ body: 'OK', headers: { 'X-Shop': 'yes' } }]);
    if (frozen) await post(sim, '/clock', { freeze: 'now' });
    await pay(checkout);
    const { status, identifier, timeline } = await story(sim, 'order-1');
    expect({ status, identifier }).toEqual({ status: 'succeeded', identifier: 'order-1' });
    expect(timeline.map(({ event }) => event)).toEqual(STORY);
    expect(timeline.at(-1)?.detail).toBe('http://localhost:3000/paid');
  });

  it('has the request and response of every attempt', async () => {
    const { sim, checkout, receiverUrl } = await initiated([{ body: 'OK', headers: { 'X-Shop': 'yes' } }]);
    await pay(checkout);
    const { timeline } = await story(sim, 'order-1');
    const entry = timeline.find(({ event }) => event === 'ipn_attempted');
    expect(entry).toMatchObject({
      deliveryId: expect.stringMatching(/^ipn_/),
      attempt: {
        number: 1,
        url: `${receiverUrl}/ipn`,
        requestBody: expect.stringContaining('status=success&signature='),
        responseStatus: 200,
        responseBody: 'OK',
        error: null,
      },
    });
    expect(entry?.attempt?.requestHeaders).toContainEqual(['X-Gateway-Sim-Attempt', '1']);
    expect(entry?.attempt?.responseHeaders).toContainEqual(['X-Shop', 'yes']);
  });

  it('begins with the lint warnings', async () => {
    const { sim } = await initiated([{}]);
    await sim.initiate({ ...ORDER, cancel_url: 'http://other.test/' });
    const { timeline } = await story(sim, 'order-1');
    expect(timeline).toMatchObject([
      {
        event: 'initiated',
        warnings: [
          'identifier "order-1" was used before: this is a new payment with the same identifier',
          'success_url and cancel_url are on different hosts',
        ],
      },
    ]);
  });

  it('ends with what is scheduled', async () => {
    const { sim, checkout } = await initiated([{ status: 500 }], { ipnSchedule: ['1h'] });
    await pay(checkout);
    const { timeline } = await story(sim, 'order-1');
    expect(timeline.map(({ event }) => event)).toEqual([...STORY, 'ipn_due']);
    expect(timeline.at(-1)?.detail).toMatch(/^ipn_\w+ attempt 2 is due$/);
    await post(sim, '/clock', { advance: '1h' });
    const later = (await story(sim, 'order-1')).timeline.map(({ event }) => event);
    expect(later).toEqual([...STORY, 'ipn_attempted']);
  });
});
