import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/contract/delivery.ts';
import type { Diagnosis } from '../../src/contract/diagnosis.ts';
import type { Status } from '../../src/contract/emulator.ts';
import type { Payment, Settled } from '../../src/contract/payment.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { run, runJson } from '../helpers/cli.ts';
import { MISSING, startSqliteShop } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ask, paid, type Sim, startSim } from '../helpers/sim.ts';
import { SECRET } from '../merchants/node-shop.ts';

const here = MISSING && ` (not tried here: ${MISSING} is missing)`;

/** Starts an emulator that reads the database of a shop, and the shop. */
async function opened(flaw: string, options: StartOptions = {}) {
  const cwd = await temporaryFolder();
  const sim = await startSim({ secretKey: SECRET, db: `sqlite:${join(cwd, 'shop.db')}`, ...options });
  const shop = await startSqliteShop(cwd, sim, { FLAW: flaw });
  return { cwd, sim, shop };
}

/** Places an order in the shop, and settles its payment. */
async function settled({ sim, shop }: { sim: Sim; shop: string }, how: object = { awaitDelivery: true }) {
  await fetch(`${shop}/order`, { method: 'POST' });
  const { body } = await ask<{ data: { id: string; identifier: string }[] }>(sim, 'GET', '/payments');
  const [{ id, identifier } = expect.fail('no payment')] = body.data;
  const { body: result } = await ask<Settled>(sim, 'POST', `/payments/${id}/settle`, {
    outcome: 'approve',
    ...how,
  });
  return { ...result, id, identifier };
}

/** Tables that record requests. */
const RECORDS = { dbSkip: ['ipn_log', 'counters'] };

describe.skipIf(MISSING)(`start --db${here}`, () => {
  it('shows what an IPN changed in the shop, and that a copy changed nothing', async () => {
    const of = await opened('', RECORDS);
    const { sim } = of;
    const { delivery } = await settled(of);
    const changes = expect.arrayContaining([
      { table: 'orders', key: '1', column: 'status', from: 'pending', to: 'paid' },
      { table: 'products', key: '1', column: 'stock', from: '1000', to: '999' },
    ]);
    expect(delivery).toMatchObject({ changes, verdict: { tone: 'good' } });
    const path = `/ipns/${delivery?.id}`;
    const mail = { table: 'mails', key: '1', column: '*', from: null, to: 'a row' };
    await expect.poll(async () => (await ask<Delivery>(sim, 'GET', path)).body.changes).toContainEqual(mail);
    await ask(sim, 'POST', `${path}/resend`);
    const copy = (await ask<Delivery>(sim, 'GET', path)).body;
    // A copy must change nothing.
    expect(copy).toMatchObject({
      changes: [],
      verdict: {
        tone: 'good',
        cause: 'Your handler accepted the same IPN twice. The copy changed nothing in your database.',
      },
    });
  });

  it('tells a payment by the return page from one by the IPN', async () => {
    const of = await opened('return', RECORDS);
    const { id } = await settled(of, { visit: true });
    await expect
      .poll(async () => (await ask<Payment>(of.sim, 'GET', `/payments/${id}`)).body)
      .toMatchObject({
        shop: 'accepted, changed nothing',
        verdict: {
          tone: 'warning',
          cause: expect.stringMatching(
            /changed nothing\. After the customer returned: .*orders 1 status pending → paid/,
          ),
        },
      });
  });

  it.each(['silent', 'failing'])(
    'lets a diagnosis judge by the rows, for a receiver that answers everything alike (%s)',
    async (answer) => {
      const of = await opened(`float ${answer}`);
      for (const input of [{}, { paidWhen: 'orders.status=paid' }]) {
        const { id } = await settled(of);
        const { body } = await ask<Diagnosis>(of.sim, 'POST', `/ipns/${id}/diagnose`, input);
        expect(body).toMatchObject({ mistake: 'amount-reformatted' });
      }
    },
  );

  it('lets a diagnosis see that the genuine IPN pays, and is answered 500', async () => {
    const of = await opened('failing');
    const { id } = await settled(of);
    const input = "UPDATE orders SET status = 'pending'";
    execFileSync('sqlite3', [join(of.cwd, 'shop.db')], { input });
    const { body } = await ask<Diagnosis>(of.sim, 'POST', `/ipns/${id}/diagnose`, {});
    expect(body).toMatchObject({ accepted: 'genuine', summary: expect.stringContaining('orders.status') });
  });

  it('starts before the shop has created its file, and says so until then', async () => {
    const cwd = await temporaryFolder();
    const sim = await startSim({ db: `sqlite:${join(cwd, 'shop.db')}` });
    const receiver = await startReceiver();
    const { delivery } = await paid(sim, { ipn_url: receiver.url });
    const { body } = await ask<Delivery>(sim, 'GET', `/ipns/${delivery?.id}`);
    const why = expect.stringMatching(/^the database cannot be read: ENOENT/);
    expect(body).toMatchObject({ state: 'delivered', changes: null, changesUnknown: why });
    const { body: status } = await ask<Status>(sim, 'GET', '/status');
    expect(status.database).toEqual({ tables: 0, lastMs: null, problem: why });
    const here = { cwd, env: { GATEWAY_SIM_URL: sim.url } };
    expect((await run(['ipn', 'show', delivery?.id ?? ''], here)).stdout).toMatch(
      /In your shop +not known: the database cannot be read: ENOENT/,
    );
    expect((await run(['status'], here)).stdout).toMatch(
      /Database +not read: the database cannot be read: ENOENT/,
    );
    const page = await (await fetch(`${sim.url}/_sim/ui/payments/${delivery?.paymentId}`)).text();
    expect(page).toContain('not known: the database cannot be read: ENOENT');
  });

  it('does not start with an address that is wrong, and says what to do', async () => {
    const cwd = await temporaryFolder();
    for (const db of ['sqlite:/nowhere/shop.db', 'mysql://root@localhost/shop?socket=/nowhere']) {
      const { code, stderr } = await run(['start', '--in-memory', '--port', '0', '--db', db], { cwd });
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^gateway-sim: the database cannot be read: /),
      ]);
      expect(stderr).toContain('Start the database before gateway-sim');
    }
  });
});

describe.skipIf(MISSING)(`reconcile --db${here}`, () => {
  it('finds a payment whose order is not paid in the database', async () => {
    const of = await opened('', { db: undefined });
    const { cwd, sim } = of;
    const reconciled = async (paidWhen = 'orders.status=paid') => {
      const by = ['--db', 'sqlite:shop.db', '--paid-when', paidWhen];
      const { code, body } = await runJson(['reconcile', ...by], { cwd, env: { GATEWAY_SIM_URL: sim.url } });
      return [code, body];
    };
    for (const delivery of ['ipn-only', 'redirect-only'])
      await settled(of, { delivery, awaitDelivery: true });
    // A shop may create an order only when it is paid.
    const { identifier } = await settled(of, { outcome: 'cancel' });
    const input = `DELETE FROM orders WHERE identifier = '${identifier}'`;
    execFileSync('sqlite3', [join(cwd, 'shop.db')], { input });
    expect(await reconciled()).toEqual([
      1,
      { data: [expect.objectContaining({ problem: 'paid-not-fulfilled' })] },
    ]);
    expect(await reconciled('orders.no_such_column=paid')).toEqual([
      2,
      { data: Array.from({ length: 3 }, () => expect.objectContaining({ problem: 'not-probed' })) },
    ]);
  });
});
