import { describe, expect, it } from 'vitest';
import type { AuditOptions } from '../../src/contract/audit-options.ts';
import type { AuditedCase, AuditReport } from '../../src/contract/audit-report.ts';
import { auditSummary } from '../../src/contract/audit-summary.ts';
import { GatewayError } from '../../src/contract/error.ts';
import { Clock } from '../../src/system/clock.ts';
import { createAudits } from '../../src/usecases/audits.ts';
import { startSim } from '../helpers/sim.ts';

const REQUEST = { ipnUrl: 'http://localhost:3000/ipn' };

const CASE: AuditedCase = {
  ...{ name: 'control', group: 'control', class: 'control', about: 'A correct IPN.', verdict: 'pass' },
  ...{ sent: null, observed: null, why: 'It was taken.', curl: null },
  ...{ mistake: null, cost: null, fix: null, instruction: null, code: null, unpaid: null, seen: null },
};

/** Audits with a runner that the test controls. */
async function auditsBy(audit: (options: AuditOptions) => Promise<AuditReport>) {
  const { server } = await startSim();
  const reported: unknown[] = [];
  const stopping = new AbortController();
  const audits = createAudits({
    ...{ clock: new Clock(), events: server.parts.events, audit, stopped: stopping.signal },
    report: (error) => reported.push(error),
  });
  const ended = async () => {
    await expect.poll(() => audits.last?.state).not.toBe('running');
    return audits.last;
  };
  return { audits, reported, stopping, ended };
}

const reportOf = (cases: AuditedCase[]): AuditReport => ({
  ...{
    cases,
    summary: auditSummary(cases),
    mistakes: [],
    missing: null,
    orders: 1,
    notices: ['the probe changes automatically'],
  },
});

describe('audits', () => {
  it('keep the completed cases after an internal error, report the error and allow the next audit', async () => {
    const late: (() => void)[] = [];
    let count = 0;
    const { audits, reported, ended } = await auditsBy(async ({ onBegin, onCase }) => {
      onBegin?.(2);
      onCase?.(CASE, 1, 2);
      if (count++ > 0) return reportOf([CASE, CASE]);
      late.push(() => onCase?.({ ...CASE, name: 'late' }, 2, 2));
      throw new Error('the details');
    });
    await audits.start(REQUEST);
    expect(await ended()).toMatchObject({
      ...{
        state: 'failed',
        error: 'internal error: see the log',
        of: 2,
        cases: [CASE],
        orders: null,
      },
      endedAt: expect.any(String) as string,
    });
    expect(reported).toEqual([new Error('the details')]);
    await audits.start(REQUEST);
    for (const run of late) run();
    expect(await ended()).toMatchObject({ state: 'finished', cases: [CASE, CASE], orders: 1, error: null });
    expect(audits.last?.notices).toEqual(['the probe changes automatically']);
  });

  it('say why a started audit failed', async () => {
    const { audits, reported, ended } = await auditsBy(async ({ onBegin }) => {
      onBegin?.(1);
      throw new GatewayError('storage_failed', 'the disk is full');
    });
    await audits.start(REQUEST);
    expect(await ended()).toMatchObject({ state: 'failed', error: 'the disk is full' });
    expect(reported).toEqual([]);
  });
});
