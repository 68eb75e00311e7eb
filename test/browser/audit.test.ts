import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { startAuditable } from '../helpers/auditable.ts';
import { violationsOf } from '../helpers/axe.ts';
import { openPage } from '../helpers/browser.ts';

const PICTURES = fileURLToPath(new URL('../.artifacts/', import.meta.url));
const TOO_WIDE = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const HIDING =
  '[...document.querySelectorAll(".scroll")].filter((at) => at.scrollWidth > at.clientWidth).map((at) => at.id)';

beforeAll(async () => {
  await mkdir(PICTURES, { recursive: true });
});

test('a shop is audited from its page, which grows under the eyes, fits and is accessible', async () => {
  const { sim, shop, asked } = await startAuditable({}, { isAmount: () => true });
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const { place } = shop;
  // Two orders go through; the others wait until the page was looked at.
  shop.place = async () => {
    if (shop.orders.size >= 2) await gate;
    await place();
  };
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  expect(await violationsOf(page)).toEqual([]);
  await page.screenshot({ path: `${PICTURES}audit-form.png` });
  await page.getByLabel('IPN handler').fill(asked.ipnUrl);
  await page.getByLabel('Order address').fill(asked.orderUrl);
  await page.getByLabel('Probe address').fill(asked.probeUrl);
  await page.getByLabel('Paid when').fill(asked.paidWhen);
  await page.getByLabel('Only cases').fill('amount, merchant, A, L');
  await page.getByRole('button', { name: 'Run the audit' }).click();
  await page.getByRole('progressbar', { name: 'Cases that are done' }).waitFor();
  await page.evaluate('window.isTheSamePage = true');
  await page.locator('#control-cases').getByText('pass', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Run the audit' }).count()).toBe(0);
  expect(await violationsOf(page)).toEqual([]);
  await page.screenshot({ path: `${PICTURES}audit-running.png` });
  open();
  const told = page.locator('#case-amount-too-low');
  await told.getByText('and the order is paid').waitFor();
  await page.getByRole('heading', { name: 'Finished: audit of' }).waitFor();
  expect(await page.evaluate('window.isTheSamePage')).toBe(true);
  expect(await told.getByText('PHP:').isVisible()).toBe(true);
  expect(await page.getByText('This audit left').textContent()).toMatch(/left \d+ orders in the shop’s/);
  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 1280],
    ['light', 600],
    ['dark', 360],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${PICTURES}audit-${width}-${colorScheme}.png`, fullPage: true });
    if (width === 1440) await told.screenshot({ path: `${PICTURES}docs-audit.png` });
    const found = [await violationsOf(page), await page.evaluate(TOO_WIDE), await page.evaluate(HIDING)];
    expect([width, ...found]).toEqual([width, [], false, []]);
  }
  expect(errors).toEqual([]);
});

test('the page follows where no payment changes', async () => {
  const { sim, asked } = await startAuditable();
  const { page, errors } = await openPage();
  await page.goto(`${sim.url}/_sim/ui/audit`);
  await page.locator('#live.on').waitFor();
  const started = await fetch(`${sim.url}/_sim/audit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ipnUrl: asked.ipnUrl, orderUrl: 'http://127.0.0.1:9/order', only: ['A'] }),
  });
  expect(started.status).toBe(202);
  await page.getByRole('heading', { name: 'Finished: audit of' }).waitFor();
  await page.locator('#control-cases').getByText('no order could be placed').waitFor();
  await page.locator('#news', { hasText: /Audit finished: \d+ of \d+/ }).waitFor({ state: 'attached' });
  expect(sim.server.parts.state.current.payments.size).toBe(0);
  expect(errors).toEqual([]);
});

test('without JavaScript the page is whole, and shows on the next look what has come of it', async () => {
  const { sim, asked } = await startAuditable({}, { isSigned: () => true });
  const { page, errors } = await openPage({ javaScriptEnabled: false });
  await page.goto(`${sim.url}/_sim/ui/audit`);
  await page.getByLabel('IPN handler').fill(asked.ipnUrl);
  await page.getByLabel('Only cases').fill('signature-garbage');
  await page.getByRole('button', { name: 'Run the audit' }).click();
  await expect.poll(() => sim.server.parts.audits.last?.state).toBe('finished');
  await page.reload();
  await page.locator('#progress', { hasText: '2 of 2 cases, ended at' }).waitFor();
  await page.locator('#sender-cases').getByText('signature-garbage').waitFor();
  expect(errors).toEqual([]);
});
