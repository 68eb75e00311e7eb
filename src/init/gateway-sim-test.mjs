import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { startGatewaySim } from 'gateway-sim';
import { createHandler } from './payments.cjs'; // replace this with your own handler

const sim = await startGatewaySim();
after(() => sim.stop());

test('a payment reaches the shop', async (context) => {
  const shop = createServer(createHandler(sim.secretKey)).listen(0);
  context.after(() => shop.close());
  const ipnUrl = `http://localhost:${shop.address().port}/ipn`;
  const { identifier } = await sim.payments.create({ amount: '49.90', ipnUrl });
  await sim.payments.approve(identifier);
  await sim.ipns.assertDelivered(identifier);
});
