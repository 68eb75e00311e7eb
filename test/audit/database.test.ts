import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/audit/report.ts';
import { runJson } from '../helpers/cli.ts';
import { MISSING, startSqliteShop } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const here = MISSING && ` (not tried here: ${MISSING} is missing)`;

/** Audits a shop with two arguments: where to order, and the database. */
async function audited(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const cwd = await temporaryFolder();
  const sim = await startSim({ secretKey: SECRET });
  const shop = await startSqliteShop(cwd, sim, env);
  const byOrder = ['--order-url', `${shop}/order`, '--db', 'sqlite:shop.db'];
  const options = { cwd, env: { GATEWAY_SIM_URL: sim.url } };
  return runJson<AuditReport>(['audit', ...byOrder, ...args], options);
}

describe.skipIf(MISSING)(`an audit with the database of the shop${here}`, () => {
  it('learns what an order and a payment are, and passes a good shop', async () => {
    const only = ['signature-empty', 'replay-at-once', 'copies-20', 'amount-too-low', 'charge-changed'];
    const { code, body } = await audited({ LATE: '0.2' }, ...only.flatMap((name) => ['--only', name]));
    expect(body.cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(code).toBe(0);
    expect(body.learned).toEqual({
      order: expect.arrayContaining(['orders.identifier', 'orders.*']),
      payment: ['mails.*', 'orders.status', 'products.stock'],
      records: ['ipn_log.*'],
      noise: ['counters.requests'],
    });
    expect(body.notices).toEqual([
      expect.stringMatching(
        /^Learned from your database: a payment sets orders.status to paid, adds a row to mails/,
      ),
    ]);
    // What may be personal is in no report.
    expect(JSON.stringify(body)).not.toContain('ann@example.com');
  });

  it('sees what an unsigned IPN pays and what a copy changes, without being told', async () => {
    const only = ['--only', 'replay-at-once', '--only', 'signature-garbage'];
    const { code, body } = await audited({ FLAW: 'mail stock unsigned' }, ...only);
    expect(code).toBe(1);
    expect(body.cases.slice(1)).toEqual([
      expect.objectContaining({ verdict: 'fail', mistake: 'signature-not-checked' }),
      expect.objectContaining({
        verdict: 'fail',
        seen: '2/2',
        why: expect.stringContaining('mails.*, products.stock changed'),
      }),
    ]);
  });
});
