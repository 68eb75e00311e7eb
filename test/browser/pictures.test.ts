import { expect, test } from 'vitest';
import { openPage, picture, resize, withBrowser } from '../helpers/browser.ts';
import { startNaiveShop } from '../helpers/busy.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

withBrowser();

test('a shop that signs another amount gets an explanation, is fixed, and gets the IPN again', async () => {
  const sim = await startSim();
  let isFixed = false;
  const shop = await startNaiveShop(
    () => sim.secretKey,
    () => isFixed,
  );
  const checkout = await sim.initiate({
    ...ORDER,
    identifier: 'order-1042',
    amount: '49.90',
    site_logo: `${shop.url}/logo.svg`,
    customer_name: 'Chloé Martin',
    ipn_url: `${shop.url}/ipn`,
    success_url: `${sim.url}/_sim/ui/paid`,
    cancel_url: `${sim.url}/_sim/ui/canceled`,
  });

  const { page, errors } = await openPage();
  await resize(page, { width: 960, height: 660 });
  await page.goto(checkout);
  await picture(page, 'docs-checkout', 'in sight');
  await page.getByRole('button', { name: 'Use test e-mail' }).click();
  await page.getByLabel('Verification code').fill('222666');
  await page.getByRole('button', { name: /^Pay / }).click();
  await page.getByRole('heading', { name: 'Thank you for your payment' }).waitFor();

  await page.goto(`${sim.url}/_sim`);
  await page.getByRole('link', { name: 'order-1042' }).click();
  const verdict = page.getByRole('region', { name: 'Verdict' });
  await verdict
    .getByRole('heading', { name: 'You signed 49.9. Sign the amount exactly as it arrived: 49.90.' })
    .waitFor();
  await picture(page.locator('#verdict'), 'docs-verdict');
  isFixed = true;
  await verdict.getByRole('button', { name: 'Resend' }).click();
  await verdict
    .getByRole('heading', { name: /Delivered \(attempt 2\): your handler returned 200/ })
    .waitFor();
  expect(errors).toEqual([]);
});
