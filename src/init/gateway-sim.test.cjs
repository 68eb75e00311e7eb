const { createServer } = require('node:http');
const { startGatewaySim } = require('gateway-sim');
const { createHandler } = require('./payments.cjs'); // replace this with your own handler

let sim;
let shop;
beforeAll(async () => {
  sim = await startGatewaySim();
  shop = createServer(createHandler(sim.secretKey)).listen(0);
});
afterAll(() => {
  shop.close();
  return sim.stop();
});

test('a payment reaches the shop', async () => {
  const ipnUrl = `http://localhost:${shop.address().port}/ipn`;
  const { identifier } = await sim.payments.create({ amount: '49.90', ipnUrl });
  await sim.payments.approve(identifier);
  await sim.ipns.assertDelivered(identifier);
});
