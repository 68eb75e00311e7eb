import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditReport } from '../../src/contract/audit-report.ts';
import type { Delivery } from '../../src/contract/delivery.ts';
import type { Diagnosis } from '../../src/contract/diagnosis.ts';
import type { Payment, Settled } from '../../src/contract/payment.ts';
import { launch, runJson } from '../helpers/cli.ts';
import {
  isInstalled,
  MISSING,
  startMariaDb,
  startPdoShop,
  startPostgres,
  startSqliteShop,
} from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ask, paid, startSim } from '../helpers/sim.ts';
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
    const only = ['signature-empty', 'replay-at-once', 'copies-2', 'amount-too-low', 'charge-changed'];
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

  it('sees what a rejected IPN changes, unless it is said to be a record', async () => {
    const only = ['--only', 'refused-effects'];
    const { code, body } = await audited({ FLAW: 'early' }, ...only);
    const why = expect.stringContaining('changed products.stock. Only if this merely records IPNs');
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
    const args = ['audit', '--order-wait', '--db', 'sqlite:shop.db', '--only', 'signature-empty'];
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

const SERVERS = { MariaDB: ['mariadbd', startMariaDb], PostgreSQL: ['postgres', startPostgres] } as const;

describe.each([
  ['MariaDB', 'woocommerce', 'wp_wc_orders.status', 'wp_postmeta.meta_value'],
  ['MariaDB', 'prestashop', 'ps_orders.*', 'ps_stock_available.quantity'],
  ['PostgreSQL', 'plain', 'orders.status', 'stock.quantity'],
] as const)('an audit with %s and the tables of %s', (name, layout, ...effects) => {
  const [program, start] = SERVERS[name];
  const missing = ['php', program].filter((one) => !isInstalled(one)).join(' and ');

  it.skipIf(missing)(
    `learns what a payment is, and finds what pays${missing && ` (not tried here: ${missing} is missing)`}`,
    async () => {
      const sim = await startSim({ secretKey: SECRET });
      const server = await start();
      const shop = await startPdoShop(server, sim, { LAYOUT: layout, FLAW: 'unsigned' });
      const only = ['signature-garbage', 'replay-at-once', 'copies-2'].flatMap((one) => ['--only', one]);
      const args = ['audit', '--order-url', `${shop}/order`, '--db', server.db, ...only];
      const options = { cwd: await temporaryFolder(), env: { GATEWAY_SIM_URL: sim.url } };
      const { body } = await runJson<AuditReport>(args, options);
      expect(body.learned?.payment).toEqual(expect.arrayContaining([...effects]));
      const verdicts = body.cases.map(({ name, verdict }) => [name, verdict]);
      expect(Object.fromEntries(verdicts)).toEqual({
        control: 'pass',
        'signature-garbage': 'fail',
        'replay-at-once': 'pass',
        'copies-2': 'pass',
      });
    },
  );
});

describe.skipIf(MISSING)(`start --db${here}`, () => {
  it('shows what an IPN changed in the shop, and that a copy changed nothing', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({
      secretKey: SECRET,
      db: `sqlite:${join(cwd, 'shop.db')}`,
      dbSkip: ['ipn_log', 'counters'],
    });
    const shop = await startSqliteShop(cwd, sim, {});
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
    // A copy must change nothing.
    expect(copy).toMatchObject({ changes: [], verdict: { tone: 'good' } });
  });

  it('tells a payment by the return page from one by the IPN', async () => {
    const cwd = await temporaryFolder();
    const db = { db: `sqlite:${join(cwd, 'shop.db')}`, dbSkip: ['ipn_log', 'counters'] };
    const sim = await startSim({ secretKey: SECRET, ...db });
    const shop = await startSqliteShop(cwd, sim, { FLAW: 'return' });
    await fetch(`${shop}/order`, { method: 'POST' });
    const [order] = (await ask<{ data: { id: string }[] }>(sim, 'GET', '/payments')).body.data;
    await ask(sim, 'POST', `/payments/${order?.id}/settle`, { outcome: 'approve', visit: true });
    await expect
      .poll(async () => (await ask<Payment>(sim, 'GET', `/payments/${order?.id}`)).body.verdict)
      .toMatchObject({
        tone: 'warning',
        cause: expect.stringMatching(
          /changed nothing\. After the customer returned: .*orders 1 status pending → paid/,
        ),
      });
  });

  it('lets a diagnosis judge by the rows, for a receiver that answers everything alike', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({ secretKey: SECRET, db: `sqlite:${join(cwd, 'shop.db')}` });
    const shop = await startSqliteShop(cwd, sim, { FLAW: 'float silent' });
    await fetch(`${shop}/order`, { method: 'POST' });
    const [order] = (await ask<{ data: { id: string }[] }>(sim, 'GET', '/payments')).body.data;
    const how = { outcome: 'approve', awaitDelivery: true };
    await ask(sim, 'POST', `/payments/${order?.id}/settle`, how);
    const diagnose = (input: object) => ask<Diagnosis>(sim, 'POST', `/ipns/${order?.id}/diagnose`, input);
    expect((await diagnose({})).body.cause).toBeNull();
    const { body } = await diagnose({ paidWhen: 'orders.status=paid' });
    expect(body).toMatchObject({ mistake: 'amount-reformatted' });
  });

  it('leaves a database alone that cannot be read, and says so', async () => {
    const sim = await startSim({ db: 'sqlite:/nowhere/shop.db' });
    const receiver = await startReceiver();
    const { delivery } = await paid(sim, { ipn_url: receiver.url });
    const { body } = await ask<Delivery>(sim, 'GET', `/ipns/${delivery?.id}`);
    expect(body).toMatchObject({ state: 'delivered', changes: null });
  });
});

describe.skipIf(MISSING)(`reconcile --db${here}`, () => {
  it('finds a payment whose order is not paid in the database', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({ secretKey: SECRET });
    const shop = await startSqliteShop(cwd, sim, {});
    const reconciled = async () => {
      const by = ['--db', 'sqlite:shop.db', '--paid-when', 'orders.status=paid'];
      const { code, body } = await runJson(['reconcile', ...by], { cwd, env: { GATEWAY_SIM_URL: sim.url } });
      return [code, body];
    };
    for (const delivery of ['ipn-only', 'redirect-only']) {
      await fetch(`${shop}/order`, { method: 'POST' });
      const [order] = (await ask<{ data: { id: string }[] }>(sim, 'GET', '/payments')).body.data;
      const how = { outcome: 'approve', delivery, awaitDelivery: true };
      await ask(sim, 'POST', `/payments/${order?.id}/settle`, how);
    }
    expect(await reconciled()).toEqual([
      1,
      { data: [expect.objectContaining({ problem: 'paid-not-fulfilled' })] },
    ]);
  });
});
