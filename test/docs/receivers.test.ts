import { createHmac } from 'node:crypto';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { connectGatewaySim } from '../../src/index.ts';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { bother } from '../helpers/hostile-clients.ts';
import { AUDIT_CASES, IS_RELEASE, sample } from '../helpers/scope.ts';
import { ask, ORDER, type Sim, startSim } from '../helpers/sim.ts';
import { missing } from '../merchants/running.ts';
import { fence, ROOT } from './pages.ts';
import { serve } from './serve.ts';

const RECEIVERS = [
  {
    place: 'receive-and-verify.md: PHP',
    language: 'php',
    runtime: 'php',
    file: 'ipn.php',
    command: ['php', '-S', 'localhost:0'],
  },
  {
    place: 'receive-and-verify.md: Node',
    language: 'js',
    runtime: 'node',
    file: 'ipn.mjs',
    command: [process.execPath],
  },
  {
    place: 'receive-and-verify.md: Python',
    language: 'python',
    runtime: 'python',
    file: 'ipn.py',
    command: ['python3'],
  },
] as const;

interface Order {
  identifier: string;
  amount: string;
  currency: string;
  token: string;
  ipnUrl: string;
}

type NewOrder = (amount: string, currency: string, receiver: string) => Order;

/** The function on the page that creates orders. */
async function orderMaker(): Promise<NewOrder> {
  const file = join(await temporaryFolder(), 'order.mjs');
  await writeFile(file, fence('receive-and-verify.md: Why a valid signature is not enough', 'js'));
  const { newOrder } = (await import(pathToFileURL(file).href)) as { newOrder: NewOrder };
  return newOrder;
}

type Receiver = (typeof RECEIVERS)[number];

/** The command that runs a receiver from the page on a free port, and its environment. */
async function prepared(receiver: Receiver, secretKey: string) {
  const orders = await temporaryFolder();
  const file = join(await temporaryFolder(), receiver.file);
  await writeFile(file, fence(receiver.place, receiver.language));
  const env = { GATEWAY_SIM_SECRET_KEY: secretKey, ORDERS: orders, PORT: '0' };
  return { command: [...receiver.command, file], env };
}

/** Runs a receiver from the page, with an order in its database. */
async function runReceiver(receiver: Receiver, { secretKey }: Sim, order?: Order) {
  const { command, env } = await prepared(receiver, secretKey);
  const folder = env.ORDERS;
  const address = await serve(command, { env });
  const store = (order: Order) => writeFile(join(folder, `${order.identifier}.json`), JSON.stringify(order));
  if (order) await store(order);
  return {
    url: `${address}/ipn`,
    folder,
    store,
    /** The identifiers of the paid orders. */
    paid: async () =>
      (await readdir(folder)).filter((name) => name.endsWith('.paid')).map((name) => name.slice(0, -5)),
  };
}

/** An emulator, and a receiver from the page with one order. @param changes the changes to the order */
async function openShop(receiver: Receiver, changes: Partial<Order> = {}) {
  const sim = await startSim();
  const newOrder = await orderMaker();
  const order = { ...newOrder(changes.amount ?? '49.90', 'USD', ''), ...changes };
  const shop = await runReceiver(receiver, sim, order);
  return { sim, order, shop, url: shop.url + order.ipnUrl };
}

interface Settled {
  delivery: { state: string; body: string; attempts: { responseStatus: number; responseBody: string }[] };
}

/** Pays an order in the sandbox. Returns the IPN and the receiver's response. */
async function paid(sim: Sim, order: Pick<Order, 'identifier' | 'amount' | 'currency'>, ipnUrl: string) {
  const { identifier, currency, amount } = order;
  const details = 'Ünïcode & more';
  await sim.initiate({ ...ORDER, identifier, currency, amount, details, ipn_url: ipnUrl });
  const path = `/payments/${encodeURIComponent(identifier)}/settle`;
  const json = { outcome: 'approve', awaitDelivery: true };
  return (await ask<Settled>(sim, 'POST', path, json)).body.delivery;
}

test('the code on the page creates orders with an identifier of 20 characters and their own token', async () => {
  const newOrder = await orderMaker();
  const orders = Array.from({ length: 100 }, () => newOrder('49.90', 'USD', 'https://shop.example/ipn'));
  expect(new Set(orders.flatMap(({ identifier, token }) => [identifier, token])).size).toBe(200);
  for (const order of orders) {
    expect(order).toEqual({
      identifier: expect.stringMatching(/^\w{20}$/),
      amount: '49.90',
      currency: 'USD',
      token: expect.stringMatching(/^\w{32,}$/),
      ipnUrl: `https://shop.example/ipn?token=${order.token}`,
    });
  }
});

const noPhp = missing('php');

test.skipIf(noPhp)(
  `the PHP receiver answers 500 if it cannot store the payment${noPhp ? ` (${noPhp})` : ''}`,
  async () => {
    const { sim, order, shop, url } = await openShop(RECEIVERS[0]);
    await symlink('no-such-folder/paid', join(shop.folder, `${order.identifier}.paid`));
    const { attempts } = await paid(sim, order, url);
    expect(attempts).toMatchObject([{ responseStatus: 500 }]);
  },
);

describe.each(RECEIVERS)('the receiver in $place', (receiver) => {
  const why = missing(receiver.runtime);
  const here = why ? ` (${why})` : '';
  const amounts = sample(['100', '100.00', '49.9', '0.1'], (amount) => amount === '100.00');

  test.skipIf(why)(`accepts nothing without a secret key${here}`, async () => {
    const { command, env } = await prepared(receiver, '');
    if (receiver.language !== 'php') {
      const { code, stderr } = await runProgram(command, { env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('GATEWAY_SIM_SECRET_KEY')]);
      return;
    }
    const url = await serve(command, { env });
    const signature = createHmac('sha256', '').update('100order-1').digest('hex').toUpperCase();
    const fields = { status: 'success', 'data[amount]': '100', identifier: 'order-1', signature };
    const body = new URLSearchParams(fields);
    expect((await fetch(`${url}/ipn`, { method: 'POST', body })).status).toBe(500);
  });

  test.skipIf(why).for(amounts)(
    `accepts a genuine IPN for %s, and rejects it after any change${here}`,
    async (amount) => {
      const { sim, order, shop, url } = await openShop(receiver, { amount });
      const delivery = await paid(sim, order, url);
      expect(await shop.paid()).toEqual([order.identifier]);
      expect(delivery.attempts).toMatchObject([{ responseStatus: 200, responseBody: 'OK' }]);
      expect(delivery.state).toBe('delivered');

      const changes = {
        'data[amount]': '1000000',
        identifier: 'order-2',
        status: 'failed',
        'data[currency][code]': 'GNF',
        signature: new URLSearchParams(delivery.body).get('signature')?.toLowerCase() ?? '',
      };
      for (const [name, value] of [...Object.entries(changes), ['signature', ''] as const]) {
        const body = new URLSearchParams(delivery.body);
        expect(body.has(name)).toBe(true);
        body.set(name, value);
        const refusal = await fetch(url, { method: 'POST', body });
        expect([name, refusal.status, await refusal.text()]).toEqual([name, 400, 'refused']);
      }
      expect((await fetch(url, { method: 'POST', body: new URLSearchParams() })).status).toBe(400);
    },
  );

  test.skipIf(why)(
    `survives hostile clients, and marks an order as paid once despite repeated IPNs${here}`,
    async () => {
      const { sim, order, shop, url } = await openShop(receiver);
      await bother(url);
      const { body } = await paid(sim, order, 'http://127.0.0.1:9/');
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          fetch(url, { method: 'POST', body: new URLSearchParams(body), signal: AbortSignal.timeout(5_000) }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(await shop.paid()).toEqual([order.identifier]);
    },
  );
});

describe.each(sample(RECEIVERS, ({ language }) => language === 'php'))(
  'the receiver in $place',
  (receiver) => {
    const why = missing(receiver.runtime);
    const here = why ? ` (${why})` : '';

    test.skipIf(why)(`passes the audit${here}`, async () => {
      const sim = await startSim({ secretKey: 'sec_sim_kept_by_this_shop_alone_1' });
      const newOrder = await orderMaker();
      const shop = await runReceiver(receiver, sim);
      const client = await connectGatewaySim(sim.url);
      const { cases, summary } = await client.audit({
        ipnUrl: shop.url,
        order: async () => {
          const order = newOrder('49.90', 'USD', shop.url);
          await shop.store(order);
          await sim.initiate({ ...ORDER, identifier: order.identifier, ipn_url: order.ipnUrl });
        },
        probe: async (identifier) =>
          JSON.stringify({ paid: (await shop.paid()).filter((one) => one === identifier).length }),
        paidWhen: '.paid=1',
        only: AUDIT_CASES,
      });
      // The receiver has no return page.
      const expected = (group: string) => (group === 'return' ? 'unproven' : 'pass');
      const bad = cases.filter(({ verdict, group }) => verdict !== expected(group) && verdict !== 'skipped');
      expect(bad.map(({ name, verdict, why }) => [name, verdict, why])).toEqual([]);
      expect(summary.pass).toBeGreaterThan(IS_RELEASE ? 60 : 30);
    });
  },
);

const INIT = join(ROOT, 'src/init');
const NODE_SERVER = `require('node:http').createServer(require('${INIT}/payments.cjs').createHandler(process.env.GATEWAY_SIM_SECRET_KEY))
  .listen(0, 'localhost', function () { console.log('http://localhost:' + this.address().port); })`;
const PYTHON_SERVER = `import os, sys
sys.path.insert(0, '${INIT}')
sys.dont_write_bytecode = True
from gateway_sim import QuietHandler, Server
from payments import create_app
server = Server(('localhost', 0), QuietHandler)
server.set_app(create_app(os.environ['GATEWAY_SIM_SECRET_KEY']))
print(f'http://localhost:{server.server_port}', flush=True)
server.serve_forever()`;

describe.each([
  ['payments.cjs from init', 'node', [process.execPath, '-e', NODE_SERVER]],
  ['payments.php from init', 'php', ['php', '-S', 'localhost:0', join(INIT, 'payments.php')]],
  ['payments.py from init', 'python', ['python3', '-c', PYTHON_SERVER]],
] as const)('%s', (_, runtime, command) => {
  const why = missing(runtime);
  test.skipIf(why)(
    `survives hostile clients, and accepts genuine IPNs${why ? ` (${why})` : ''}`,
    async () => {
      const sim = await startSim();
      const env = { PORT: '0', GATEWAY_SIM_SECRET_KEY: sim.secretKey };
      const url = `${await serve(command, { env })}/ipn`;
      await bother(url);
      const { state } = await paid(sim, { identifier: 'order-1', amount: '49.90', currency: 'USD' }, url);
      expect(state).toBe('delivered');
    },
  );
});

const ALONE = [
  ['php', ['php', '-r', `require '${INIT}/payments.php'; initiate(newOrder('1', 'USD'), '', []);`]],
  ['python', ['python3', '-Bc', 'from payments import *; initiate(new_order("1", "USD"), "")']],
  [
    'node',
    [
      process.execPath,
      '-e',
      `const { initiate, newOrder } = require('${INIT}/payments.cjs'); initiate(newOrder('1', 'USD'), '');`,
    ],
  ],
] as const;

test.each(ALONE)('the payments file for %s says what to do without a key', async (runtime, command) => {
  if (missing(runtime)) return;
  const { code, stdout, stderr } = await runProgram(command, {
    cwd: INIT,
    env: { GATEWAY_SIM_PUBLIC_KEY: '' },
  });
  expect([code, stdout + stderr]).not.toEqual([0, expect.anything()]);
  expect(stdout + stderr).toMatch(
    /GATEWAY_SIM_PUBLIC_KEY is not set: run your program with .npx gateway-sim exec/,
  );
});
