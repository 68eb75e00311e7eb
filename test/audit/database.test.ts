import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit-report.ts';
import { launchProgram } from '../helpers/child.ts';
import { runJson } from '../helpers/cli.ts';
import { isInstalled } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const missing = ['python3', 'sqlite3'].filter((program) => !isInstalled(program));
const here = missing.length ? ` (not tried here: ${missing.join(' and ')} is missing)` : '';

/** Audits a shop with two arguments: where to order, and the database. */
async function audited(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const cwd = await temporaryFolder();
  const { url, publicKey } = await startSim({ secretKey: SECRET });
  const shop = launchProgram(['python3', join(import.meta.dirname, '../merchants/sqlite-shop.py')], {
    cwd,
    env: {
      DB: join(cwd, 'shop.db'),
      GATEWAY_SIM_SECRET_KEY: SECRET,
      GATEWAY_SIM_PUBLIC_KEY: publicKey,
      GATEWAY_SIM_INITIATE_URL: `${url}/payment/initiate`,
      ...env,
    },
  });
  await shop.until((stdout) => stdout.includes('port '));
  const [, port] = /port (\d+)/.exec(shop.stdout()) ?? [];
  const byOrder = ['--order-url', `http://127.0.0.1:${port}/order`, '--db', 'sqlite:shop.db'];
  const options = { cwd, env: { GATEWAY_SIM_URL: url } };
  return runJson<AuditReport>(['audit', ...byOrder, ...args], options);
}

describe.skipIf(missing.length > 0)(`an audit with the database of the shop${here}`, () => {
  it('learns what an order and a payment are, and passes a good shop', async () => {
    const only = ['signature-empty', 'replay-at-once', 'copies-2', 'amount-too-low', 'charge-changed'];
    const { code, body } = await audited({ LATE: '0.2' }, ...only.flatMap((name) => ['--only', name]));
    expect(body.cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(code).toBe(0);
    expect(body.learned).toEqual({
      order: expect.arrayContaining(['orders.identifier', 'orders.*']),
      payment: ['mails.*', 'orders.status', 'products.stock'],
      records: expect.arrayContaining(['ipn_log.*', 'counters.requests']),
      noise: [],
    });
    expect(body.notices).toEqual([
      expect.stringMatching(
        /^Learned from your database: a payment sets orders.status to paid, adds a row to mails/,
      ),
    ]);
    // What may be personal is in no report.
    expect(JSON.stringify(body)).not.toContain('ann@example.com');
  });

  it.each([
    ['an e-mail', 'mail', 'mails.* changed'],
    ['the stock', 'stock', 'products.stock changed'],
  ])('sees that a copy changes %s, without being told', async (_, flaw, change) => {
    const { code, body } = await audited({ FLAW: flaw }, '--only', 'replay-at-once');
    expect([code, body.cases.at(-1)]).toEqual([
      1,
      expect.objectContaining({ verdict: 'fail', seen: '2/2', why: expect.stringContaining(change) }),
    ]);
  });

  it('sees an order that an unsigned IPN pays', async () => {
    const { body } = await audited({ FLAW: 'unsigned' }, '--only', 'signature-garbage');
    expect(body.cases.at(-1)).toMatchObject({ verdict: 'fail', mistake: 'signature-not-checked' });
  });

  it.each([
    ['is the one of another shop', ['--db-skip', 'orders'], 'no new row holds the identifier'],
    ['is given without a way to order', ['--order-url', ''], 'or a way to place orders'],
  ])('says what is missing if the database %s', async (_, args, why) => {
    const { code, body } = await audited({}, ...args);
    expect([code, JSON.stringify(body)]).toEqual([2, expect.stringContaining(why)]);
  });
});
