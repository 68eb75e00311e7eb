import { expect, it } from 'vitest';
import { leftByKill, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { ORDER } from '../helpers/sim.ts';

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
