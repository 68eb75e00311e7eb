import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../src/contract/event.ts';
import { pageOf, postForm } from '../helpers/forms.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const INITIATE = '/sandbox/payment/initiate';
const replay = (sim: Sim, id: number | string) => postForm(sim, `/_sim/ui/requests/${id}/replay`);
const recorded = ({ server }: Sim): RecordedRequest[] => server.parts.events.requests().toReversed();

describe('a resent request', () => {
  it('is the same request to the service, and opens its own page', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    expect(await pageOf(sim, '/_sim/ui/requests/1')).toContain('>Replay request</button>');
    const answer = await replay(sim, 1);
    expect([answer.status, answer.location]).toEqual([303, '/_sim/ui/requests/2']);
    const [first, second] = recorded(sim);
    expect(second).toMatchObject({
      method: 'POST',
      target: INITIATE,
      status: 200,
      requestBody: first?.requestBody,
    });
    expect(sim.server.parts.payments.all.size).toBe(2);
    expect((await replay(sim, 2)).location).toBe('/_sim/ui/requests/3');
  });

  it('has its original secret, which no page shows', async () => {
    const sim = await startSim();
    const headers = { authorization: `Bearer ${sim.secretKey}`, 'x-trace': 'a1' };
    await fetch(`${sim.url}/api/cards?page=1`, { headers });
    await replay(sim, 1);
    expect(recorded(sim)[1]).toMatchObject({
      status: 200,
      target: '/api/cards?page=1',
      requestHeaders: headers,
    });
    const html = await pageOf(sim, '/_sim/ui/requests/2');
    expect([html.includes('x-trace: a1'), html.includes(sim.secretKey)]).toEqual([true, false]);
  });

  it('is subject to the active faults', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    sim.server.parts.faults.set({ route: 'initiate', drop: true });
    expect((await replay(sim, 1)).location).toBe('/_sim/ui/requests/2');
    expect(recorded(sim)[1]?.status).toBe(444);
  });

  const INCOMPLETE = 'its body is incomplete in the log';
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each<[what: string, path: string, request: RequestInit, problem: string]>([
    ['has an unknown path', '/payments/initiate', {}, "only requests to the service's own routes"],
    [
      'has a body that is not text',
      INITIATE,
      { body: Buffer.from([0xff, 0x3d, 0xfe]), headers: FORM },
      INCOMPLETE,
    ],
    [
      'has a body that was never read',
      '/api/cards',
      { body: new URLSearchParams({ amount: '5' }) },
      INCOMPLETE,
    ],
  ])('is rejected with an explanation when it %s', async (_, path, request, problem) => {
    const sim = await startSim();
    await fetch(sim.url + path, { method: 'POST', ...request });
    expect(await pageOf(sim, '/_sim/ui/requests/1')).toContain('This request cannot be resent: ');
    const answer = await replay(sim, 1);
    expect([answer.status, recorded(sim).length]).toEqual([409, 1]);
    expect(answer.html.replaceAll('&#39;', "'")).toContain(problem);
  });

  it('never reaches the control API, however its path is written', async () => {
    const sim = await startSim();
    const request = { at: '', method: 'POST', requestHeaders: {}, requestBody: null, status: 200 };
    const rest = { responseBody: null, durationMs: 0, paymentId: null, fault: null, notes: [] };
    for (const target of [
      '/_sim/shutdown',
      '/api/cards/../../_sim/shutdown',
      '/api/cards/%2e%2e/%2e%2e/_sim/reset',
    ])
      sim.server.parts.events.record({ ...request, ...rest, target });
    for (const { id } of recorded(sim)) expect((await replay(sim, id)).status).toBe(409);
  });

  it('is rejected if it is no longer in the log', async () => {
    const answer = await replay(await startSim(), 99);
    expect([answer.status, answer.html.includes('request 99 is not in the request log')]).toEqual([
      404,
      true,
    ]);
  });
});
