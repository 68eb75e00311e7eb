import { expect, test } from 'vitest';
import { startAuditable } from '../helpers/auditable.ts';
import { OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openDashboard, openPage, picture, resize } from '../helpers/browser.ts';
import { misfits } from '../helpers/layout.ts';
import { gate } from '../helpers/receiver.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { ask } from '../helpers/sim.ts';

const LOOKS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 600 },
  { colorScheme: 'dark', width: 360 },
] as const;

test('the audit page starts an audit, shows its progress, fits and is accessible', async () => {
  const { sim, shop, asked } = await startAuditable({}, { isAmount: () => true });
  const { opened, open } = gate();
  const { place } = shop;
  // The first two orders succeed. The others wait until the page has been checked.
  shop.place = async () => {
    if (shop.orders.size >= 2) await opened;
    await place();
  };
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await page.getByLabel('IPN handler').fill(asked.ipnUrl);
  await page.getByLabel('Order URL').fill(asked.orderUrl);
  await page.getByLabel('Probe URL').fill(asked.probeUrl);
  await page.getByLabel('Paid when').fill(asked.paidWhen);
  await page.getByLabel('Only cases').fill(IS_RELEASE ? 'amount, merchant, A, L' : 'amount');
  await page.getByRole('button', { name: 'Run the audit' }).click();
  await page.getByRole('button', { name: 'Stop the audit' }).waitFor();
  await page.evaluate('window.isTheSamePage = true');
  await page.getByRole('img', { name: /Cases: \d+ pass/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Run the audit' }).count()).toBe(0);
  expect(await violationsOf(page, { within: 'main' })).toEqual([]);
  await picture(page, 'audit-running');
  open();
  const failed = page.locator('#case-amount-too-low');
  await failed.getByText('and the order is paid').waitFor({ state: 'attached' });
  await page.getByRole('heading', { name: 'Not safe: ' }).waitFor();
  expect(await page.evaluate('window.isTheSamePage')).toBe(true);
  const mistake = page.locator('#mistake-amount-not-compared');
  expect(await mistake.getByText('PHP:').isVisible()).toBe(true);
  expect(await page.getByText('This audit left').textContent()).toMatch(/left \d+ orders in the shop’s/);
  for (const { colorScheme, width } of sample(LOOKS, (look) => look.width === 1440 || look.width === 360)) {
    await page.emulateMedia({ colorScheme });
    await resize(page, { width, height: 800 });
    await picture(page, `audit-${width}-${colorScheme}`);
    if (width === 1440) await picture(mistake, 'docs-audit');
    const how = colorScheme === 'light' ? {} : { rules: OF_LOOKS };
    expect([width, ...(await misfits(page)), ...(await violationsOf(page, how))]).toEqual([width]);
  }
  expect(errors).toEqual([]);
});

test('the audit page updates even though no payment changes', async () => {
  const { sim, asked } = await startAuditable();
  const { page, errors } = await openDashboard(sim, '/_sim/ui/audit');
  const json = { ipnUrl: asked.ipnUrl, orderUrl: 'http://127.0.0.1:9/order', only: ['A'] };
  expect((await ask(sim, 'POST', '/audit', json)).status).toBe(202);
  await page.getByRole('heading', { name: 'Nothing is proven' }).waitFor();
  await page.getByText('could not place an order').first().waitFor({ state: 'attached' });
  await page.locator('#news', { hasText: /Audit finished: \d+ of \d+/ }).waitFor({ state: 'attached' });
  expect(sim.server.parts.payments.all.size).toBe(0);
  expect(errors).toEqual([]);
});
