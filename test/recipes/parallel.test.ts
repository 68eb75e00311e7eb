import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from './project.ts';

const SUITE = await readFile(new URL('suite.txt', import.meta.url), 'utf8');
const FILES = 5;

test('fifteen tests in five files, each with its own emulator, pass in parallel', async () => {
  const project = await createProject(['vitest']);
  onTestFinished(project.remove);
  await project.recipes('shop.cjs');
  for (let file = 1; file <= FILES; file++) await project.write(`suite-${file}.test.mjs`, SUITE);
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', `--maxWorkers=${FILES}`];
  const { code, output } = await project.run(vitest);
  expect(output).toMatch(/Tests +15 passed/);
  expect(output).not.toMatch(/Unhandled|close timed out/);
  expect(code).toBe(0);
});

test("Jest's fake timers do not affect the emulator, even if they are enabled globally", async () => {
  const project = await createProject(['jest']);
  onTestFinished(project.remove);
  await project.recipes('shop.cjs');
  await project.write('jest.config.js', 'module.exports = { fakeTimers: { enableGlobally: true } };');
  await project.write(
    'fake.test.js',
    `const { GatewayError, startGatewaySim } = require('gateway-sim');
       const { openShop } = require('./shop.cjs');
       test('an order is paid', async () => {
         const sim = await startGatewaySim();
         const shop = await openShop(sim);
         await shop.checkout('order-1');
         await sim.payments.approve('order-1');
         await sim.ipns.waitFor({ payment: 'order-1', state: 'delivered' });
         expect(shop.isPaid('order-1')).toBe(true);
         const waited = sim.payments.waitFor({ identifier: 'order-2' }, { timeout: 50 });
         await expect(waited).rejects.toThrow(GatewayError);
         shop.close();
         await sim.stop();
       });`,
  );
  const jest = [process.execPath, 'node_modules/jest/bin/jest.js'];
  const { code, output } = await project.run(jest);
  expect(output).toMatch(/Tests: +1 passed/);
  expect(code).toBe(0);
});
