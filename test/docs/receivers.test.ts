import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Sim, startSim } from '../helpers/sim.ts';
import { fence } from './pages.ts';

function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

const RECEIVERS = [
  {
    place: 'receive-and-verify.md: PHP',
    language: 'php',
    file: 'ipn.php',
    run: (file: string) => ['php', '-S', 'localhost:0', file],
    // PHP's own server tells its address among other things on stderr.
    address: /\((http:\/\/localhost:\d+)\) started/,
  },
  {
    place: 'receive-and-verify.md: Node',
    language: 'js',
    file: 'ipn.mjs',
    run: (file: string) => [process.execPath, file],
    address: /(http:\/\/localhost:\d+)/,
  },
  {
    place: 'receive-and-verify.md: Python',
    language: 'python',
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
  const [command = '', ...rest] = receiver.run(file);
  const child = spawn(command, rest, {
    env: { ...process.env, GATEWAY_SECRET_KEY: secretKey, ORDER: JSON.stringify(order), PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => ended(child));
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = receiver.address.exec(output)?.[1];
      if (address) resolve(`${address}/ipn`);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${output}`)));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
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
  expect(orders.every(({ identifier }) => identifier.length === 20)).toBe(true);
  expect(new Set(orders.flatMap(({ identifier, token }) => [identifier, token])).size).toBe(200);
  expect(orders.every(({ token, ipnUrl }) => token.length >= 32 && ipnUrl.endsWith(token))).toBe(true);
});

describe.each(RECEIVERS)('the receiver in $place', (receiver) => {
  const [command = ''] = receiver.run('');
  const isHere = isInstalled(command);

  test.skipIf(!isHere).for(['100', '100.00', '49.9', '0.1'])(
    'accepts a real IPN over %s, and refuses it once anything in it was changed',
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

  test.skipIf(!isHere)('refuses a genuine IPN of a sandbox payment that somebody else made', async () => {
    const sim = await startSim();
    const order = (await orderMaker())('49.90', 'USD', '');
    const url = await runReceiver(receiver, sim.secretKey, order);
    for (const ipnUrl of [url, `${url}?token=`, `${url}?token=${'0'.repeat(order.token.length)}`]) {
      const { attempts } = await paid(sim, order, ipnUrl);
      expect(attempts[0]).toMatchObject({ responseStatus: 400, responseBody: 'refused' });
    }
  });

  test.skipIf(!isHere)('refuses a spliced IPN even of a shop with short identifiers', async () => {
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
  return { secretKey, others: new Map<string, string>() };
}
