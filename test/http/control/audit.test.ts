import { describe, expect, it } from 'vitest';
import type { AuditProgress, AuditRequest, AuditRun } from '../../../src/contract/audit-report.ts';
import { startAuditable } from '../../helpers/auditable.ts';
import { ask } from '../../helpers/sim.ts';

async function prepared(changed: Parameters<typeof startAuditable>[1] = {}) {
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

describe('an audit with the control API', () => {
  it('runs the same cases as the library, and makes up an order if it cannot place one', async () => {
    const { shop, start, ended } = await prepared({ isSigned: () => true });
    const answer = await start({ ipnUrl: shop.ipnUrl, only: ['signature-missing', 'M'] });
    expect(answer).toMatchObject({ status: 202, body: { state: 'running', cases: [] } });
    const { cases } = await ended();
    expect(cases[0]).toMatchObject({ name: 'control', verdict: 'unproven' });
    expect(cases[0]?.why).toContain('the order is made up');
    expect(shop.orders.size).toBe(0);
  });

  it('reports each step as an event', async () => {
    const { sim, shop, request, start, ended } = await prepared();
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
    const { sim, request, start, ended } = await prepared();
    await start({ ...request, only: ['A'] });
    const { orders } = await ended();
    const { data } = await sim.control<{ data: { settledBy: string }[] }>('/payments?limit=500');
    expect(data.length).toBeGreaterThanOrEqual(orders ?? 0);
    expect(new Set(data.map(({ settledBy }) => settledBy))).toEqual(new Set(['audit']));
  });

  it('ends with its emulator, and cancels its pending payments first', async () => {
    const { sim, shop, request, start } = await prepared();
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
