import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit-report.ts';
import type { Delivery } from '../../src/contract/delivery.ts';
import type { Settled } from '../../src/contract/payment.ts';
import { launchProgram } from '../helpers/child.ts';
import { runJson } from '../helpers/cli.ts';
import { isInstalled } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ask, paid, startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const missing = ['python3', 'sqlite3'].filter((program) => !isInstalled(program));
const here = missing.length ? ` (not tried here: ${missing.join(' and ')} is missing)` : '';

/** Starts a shop whose orders are rows in SQLite. @returns its address */
async function startShop(
  cwd: string,
  sim: { url: string; publicKey: string },
  env: Readonly<Record<string, string>>,
) {
  const shop = launchProgram(['python3', join(import.meta.dirname, '../merchants/sqlite-shop.py')], {
    cwd,
    env: {
      DB: join(cwd, 'shop.db'),
      GATEWAY_SIM_SECRET_KEY: SECRET,
      GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
      GATEWAY_SIM_INITIATE_URL: `${sim.url}/payment/initiate`,
      ...env,
    },
  });
  await shop.until((stdout) => stdout.includes('port '));
  const [, port] = /port (\d+)/.exec(shop.stdout()) ?? [];
  return `http://127.0.0.1:${port}`;
}

/** Audits a shop with two arguments: where to order, and the database. */
async function audited(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const cwd = await temporaryFolder();
  const sim = await startSim({ secretKey: SECRET });
  const shop = await startShop(cwd, sim, env);
  const byOrder = ['--order-url', `${shop}/order`, '--db', 'sqlite:shop.db'];
  const options = { cwd, env: { GATEWAY_SIM_URL: sim.url } };
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

describe.skipIf(missing.length > 0)(`start --db${here}`, () => {
  it('shows what an IPN changed in the shop, and that a copy changed nothing', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({
      secretKey: SECRET,
      db: `sqlite:${join(cwd, 'shop.db')}`,
      dbSkip: ['ipn_log', 'counters'],
    });
    const shop = await startShop(cwd, sim, {});
    await fetch(`${shop}/order`, { method: 'POST' });
    const [order] = (await ask<{ data: { id: string }[] }>(sim, 'GET', '/payments')).body.data;
    const settled = await ask<Settled>(sim, 'POST', `/payments/${order?.id}/settle`, {
      outcome: 'approve',
      awaitDelivery: true,
    });
    const changes = expect.arrayContaining([
      { table: 'orders', key: '1', column: 'status', from: 'pending', to: 'paid' },
      { table: 'products', key: '1', column: 'stock', from: '1000', to: '999' },
    ]);
    expect(settled.body.delivery).toMatchObject({ changes, verdict: { tone: 'good' } });
    const path = `/ipns/${settled.body.delivery?.id}`;
    const mail = { table: 'mails', key: '1', column: '*', from: null, to: 'a row' };
    await expect.poll(async () => (await ask<Delivery>(sim, 'GET', path)).body.changes).toContainEqual(mail);
    await ask(sim, 'POST', `${path}/resend`);
    const copy = (await ask<Delivery>(sim, 'GET', path)).body;
    expect(copy).toMatchObject({ changes: [], verdict: { tone: 'warning' } });
    expect(copy.verdict.cause).toContain('Nothing changed in your database.');
  });

  it('leaves a database alone that cannot be read, and says so', async () => {
    const sim = await startSim({ db: 'sqlite:/nowhere/shop.db' });
    const receiver = await startReceiver();
    const { delivery } = await paid(sim, { ipn_url: receiver.url });
    const { body } = await ask<Delivery>(sim, 'GET', `/ipns/${delivery?.id}`);
    expect(body).toMatchObject({ state: 'delivered', changes: null });
  });
});
