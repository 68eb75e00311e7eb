import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { run, runJson, startBinary } from '../helpers/binary.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { fields } from '../helpers/records.ts';

type Started = Awaited<ReturnType<typeof startBinary>>;

async function initiate({ ready: { url, publicKey } }: Started, changes: Record<string, string>) {
  const body = new URLSearchParams({ ...fields(changes), public_key: publicKey });
  const answer = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

/** What is left, oldest first. */
async function left(cwd: string) {
  const payments = await runJson<{ data: { id: string; identifier: string }[] }>(['payments'], { cwd });
  const ipns = await runJson<{ data: { identifier: string }[] }>(['ipn', 'list'], { cwd });
  return {
    payments: payments.body.data.map(({ identifier }) => identifier).reverse(),
    ipns: ipns.body.data.map(({ identifier }) => identifier).reverse(),
  };
}

const KEPT = ['pending', 'due', 'order-8', 'order-9'];

it('start --keep drops the oldest settled payments with their IPNs, for good, and nothing that is due', async () => {
  const cwd = await temporaryFolder();
  const receiver = await startReceiver();
  const busy = await startReceiver([{ status: 503 }]);
  const args = ['--keep', '2', '--auto', 'approve', '--auto-delay', '1ms', '--ipn-schedule', '12h'];
  const first = await startBinary(args, { cwd });
  await initiate(first, { identifier: 'pending', customer_email: 'pending@gateway-sim.test' });
  await initiate(first, { identifier: 'due', ipn_url: busy.url });
  await busy.request(1);
  for (let number = 0; number < 10; number++) {
    await initiate(first, { identifier: `order-${number}`, ipn_url: receiver.url });
    await receiver.request(number + 1);
  }
  await vi.waitFor(async () => expect((await left(cwd)).payments).toEqual(KEPT), {
    timeout: 30_000,
    interval: 200,
  });
  expect((await left(cwd)).ipns).toEqual(['due', 'order-8', 'order-9']);
  const shown = await run(['payments', 'show', 'order-0'], { cwd });
  expect([shown.code, shown.stderr]).toEqual([4, expect.stringContaining('order-0')]);
  first.child.kill('SIGKILL');
  await first.ended;

  // Without the flag nothing goes, and nothing comes back.
  const second = await startBinary([], { cwd });
  expect(await left(cwd)).toEqual({ payments: KEPT, ipns: ['due', 'order-8', 'order-9'] });
  second.child.kill('SIGTERM');
  await second.ended;
  expect(await readFile(join(cwd, '.gateway-sim', 'db.json'), 'utf8')).not.toContain('order-0');
});

it.each([
  ['0', '--keep must be a number from 1 to 999999999, or a duration such as 30m or 24h (got "0")'],
  ['3d', '--keep must be a number from 1 to 999999999, or a duration such as 30m or 24h (got "3d")'],
  ['10ms', '--keep must be from 1s to 720h, or a number of payments'],
])('start --keep %s is refused', async (value, message) => {
  const { code, stderr } = await run(['start', '--keep', value], { cwd: await temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('with --seed, a start on a state of the same size as an earlier one draws other values', async () => {
  const cwd = await temporaryFolder();
  const args = [
    '--keep',
    '1',
    '--seed',
    'shop',
    '--auto',
    'approve',
    '--auto-delay',
    '1ms',
    '--delivery',
    'redirect-only',
  ];
  const drawn: string[] = [];
  for (let start = 0; start < 3; start++) {
    const emulator = await startBinary(args, { cwd });
    await initiate(emulator, { identifier: `order-${start}` });
    await vi.waitFor(
      async () => {
        const { body } = await runJson<{ data: { trx: string; identifier: string; status: string }[] }>(
          ['payments'],
          { cwd },
        );
        expect(body.data).toMatchObject([{ identifier: `order-${start}`, status: 'succeeded' }]);
        drawn[start] = body.data[0]?.trx ?? '';
      },
      { timeout: 30_000, interval: 100 },
    );
    emulator.child.kill('SIGKILL');
    await emulator.ended;
  }
  expect(new Set(drawn).size).toBe(3);
});
