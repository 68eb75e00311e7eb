import { expect, test } from 'vitest';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { startNaiveShop } from '../helpers/busy.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const CUSTOMERS = [
  ['Ada Moreau', '120'],
  ['Ben Okafor', '15'],
  ['Chloé Martin', '49.90'],
  ['Dmitri Sokolov', '80'],
  ['Elif Yilmaz', '9'],
  ['Farid Haddad', '260'],
] as const;

async function settleOrders(sim: Sim, ipnUrl: string): Promise<void> {
  for (const [index, [name, amount]] of CUSTOMERS.entries()) {
    const email = `${name.split(' ', 1)[0]?.toLowerCase().replace('é', 'e')}@example.com`;
    const order = { identifier: `order-${1040 + index}`, amount, customer_name: name, customer_email: email };
    await sim.initiate({ ...ORDER, ...order, ipn_url: ipnUrl });
    const { payments } = sim.server.parts;
    const outcome = (['approve', 'approve', 'approve', 'cancel', 'approve'] as const)[index];
    const payment = sim.server.parts.state.current.findPayment(order.identifier);
    if (payment && outcome)
      await payments.settle(payment.id, { outcome, by: 'control', awaitDelivery: true });
  }
}

test('the dashboard shows at a glance what a shop gets wrong, and why', async () => {
  const sim = await startSim();
  const shop = await startNaiveShop(() => sim.secretKey);
  await settleOrders(sim, `${shop.url}/ipn`);
  const { page, errors } = await openPage();
  await resize(page, { width: 1200, height: 520 });
  await page.goto(`${sim.url}/_sim`);
  await page.getByText('Chloé Martin').waitFor();
  await page.locator('#live.on').waitFor();
  await picture(page, 'docs-payments', 'in sight');
  await page.getByRole('link', { name: 'order-1042' }).click();
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await verdict.getByText(/Your code signed .* 49\.9 was signed, but data\.amount is 49\.90/).waitFor();
  await resize(page, { width: 1200, height: 760 });
  await picture(page, 'docs-verdict', 'in sight');
  expect(errors).toEqual([]);
});
