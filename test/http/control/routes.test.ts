import { describe, expect, it } from 'vitest';
import type { AuditProgress, AuditRequest, AuditRun } from '../../../src/contract/audit-report.ts';
import type { RecordedRequest } from '../../../src/contract/event.ts';
import { startAuditable } from '../../helpers/auditable.ts';
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

/** An emulator and a shop, which `start` audits. */
async function auditable(changed: Parameters<typeof startAuditable>[1] = {}) {
  const { sim, shop, asked } = await startAuditable({}, changed);
  const { ipnUrl, orderUrl, probeUrl, paidWhen } = asked;
  const request: AuditRequest = { ipnUrl, orderUrl, probeUrl, paidWhen };
  const start = (json: object) => ask(sim, 'POST', '/audit', json);
  const ended = async () => {
    const run = () => sim.control<AuditRun>('/audit');
    await expect.poll(async () => (await run()).state).not.toBe('running');
    return run();
  };
  return { sim, shop, request, start, ended };
}

describe('/_sim/audit', () => {
  it('runs the same cases as the library, and makes up an order if it cannot place one', async () => {
    const { shop, start, ended } = await auditable({ isSigned: () => true });
    const answer = await start({ ipnUrl: shop.ipnUrl, only: ['signature-missing', 'M'] });
    expect(answer).toMatchObject({ status: 202, body: { state: 'running', cases: [] } });
    const { cases } = await ended();
    expect(cases[0]).toMatchObject({ name: 'control', verdict: 'unproven' });
    expect(cases[0]?.why).toContain('the order is made up');
    expect(shop.orders.size).toBe(0);
  });

  it('reports each step as an event', async () => {
    const { sim, shop, request, start, ended } = await auditable();
    const steps: AuditProgress[] = [];
    sim.server.parts.events.subscribe((event) => event.type === 'audit' && steps.push(event.audit));
    await start({ ...request, only: ['splice'] });
    const { of } = await ended();
    expect(steps.map(({ done }) => done)).toEqual([
      0,
      ...Array.from({ length: of }, (_, index) => index + 1),
      of,
    ]);
    expect(steps.at(0)).toMatchObject({ state: 'running', latest: null });
    expect(steps.at(1)?.latest).toEqual({ name: 'control', verdict: 'pass' });
    expect(steps.at(-1)).toMatchObject({ state: 'finished', latest: null });
    expect(shop.orders.size).toBeGreaterThan(0);
  });

  it('settles and marks every payment that it created', async () => {
    const { sim, request, start, ended } = await auditable();
    await start({ ...request, only: ['A'] });
    const { orders } = await ended();
    const { data } = await sim.control<{ data: { settledBy: string }[] }>('/payments?limit=500');
    expect(data.length).toBeGreaterThanOrEqual(orders ?? 0);
    expect(new Set(data.map(({ settledBy }) => settledBy))).toEqual(new Set(['audit']));
  });

  it('ends with its emulator, and cancels its pending payments first', async () => {
    const { sim, shop, request, start } = await auditable();
    const { place } = shop;
    const initiated = new Promise<void>((resolve) => {
      // The shop never responds to the request that places the order.
      shop.place = async () => {
        await place();
        resolve();
        await new Promise(() => {});
      };
    });
    await start({ ...request, only: ['A'] });
    await initiated;
    const { audits, payments } = sim.server.parts;
    await sim.server.stop();
    expect(audits.last).toMatchObject({ state: 'failed', error: 'the emulator was stopped', cases: [] });
    const statuses = [...payments.all.values()].map(({ status, settledBy }) => [status, settledBy]);
    expect(statuses).toEqual([['canceled', 'audit']]);
  });
});
