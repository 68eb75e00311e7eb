import { createServer } from 'node:http';
import { expect, test } from '@playwright/test';
import { startGatewaySim } from 'gateway-sim';
import { createHandler } from './payments.cjs'; // replace this with your own handler

let sim;
let shop;
test.beforeAll(async () => {
  sim = await startGatewaySim();
  shop = createServer(createHandler(sim.secretKey)).listen(0);
});
test.afterAll(() => {
  shop.close();
  return sim.stop();
});

test('a customer pays, and the shop receives the IPN', async ({ page }) => {
  const ipnUrl = `http://localhost:${shop.address().port}/ipn`;
  const { identifier, checkoutUrl } = await sim.payments.create({ amount: '49.90', ipnUrl });
  await page.goto(checkoutUrl);
  await page.getByLabel('E-mail').fill('test_mode@mail.com');
  await page.getByLabel('E-mail').press('Enter');
  await page.getByLabel('Verification code').fill('222666');
  await page.getByLabel('Verification code').press('Enter');
  await expect(page).toHaveURL(/paid/);
  await sim.ipns.assertDelivered(identifier);
});
