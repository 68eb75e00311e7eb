import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSim } from '../helpers/sim.ts';
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

/** Runs a receiver as the page has it, on a free port. */
async function runReceiver(receiver: (typeof RECEIVERS)[number], secretKey: string): Promise<string> {
  const file = join(await temporaryFolder(), receiver.file);
  await writeFile(file, fence(receiver.place, receiver.language));
  const [command = '', ...rest] = receiver.run(file);
  const child = spawn(command, rest, {
    env: { ...process.env, GATEWAY_SECRET_KEY: secretKey, PORT: '0' },
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

describe.each(RECEIVERS)('the receiver in $place', (receiver) => {
  const [command = ''] = receiver.run('');

  test.skipIf(!isInstalled(command)).for(['100', '100.00', '49.9', '0.1'])(
    'accepts a real IPN over %s, and refuses it once anything in it was changed',
    async (amount) => {
      const sim = await startSim();
      const url = await runReceiver(receiver, sim.secretKey);
      await sim.initiate({
        identifier: 'order-1',
        currency: 'USD',
        amount,
        details: 'Ünïcode & more',
        ipn_url: url,
        success_url: 'http://localhost/paid',
        cancel_url: 'http://localhost/cart',
        site_logo: 'http://localhost/logo.png',
        customer_name: 'Ada Lovelace',
        customer_email: 'ada@example.com',
      });
      const answer = await fetch(`${sim.url}/_sim/payments/order-1/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ outcome: 'approve', awaitDelivery: true }),
      });
      const { delivery } = (await answer.json()) as Settled;
      expect(delivery.attempts).toMatchObject([{ responseStatus: 200, responseBody: 'OK' }]);
      expect(delivery.state).toBe('delivered');

      const changes = {
        'data[amount]': '1000000',
        identifier: 'order-2',
        status: 'failed',
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
});
