import { createServer } from 'node:http';
import { startGatewaySim } from 'gateway-sim';
import { onTestFinished, test } from 'vitest';
import { createHandler } from './payments.cjs'; // replace this with your own handler

test('a payment reaches the shop', async () => {
  const sim = await startGatewaySim();
  onTestFinished(sim.stop);
  const shop = createServer(createHandler(sim.secretKey)).listen(0);
  onTestFinished(() => shop.close());
  const ipnUrl = `http://localhost:${shop.address().port}/ipn`;
  const { identifier } = await sim.payments.create({ amount: '49.90', ipnUrl });
  await sim.payments.approve(identifier);
  await sim.ipns.assertDelivered(identifier);
});
