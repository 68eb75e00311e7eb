import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { launchProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { sample } from '../helpers/scope.ts';
import { type Sim, startSim } from '../helpers/sim.ts';
import { missing } from '../merchants/running.ts';
import { fence } from './pages.ts';

const RECEIVERS = [
  {
    place: 'receive-and-verify.md: PHP',
    language: 'php',
    runtime: 'php',
    file: 'ipn.php',
    run: (file: string) => ['php', '-S', 'localhost:0', file],
    // PHP's own server tells its address among other things on stderr.
    address: /\((http:\/\/localhost:\d+)\) started/,
  },
  {
    place: 'receive-and-verify.md: Node',
    language: 'js',
    runtime: 'node',
    file: 'ipn.mjs',
    run: (file: string) => [process.execPath, file],
    address: /(http:\/\/localhost:\d+)/,
  },
  {
    place: 'receive-and-verify.md: Python',
    language: 'python',
    runtime: 'python',
    file: 'ipn.py',
    run: (file: string) => ['python3', file],
    address: /(http:\/\/localhost:\d+)/,
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

/** What the page makes orders with. */
async function orderMaker(): Promise<NewOrder> {
  const file = join(await temporaryFolder(), 'order.mjs');
  await writeFile(file, fence('receive-and-verify.md: Why a valid signature is not enough', 'js'));
  const { newOrder } = (await import(pathToFileURL(file).href)) as { newOrder: NewOrder };
  return newOrder;
}

/** Runs a receiver as the page has it, on a free port, with an order in its database. */
async function runReceiver(
  receiver: (typeof RECEIVERS)[number],
  secretKey: string,
  order: Order,
): Promise<string> {
  const file = join(await temporaryFolder(), receiver.file);
  await writeFile(file, fence(receiver.place, receiver.language));
  const env = { GATEWAY_SECRET_KEY: secretKey, ORDER: JSON.stringify(order), PORT: '0' };
  const { until, stdout, stderr } = launchProgram(receiver.run(file), { env });
  const address = () => receiver.address.exec(stdout() + stderr())?.[1];
  await until(() => address() !== undefined);
  return `${address()}/ipn`;
}

interface Settled {
  delivery: { state: string; body: string; attempts: { responseStatus: number; responseBody: string }[] };
}

/** Pays an order in the sandbox: what its receiver gets, and answers. */
async function paid(sim: Sim, order: Pick<Order, 'identifier' | 'amount' | 'currency'>, ipnUrl: string) {
  await sim.initiate({
    identifier: order.identifier,
    currency: order.currency,
    amount: order.amount,
    details: 'Ünïcode & more',
    ipn_url: ipnUrl,
    success_url: 'http://localhost/paid',
    cancel_url: 'http://localhost/cart',
    site_logo: 'http://localhost/logo.png',
    customer_name: 'Ada Lovelace',
    customer_email: 'ada@example.com',
  });
  const answer = await fetch(`${sim.url}/_sim/payments/${order.identifier}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ outcome: 'approve', awaitDelivery: true }),
  });
  const { delivery } = (await answer.json()) as Settled;
  return delivery;
}

test('an order of the page has an identifier of 20 characters and a token of its own', async () => {
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

describe.each(RECEIVERS)('the receiver in $place', (receiver) => {
  const why = missing(receiver.runtime);
  const here = why ? ` (${why})` : '';
  const amounts = sample(['100', '100.00', '49.9', '0.1'], (amount) => amount === '100.00');

  test.skipIf(why).for(amounts)(
    `accepts a real IPN over %s, and refuses it once anything in it was changed${here}`,
    async (amount) => {
      const sim = await startSim();
      const order = (await orderMaker())(amount, 'USD', '');
      const url = (await runReceiver(receiver, sim.secretKey, order)) + order.ipnUrl;
      const delivery = await paid(sim, order, url);
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

  test.skipIf(why)(`refuses a genuine IPN of a payment that is not that of its order${here}`, async () => {
    const sim = await startSim();
    const order = (await orderMaker())('49.90', 'USD', '');
    const url = await runReceiver(receiver, sim.secretKey, order);
    const token = order.ipnUrl;
    const others: [changed: Partial<Order>, token: string][] = [
      // Whoever has the public key can make these.
      [{}, ''],
      [{}, '?token='],
      [{}, `?token=${'0'.repeat(order.token.length)}`],
      [{ identifier: '0'.repeat(20) }, token],
      [{ amount: '1.00' }, token],
      [{ currency: 'EUR' }, token],
    ];
    for (const [changed, address] of others) {
      const { attempts } = await paid(sim, { ...order, ...changed }, url + address);
      expect([changed, attempts[0]]).toMatchObject([
        changed,
        { responseStatus: 400, responseBody: 'refused' },
      ]);
    }
  });

  test.skipIf(why)(`refuses a spliced IPN even of a shop with short identifiers${here}`, async () => {
    const sim = await startSim();
    const order = { ...(await orderMaker())('100.00', 'USD', ''), identifier: '99' };
    const url = (await runReceiver(receiver, sim.secretKey, order)) + order.ipnUrl;
    const cheap = { identifier: '00.0099', amount: '1', currency: 'USD' };
    const { body } = await paid(sim, cheap, 'http://127.0.0.1:9/');
    const spliced = new URLSearchParams(body);
    spliced.set('data[amount]', '100.00');
    spliced.set('identifier', '99');
    expect(sim.server.parts.dialect.verify(spliced.toString(), keysOf(sim)).valid).toBe(true);
    expect((await fetch(url, { method: 'POST', body: spliced })).status).toBe(400);
  });
});

function keysOf({ secretKey }: Sim) {
  return { secretKey, others: [] };
}
