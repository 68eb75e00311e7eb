import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultRule } from '../../src/contract/fault.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { rawExchange, requestBytes } from '../helpers/raw.ts';
import { fields } from '../helpers/records.ts';
import { ask, type Sim, startSim } from '../helpers/sim.ts';

interface ErrorAnswer {
  message: string;
  errors: string[];
}

/** Starts an emulator with these fault rules. */
async function simWith(faults: FaultRule[], options: StartOptions = {}): Promise<Sim> {
  const sim = await startSim(options);
  expect((await ask(sim, 'PUT', '/faults', { faults })).status).toBe(200);
  return sim;
}

/** Sends a valid initiate request with this identifier. */
function initiate(sim: Sim, identifier = 'order-1', path = '/sandbox/payment/initiate'): Promise<Response> {
  const all = fields({ public_key: sim.publicKey, identifier }) as Record<string, string>;
  return fetch(sim.url + path, { method: 'POST', body: new URLSearchParams(all) });
}

const paymentCount = async (sim: Sim) => (await sim.control<{ data: unknown[] }>('/payments')).data.length;
const used = async (sim: Sim) =>
  (await sim.control<{ data: { used: number }[] }>('/faults')).data.map((rule) => rule.used);

describe('the list of faults', () => {
  it('is replaced completely or not at all', async () => {
    const sim = await simWith([{ route: 'ipn', drop: true }]);
    const refused = await ask<ErrorAnswer>(sim, 'PUT', '/faults', {
      faults: [
        { route: 'cards', drop: true },
        { route: 'initiate', staus: 503 },
        { route: 'nix', drop: true },
      ],
    });
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0]).toBe('unknown field faults.1.staus: did you mean status?');
    expect(refused.body.errors.join('\n')).toContain('faults.2.route must be initiate, checkout, cards, ipn');
    expect(await sim.control('/faults')).toMatchObject({ data: [{ route: 'ipn' }] });
  });

  it('is on the dashboard only while a rule can act, but always in the status', async () => {
    const sim = await simWith([{ route: 'initiate', status: 503, times: 1 }]);
    const dashboard = async () => (await fetch(`${sim.url}/_sim`)).text();
    expect(await sim.control('/status')).toMatchObject({ faults: [{ route: 'initiate', spent: false }] });
    expect(await dashboard()).toContain('initiate: status 503');
    await initiate(sim);
    expect(await sim.control('/status')).toMatchObject({ faults: [{ route: 'initiate', spent: true }] });
    expect(await dashboard()).not.toContain('initiate: status 503');
  });

  it('never affects /_sim', async () => {
    const sim = await simWith([{ route: '/*', drop: true }]);
    expect((await ask(sim, 'GET', '/faults')).status).toBe(200);
    await expect(fetch(`${sim.url}/nowhere`)).rejects.toThrow();
  });
});

describe('a fault on a service route', () => {
  it.each(['/payment/initiate', '/sandbox/payment/initiate'])(
    'returns its status from %s the configured number of times, and creates no payment',
    async (path) => {
      const sim = await simWith([{ route: 'initiate', status: 503, times: 2 }]);
      const answers = [await initiate(sim, 'a', path), await initiate(sim, 'a', path)];
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      expect(answers[0]?.headers.get('access-control-allow-origin')).toBe('*');
      expect(answers[0]?.headers.get('x-gateway-sim-fault')).toBe('1');
      expect(await answers[0]?.json()).toMatchObject({
        error: 'true',
        message: expect.stringContaining('on purpose'),
      });
      expect(await paymentCount(sim)).toBe(0);
      expect(await (await initiate(sim, 'a', path)).json()).toMatchObject({ success: 'ok' });
    },
  );

  it('returns 429 with Retry-After in seconds', async () => {
    const sim = await simWith([{ route: 'initiate', retryAfter: '90s' }]);
    const answer = await initiate(sim);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '90']);
  });

  it('sends no body with a status that allows none', async () => {
    const sim = await simWith([{ route: 'initiate', status: 204 }]);
    const answer = await initiate(sim);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
  });

  it('closes the connection without a response, and creates no payment', async () => {
    const sim = await simWith([{ route: 'initiate', drop: true, times: 1 }]);
    await expect(initiate(sim)).rejects.toThrow();
    expect(await paymentCount(sim)).toBe(0);
    expect(await sim.control('/requests')).toMatchObject({
      data: [{ status: 444, notes: ['fault rule: connection dropped'] }],
    });
    expect((await initiate(sim)).status).toBe(200);
  });

  it('cuts off the response after the payment was created', async () => {
    const sim = await simWith([{ route: 'initiate', truncate: true, times: 1 }]);
    // Node's client discards an incomplete body.
    const form = new URLSearchParams(fields({ public_key: sim.publicKey }) as Record<string, string>);
    const { status, headers, body } = await rawExchange(
      sim.server.port,
      requestBytes(
        'POST',
        '/sandbox/payment/initiate',
        { 'Content-Type': 'application/x-www-form-urlencoded' },
        String(form),
      ),
    );
    expect([status, body]).toEqual([200, expect.stringMatching(/^\{"success":"ok"/)]);
    expect(body.length).toBe(Math.floor(Number(headers['content-length']) / 2));
    expect(await paymentCount(sim)).toBe(1);
  });

  it('sends malformed JSON', async () => {
    const sim = await simWith([{ route: 'initiate', malformed: true }]);
    const text = await (await initiate(sim)).text();
    expect(text).toMatch(/^\{"success""ok"/);
    expect(await paymentCount(sim)).toBe(1);
  });

  it('waits in real time, even if the clock is paused', async () => {
    const sim = await simWith([{ route: 'initiate', latency: '60ms..80ms' }]);
    await ask(sim, 'POST', '/clock', { freeze: 'now' });
    const began = performance.now();
    expect((await initiate(sim)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThanOrEqual(59);
  });

  it('does not delay a stop while it waits', async () => {
    const sim = await simWith([{ route: 'initiate', latency: '10m' }]);
    const answer = initiate(sim);
    await expect.poll(() => used(sim)).toEqual([1]);
    await sim.server.stop();
    // The request was answered, and not closed when the stop timed out.
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['order-*', ['order-1', 'other'], [503, 200]],
    ['other', ['order-1', 'other'], [200, 503]],
  ])(
    'acts only on identifiers that match %s, and leaves the body to the route',
    async (identifier, sent, statuses) => {
      const sim = await simWith([{ route: 'initiate', status: 503, identifier }]);
      const answers = [];
      for (const one of sent) answers.push((await initiate(sim, one)).status);
      expect(answers).toEqual(statuses);
      expect(await paymentCount(sim)).toBe(1);
    },
  );

  it('leaves an unreadable body to the route', async () => {
    const sim = await simWith([{ route: 'initiate', status: 503, identifier: 'a' }]);
    const send = (type: string) =>
      fetch(`${sim.url}/payment/initiate`, { method: 'POST', headers: { 'Content-Type': type }, body: '{' });
    expect((await send('application/json')).status).toBe(400);
    expect((await send('text/plain')).status).toBe(415);
  });

  it('reads the identifier of a body with the wrong type, even a large one', async () => {
    const sim = await simWith([{ route: 'initiate', status: 503, identifier: 'a' }]);
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const init = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x'.repeat(2 ** 20 + 1) };
    const refused = await fetch(`${sim.url}/sandbox/payment/initiate`, init);
    expect(refused.status).toBe(415);
    expect((await initiate(sim)).status).toBe(200);
    expect(uncaught).toEqual([]);
  });

  it('acts on the checkout of payments whose identifier matches', async () => {
    const sim = await simWith([{ route: 'checkout', status: 500, identifier: 'order-1' }]);
    const urls = [];
    for (const identifier of ['order-1', 'order-2']) {
      urls.push(((await (await initiate(sim, identifier)).json()) as { url: string }).url);
    }
    const statuses = await Promise.all(urls.map(async (url) => (await fetch(url)).status));
    expect(statuses).toEqual([500, 200]);
    const step = await fetch(urls[0]?.replace('?', '/email?') ?? '', { method: 'POST' });
    expect(step.status).toBe(500);
  });

  it('does not act on a preflight', async () => {
    const sim = await simWith([{ route: 'initiate', status: 503, times: 1 }]);
    const preflight = await fetch(`${sim.url}/payment/initiate`, { method: 'OPTIONS' });
    expect(preflight.status).toBe(204);
    expect(await used(sim)).toEqual([0]);
  });
});
