import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { AuditOptions } from '../../src/audit/audit-options.ts';
import type { AuditReport } from '../../src/audit/report.ts';
import { auditOf } from '../helpers/auditable.ts';
import { AUDIT_CASES, IS_RELEASE } from '../helpers/scope.ts';
import { close, listen } from '../merchants/node-shop.ts';

/** Places real orders, whose IPNs go to a handler that never reads them and always answers with this status. */
async function ignoring(status: number, options: Partial<AuditOptions>): Promise<AuditReport> {
  const server = createServer((request, response) => {
    request.on('error', () => {}).resume();
    response.writeHead(status).end();
  });
  const ipnUrl = `${await listen(server)}/ipn`;
  const token = '0'.repeat(16);
  try {
    return await auditOf(
      { initiate: (fields) => ({ ...fields, ipn_url: `${ipnUrl}?token=${fields['identifier']}${token}` }) },
      { ipnUrl, ...options },
    );
  } finally {
    await close(server);
  }
}

const NO_PROBE = { probe: undefined, paidWhen: undefined, orderAmount: undefined, only: AUDIT_CASES };

/** Cases about initiate say nothing about the handler. */
const passed = ({ cases }: AuditReport) =>
  cases.filter(({ verdict, group }) => verdict === 'pass' && group !== 'initiate').map(({ name }) => name);

describe.concurrent('a handler that ignores everything', () => {
  it.each([200, 400])('passes no case with a probe if it answers %s', async (status) => {
    const report = await ignoring(status, { only: AUDIT_CASES });
    expect(report.cases[0]?.verdict).toBe('fail');
    expect(passed(report)).toEqual([]);
  });

  it('passes no case without a probe', async () => {
    const report = await ignoring(200, NO_PROBE);
    expect(passed(report)).toEqual([]);
    expect(report.summary.fail).toBe(0);
    expect(report.summary.unproven).toBeGreaterThan(IS_RELEASE ? 60 : 15);
  });

  it('passes no case with invented orders', async () => {
    expect(passed(await ignoring(200, { ...NO_PROBE, order: undefined }))).toEqual([]);
  });
});
