import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { leftByKill, run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';

/** The remaining payments, oldest first. */
async function left(cwd: string) {
  const payments = await runJson<{ data: { id: string; identifier: string }[] }>(['payments'], { cwd });
  const ipns = await runJson<{ data: { identifier: string }[] }>(['ipn', 'list'], { cwd });
  return {
    payments: payments.body.data.map(({ identifier }) => identifier).reverse(),
    ipns: ipns.body.data.map(({ identifier }) => identifier).reverse(),
  };
}

const KEPT = ['pending', 'due', 'order-8', 'order-9'];

it('keep permanently removes the oldest settled payments and their IPNs, but keeps scheduled work', async () => {
  const cwd = await temporaryFolder();
  const receiver = await startReceiver();
  const busy = await startReceiver([{ status: 503 }]);
  const approved = { auto: 'approve', autoDelay: '1ms' } as const;
  const first = await startIn(cwd, { ...approved, keep: '2', ipnSchedule: ['12h'] });
  await first.initiate({ ...ORDER, identifier: 'pending', customer_email: 'pending@gateway-sim.test' });
  await first.initiate({ ...ORDER, identifier: 'due', ipn_url: busy.url });
  await busy.request(1);
  for (let number = 0; number < 10; number++) {
    await first.initiate({ ...ORDER, identifier: `order-${number}`, ipn_url: receiver.url });
    await receiver.request(number + 1);
  }
  await expect.poll(async () => (await left(cwd)).payments).toEqual(KEPT);
  expect((await left(cwd)).ipns).toEqual(['due', 'order-8', 'order-9']);
  const shown = await run(['payments', 'show', 'order-0'], { cwd });
  expect([shown.code, shown.stderr]).toEqual([4, expect.stringContaining('order-0')]);

  // Without the option, no record is removed, and none reappears.
  const again = await leftByKill(cwd);
  const second = await startIn(again);
  expect(await left(again)).toEqual({ payments: KEPT, ipns: ['due', 'order-8', 'order-9'] });
  await second.server.stop();
  expect(await readFile(join(again, '.gateway-sim', 'db.json'), 'utf8')).not.toContain('order-0');
});

it('a keep of 10ms is rejected', async () => {
  const cwd = await temporaryFolder({ 'gateway-sim.config.json': '{"keep":"10ms"}' });
  const { code, stderr } = await run(['start'], { cwd });
  const message = '"keep" in gateway-sim.config.json must be from 1s to 720h, or a number of payments';
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('with a seed, each start creates new values, even if the state has the same size as before', async () => {
  let cwd = await temporaryFolder();
  const created: (string | undefined)[] = [];
  for (let start = 0; start < 3; start++) {
    const settled = { auto: 'approve', autoDelay: '1ms', delivery: 'redirect-only' } as const;
    const sim = await startIn(cwd, { ...settled, keep: '1', seed: 'shop' });
    await sim.initiate({ ...ORDER, identifier: `order-${start}` });
    const payments = () => [...sim.server.parts.payments.all.values()];
    await expect.poll(payments).toMatchObject([{ identifier: `order-${start}`, status: 'succeeded' }]);
    created.push(payments()[0]?.trx);
    cwd = await leftByKill(cwd);
  }
  expect(new Set(created).size).toBe(3);
});
