import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../../src/contract/event.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { rawExchange, requestBytes } from '../../helpers/raw.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { ask, idOf, ORDER, type Sim, startSim } from '../../helpers/sim.ts';

/** One type for the responses of all routes under test. */
interface Answer {
  status: number;
  body: Partial<{
    code: string;
    message: string;
    publicKey: string;
    payment: object;
    delivery: { attempts: object[] };
    redirectUrl: string;
  }>;
}

const post = (sim: Sim, path: string, body: unknown = {}) => ask<Answer['body']>(sim, 'POST', path, body);

async function initiate(sim: Sim, identifier: string, changes: Record<string, string> = {}): Promise<string> {
  return idOf(await sim.initiate({ ...ORDER, identifier, ...changes }));
}

describe('/_sim/payments', () => {
  it.each([
    [{}, 'outcome'],
    [{ outcome: 'approve', dellivery: 'ipn-only' }, 'delivery'],
  ])('refuses to settle with %j and names %s', async (body, named) => {
    const sim = await startSim();
    await initiate(sim, 'a');
    const answer = await post(sim, '/payments/a/settle', body);
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining(named)]);
    expect(await sim.control('/payments/a')).toMatchObject({ status: 'pending' });
  });
});

describe('a route that takes no fields', () => {
  it.each([
    ['GET', '/status?x=1', null, 422],
    ['POST', '/reset?keys=drop', null, 422],
    ['POST', '/reset', '{"keepKeys":false}', 422],
    ['POST', '/reset', '{}', 200],
    ['POST', '/merchants/mer_demo/keys', '{"foo":1}', 422],
  ])('responds to %s %s with the body %j with %i', async (method, path, body, status) => {
    const sim = await startSim();
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(`${sim.url}/_sim${path}`, { method, headers, body });
    expect(response.status).toBe(status);
    const { message } = (await response.json()) as Answer['body'];
    if (status === 422) expect(message).toMatch(/^unknown field \w+: no fields are accepted here$/);
  });
});

it('a JSON body needs no Content-Type under /_sim', async () => {
  const { server } = await startSim();
  const bytes = requestBytes('POST', '/_sim/merchants', { Host: '127.0.0.1' }, '{"name":"Second"}');
  expect((await rawExchange(server.port, bytes)).status).toBe(201);
});

describe('/_sim/requests', () => {
  it('lists requests and responses, newest first, with credentials masked whole', async () => {
    const sim = await startSim();
    await initiate(sim, 'a');
    const headers = { Authorization: `Basic ${btoa(`me:${sim.secretKey}`)}`, Cookie: 'session=letmein' };
    await fetch(`${sim.url}/payment/initiate?x=1`, { method: 'POST', headers });
    const { data } = await sim.control<{ data: RecordedRequest[] }>('/requests');
    expect(data.map(({ target, status }) => [target, status])).toEqual([
      ['/payment/initiate?x=1', 415],
      ['/sandbox/payment/initiate', 200],
    ]);
    expect(data[0]?.requestHeaders).toMatchObject({ authorization: '…', cookie: '…' });
  });
});

describe('/_sim/status and /_sim/shutdown', () => {
  it('status shows counts and current options', async () => {
    const sim = await startSim({ loose: true });
    await initiate(sim, 'a');
    const status = await sim.control<Record<string, unknown>>('/status');
    expect(status).toMatchObject({ mode: 'in-memory', url: sim.url, dataDir: null, pid: process.pid });
    expect(status['counts']).toMatchObject({ payments: { pending: 1, succeeded: 0 } });
    expect(status['options']).toMatchObject({ loose: true });
  });

  it('shutdown reports when the next event is due, including an IPN in progress', async () => {
    const sim = await startSim({ inMemory: false, dataDir: await temporaryFolder() });
    const receiver = await startReceiver(['hang']);
    await initiate(sim, 'a', { ipn_url: receiver.url });
    await post(sim, '/payments/a/settle', { outcome: 'approve', delivery: 'redirect-then-ipn' });
    await receiver.request(1);
    expect((await post(sim, '/shutdown')).body).toMatchObject({ nextDue: expect.any(String) });
    await sim.server.stopped;
  });

  it('shutdown responds first, then closes the port and open streams', async () => {
    const sim = await startSim();
    const events = await fetch(`${sim.url}/_sim/events`);
    expect((await post(sim, '/shutdown')).body).toEqual({ stopping: true, pid: process.pid, nextDue: null });
    await sim.server.stopped;
    await events.text().catch(() => '');
    await expect(fetch(`${sim.url}/_sim/livez`)).rejects.toThrow();
  });
});
