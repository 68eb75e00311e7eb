import { createHmac } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { openPage } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

/** Those of the documentation are taken here by `npm run pictures`. */
const PICTURES = fileURLToPath(new URL('../.artifacts/', import.meta.url));

beforeAll(async () => {
  await mkdir(PICTURES, { recursive: true });
});

/** A shop that renders the amount anew before it signs it, as many do; it takes whole amounts. */
function startShop(secretKey: () => string) {
  return startReceiver(({ body }) => {
    const form = new URLSearchParams(body);
    const text = `${Number(form.get('data[amount]'))}${form.get('identifier')}`;
    const computed = createHmac('sha256', secretKey()).update(text).digest('hex').toUpperCase();
    const isRight = form.get('signature') === computed;
    return isRight ? { body: 'OK' } : { status: 400, body: `bad signature, expected ${computed}` };
  });
}

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
  const shop = await startShop(() => sim.secretKey);
  await settleOrders(sim, `${shop.url}/ipn`);
  const { page, errors } = await openPage();
  await page.setViewportSize({ width: 1200, height: 520 });
  await page.goto(`${sim.url}/_sim`);
  await page.getByText('Chloé Martin').waitFor();
  await page.locator('#live.on').waitFor();
  await page.screenshot({ path: `${PICTURES}docs-payments.png` });
  await page.getByRole('link', { name: 'order-1042' }).click();
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await verdict.getByText(/Your code signed .* 49\.9 was signed, but data\.amount is 49\.90/).waitFor();
  await page.setViewportSize({ width: 1200, height: 760 });
  await page.screenshot({ path: `${PICTURES}docs-verdict.png` });
  expect(errors).toEqual([]);
});
