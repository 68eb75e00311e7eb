import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/audit/report.ts';
import { launch, runJson } from '../helpers/cli.ts';
import { MISSING, startSqliteShop } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
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

describe.skipIf(MISSING || !IS_RELEASE)(`an audit with a database, for a release${here}`, () => {
  it('sees what a rejected IPN changes, unless it is said to be a record', async () => {
    const only = ['--only', 'refused-effects'];
    const { code, body } = await audited({ FLAW: 'early' }, ...only);
    const why = 'Anyone who knows the ipn_url can cause this without paying: products.stock.';
    expect([code, body.cases.at(-1)]).toEqual([
      1,
      expect.objectContaining({ verdict: 'fail', mistake: 'effects-before-checks', why }),
    ]);
    expect((await audited({ FLAW: 'early' }, ...only, '--log', 'products.stock')).code).toBe(0);
  });

  it('learns from orders that are placed by hand', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({ secretKey: SECRET });
    const shop = await startSqliteShop(cwd, sim, {});
    const args = ['audit', '--orders', '9', '--db', 'sqlite:shop.db', '--only', 'signature-empty'];
    const running = launch(args, { cwd, env: { GATEWAY_SIM_URL: sim.url } });
    // One to find the handler, six to learn from, one for the control and one for the case.
    for (let number = 1; number <= 9; number++) {
      await running.until((_, stderr) => stderr.split('Place an order in the shop').length > number);
      await fetch(`${shop}/order`, { method: 'POST' });
    }
    const { code, stdout } = await running.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/2 pass/)]);
  });

  it.each([
    ['is the one of another shop', ['--db-skip', 'orders'], 'no new row holds the identifier'],
    ['is given without a way to order', ['--order-url', ''], 'or a way to place orders in a running shop'],
  ])('says what is missing if the database %s', async (_, args, why) => {
    const { code, body } = await audited({}, ...args);
    expect([code, JSON.stringify(body)]).toEqual([2, expect.stringContaining(why)]);
  });
});
