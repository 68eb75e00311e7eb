import { describe, expect, it } from 'vitest';
import type { TimelineEntry } from '../../src/contract/payment.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { payWithMistakes } from '../helpers/busy.ts';
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

/** Starts an emulator and a receiver. */
async function shopWith(script: Answer[], options: StartOptions = {}) {
  const receiver = await startReceiver(script);
  return { sim: await startSim(options), ipn_url: `${receiver.url}/ipn` };
}

const STORY = [
  'initiated',
  'opened',
  'email_refused',
  'email_entered',
  'code_refused',
  'settled',
  'ipn_attempted',
  'redirected',
];

describe('the timeline of a payment', () => {
  it.each([false, true])('has every step in order (paused clock: %s)', async (frozen) => {
    const { sim, ipn_url } = await shopWith([{ body: 'OK' }]);
    if (frozen) await post(sim, '/clock', { freeze: 'now' });
    await payWithMistakes(sim, { ipn_url });
    const { status, identifier, timeline } = await story(sim, 'order-1');
    expect({ status, identifier }).toEqual({ status: 'succeeded', identifier: 'order-1' });
    expect(timeline.map(({ event }) => event)).toEqual(STORY);
    expect(timeline.at(-1)?.detail).toBe(ORDER['success_url']);
    expect(timeline.find(({ event }) => event === 'ipn_attempted')).toMatchObject({
      deliveryId: expect.stringMatching(/^ipn_/),
      attempt: { number: 1, url: ipn_url, responseStatus: 200, responseBody: 'OK', error: null },
    });
  });

  it('begins with the warnings about the request', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
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

  it('tells a forged IPN from a genuine one', async () => {
    const { sim, ipn_url } = await shopWith([{}]);
    await sim.initiate({ ...ORDER, ipn_url });
    await post(sim, '/ipns', { payment: 'order-1', tamper: ['amount'] });
    const { timeline } = await story(sim, 'order-1');
    expect(timeline.at(-1)?.detail).toMatch(/attempt 1: returned 200; tampered with: amount 49\.90 → /);
  });

  it('ends with what is scheduled', async () => {
    const { sim, ipn_url } = await shopWith([{ status: 500 }], { ipnSchedule: ['1h'] });
    await payWithMistakes(sim, { ipn_url });
    const { timeline } = await story(sim, 'order-1');
    expect(timeline.map(({ event }) => event)).toEqual([...STORY, 'ipn_due']);
    expect(timeline.at(-1)?.detail).toMatch(/^ipn_\w+ attempt 2 is due$/);
    await post(sim, '/clock', { advance: '1h' });
    const later = (await story(sim, 'order-1')).timeline.map(({ event }) => event);
    expect(later).toEqual([...STORY, 'ipn_attempted']);
  });
});
