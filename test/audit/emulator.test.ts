import { expect, it } from 'vitest';
import { isReportable } from '../../src/contract/audit.ts';
import { startAuditable } from '../helpers/auditable.ts';

it('the page of an audit with many failures is smaller than 150 kB', async () => {
  const { sim, asked } = await startAuditable({}, { isSigned: () => true, isAmount: () => true });
  await fetch(`${sim.url}/_sim/ui/audit`, {
    method: 'POST',
    body: new URLSearchParams({ ...asked, only: 'A, B, C, D, I' }),
  });
  const { audits } = sim.server.parts;
  // On a busy machine, a hundred failures take more than a minute.
  await expect.poll(() => audits.last?.state, { timeout: 115_000 }).toBe('finished');
  const failures = audits.last?.cases.filter(({ verdict }) => isReportable(verdict)) ?? [];
  expect(failures.length).toBeGreaterThan(20);
  const html = await (await fetch(`${sim.url}/_sim/ui/audit`)).text();
  expect(html.match(/<details id="case-/g)).toHaveLength(failures.length);
  expect(html.length).toBeLessThan(150_000);
});
