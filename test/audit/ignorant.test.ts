import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit-report.ts';
import { startAnswering } from '../helpers/answering.ts';
import { prepareAudit } from '../helpers/auditable.ts';
import { IS_RELEASE } from '../helpers/scope.ts';

/** Places real orders, whose IPNs go to a handler that never reads them. */
async function prepared(listener: RequestListener) {
  const ipnUrl = `${await startAnswering((request, response) => {
    request.on('error', () => {}).resume();
    listener(request, response);
  })}/ipn`;
  const { audit } = await prepareAudit({
    initiate: (fields) => ({
      ...fields,
      ipn_url: `${ipnUrl}?token=${fields['identifier']}${'0'.repeat(16)}`,
    }),
  });
  return (options: Parameters<typeof audit>[0]) => audit({ ipnUrl, ...options });
}

/** Some cases of each kind; all in a release. */
const CHOSEN = IS_RELEASE ? undefined : ['A', 'F', 'L', 'once', 'fields-extra', 'amount-too-low'];
const NO_PROBE = { probe: undefined, paidWhen: undefined, orderAmount: undefined, only: CHOSEN };

/** Cases about initiate say nothing about the handler. */
const passed = ({ cases }: AuditReport) =>
  cases.filter(({ verdict, group }) => verdict === 'pass' && group !== 'initiate').map(({ name }) => name);

describe('a handler that ignores everything', () => {
  it.each([
    ['200', (_, response) => response.end('OK')],
    ['400', (_, response) => response.writeHead(400).end()],
  ] as [string, RequestListener][])('passes no case with a probe if it answers %s', async (_, listener) => {
    const report = await (await prepared(listener))({ timeoutMs: 500 });
    expect(report.cases[0]?.verdict).toBe('fail');
    expect(passed(report)).toEqual([]);
  });

  it('passes no case without a probe', async () => {
    const report = await (await prepared((_, response) => response.end('OK')))(NO_PROBE);
    expect(passed(report)).toEqual([]);
    expect(report.summary.fail).toBe(0);
    expect(report.summary.unproven).toBeGreaterThan(IS_RELEASE ? 80 : 20);
  });

  it('passes no case with invented orders', async () => {
    const audit = await prepared((_, response) => response.end('OK'));
    expect(passed(await audit({ ...NO_PROBE, order: undefined }))).toEqual([]);
  });
});
