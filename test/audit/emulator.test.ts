import { expect, it } from 'vitest';
import type { AuditRun } from '../../src/contract/audit-report.ts';
import { startAuditable } from '../helpers/auditable.ts';
import { IS_RELEASE } from '../helpers/scope.ts';

/** Runs an audit in the emulator. */
async function audited(changed: Parameters<typeof startAuditable>[1] = {}) {
  const { sim, asked } = await startAuditable({}, changed);
  const body = new URLSearchParams(asked);
  const answer = await fetch(`${sim.url}/_sim/ui/audit`, { method: 'POST', body, redirect: 'manual' });
  expect(answer.status).toBe(303);
  const { audits } = sim.server.parts;
  await expect.poll(() => audits.last?.state).toBe('finished');
  const html = await (await fetch(`${sim.url}/_sim/ui/audit`)).text();
  return { run: await sim.control<AuditRun>('/audit'), html };
}

it.runIf(IS_RELEASE)('an audit in the emulator passes a good shop in all cases', async () => {
  const { run } = await audited();
  const others = run.cases.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped');
  expect(others).toEqual([]);
  expect(run.cases.length).toBe(run.of);
  expect(run.of).toBeGreaterThanOrEqual(60);
});

it('the page of an audit with many failures is smaller than 500 kB', async () => {
  const { run, html } = await audited({ isSigned: () => true, isAmount: () => true });
  expect(run.summary.fail).toBeGreaterThan(20);
  expect(html.match(/<details id="case-/g)).toHaveLength(run.summary.fail + run.summary['at-risk']);
  expect(html.length).toBeLessThan(500_000);
});
