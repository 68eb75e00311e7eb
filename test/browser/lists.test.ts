import { expect, test } from 'vitest';
import { openDashboard, openPage, resize } from '../helpers/browser.ts';
import { busySim } from '../helpers/busy.ts';
import { paid, startSim } from '../helpers/sim.ts';

const LONG = 'order-2026-11-22-of-the-second-shop-17';
const NOT_ACCEPTED = '?status=ipn-not-accepted';
const LISTS = ['', NOT_ACCEPTED, '/ui/requests', '/ui/cards'];

test('a list starts near the top even with a fault and a moved clock, has rows of 36 pixels, and takes four requests', async () => {
  const { sim } = await busySim();
  const { page } = await openPage();
  let paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  for (const list of LISTS) {
    paths = [];
    await resize(page, { width: 1440, height: 900 });
    await page.goto(`${sim.url}/_sim${list}`);
    await page.locator('#live.on').waitFor();
    expect(paths).toEqual([
      `/_sim${list.split('?')[0]}`,
      '/_sim/ui/dashboard.css',
      '/_sim/ui/live.js',
      '/_sim/events',
    ]);
    await page.getByText('1 fault active').waitFor();
    await page.getByText(/Clock is .* ahead/).waitFor();
    const rows = page.locator('tbody tr');
    const boxes = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect()));
    const heights = new Set(boxes.map(({ height }) => Math.round(height)));
    expect([list, ...heights]).toEqual([list, 36]);
    expect(boxes[0]?.y).toBeLessThan(300);
    await resize(page, { width: 390, height: 844 });
    expect((await rows.first().boundingBox())?.y).toBeLessThan(330);
  }
});

test('identifiers of 20 characters, and the port and path of an address, are whole on 1280 pixels', async () => {
  const sim = await startSim();
  const identifier = 'order-2026-11-22-100';
  const ipn_url = 'http://127.0.0.1:9/wp-json/the-second-shop/v1/gateway/ipn';
  // Its second use is a warning beside it.
  for (let times = 0; times < 2; times++) await paid(sim, { identifier, ipn_url });
  const { page } = await openPage({ viewport: { width: 1280, height: 800 } });
  const isWhole = (of: string) =>
    page
      .locator(of)
      .evaluateAll((all) => all.map((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= 36));
  await page.goto(`${sim.url}/_sim`);
  expect(await isWhole('tbody th, tbody td.cause')).toEqual([true, true, true, true]);
  expect(await page.locator('tbody th a').first().innerText()).toBe(identifier);
  await page.goto(`${sim.url}/_sim${NOT_ACCEPTED}`);
  expect(await isWhole('tbody th, tbody td.address')).toEqual([true, true, true, true]);
  expect(await page.locator('td.address').first().innerText()).toBe(ipn_url);
});

test('a click anywhere in a row except on its controls opens the record, and the focus ring surrounds the row', async () => {
  const { sim } = await busySim();
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim${NOT_ACCEPTED}`);
  const row = page.locator('tbody tr', { hasText: 'order-6' }).first();
  await row.getByRole('checkbox').check();
  const link = row.locator('th a');
  await page.keyboard.press('Tab');
  const ring = await link.evaluate((one) => {
    const { outlineStyle, width } = one.ownerDocument.defaultView?.getComputedStyle(one, '::after') ?? {};
    return [outlineStyle, Math.round(Number.parseFloat(width ?? ''))];
  });
  expect(ring).toEqual(['solid', Math.round((await row.boundingBox())?.width ?? 0)]);
  const { x = 0, y = 0, width = 0 } = (await row.getByRole('cell').nth(2).boundingBox()) ?? {};
  await page.mouse.click(x + width - 4, y + 4);
  await page.getByRole('heading', { level: 1, name: 'order-6' }).waitFor();
});

test('all IPNs that were not accepted can be selected and resent', async () => {
  const { sim } = await busySim();
  const { page } = await openDashboard(sim, `/_sim${NOT_ACCEPTED}`);
  const boxes = page.locator('tbody').getByRole('checkbox');
  const all = page.getByLabel('Select all');
  const checked = () => boxes.evaluateAll((all) => all.filter((one) => one.matches(':checked')).length);
  const count = await boxes.count();
  for (const expected of [count, 0, count]) {
    await all.click();
    expect(await checked()).toBe(expected);
  }
  await page.getByRole('button', { name: 'Resend selected' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `of ${count} accepted` })
    .waitFor();
});

test('an exact time appears on hover, or when its row has the focus', async () => {
  const { sim } = await busySim();
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  const row = page.locator('tr', { has: page.getByRole('link', { name: 'order-1', exact: true }) });
  const instant = () =>
    row
      .locator('time')
      .first()
      .evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one, '::after').content);
  expect(await instant()).toBe('none');
  await row.locator('time').first().hover();
  expect(await instant()).toMatch(/^"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"$/);
  await page.mouse.move(0, 0);
  expect(await instant()).toBe('none');
  await row.getByRole('link', { name: 'order-1' }).focus();
  expect(await instant()).toMatch(/UTC"$/);
});

test('on a phone, a list is still read as a table, and a shortened identifier is copied in full', async () => {
  const { sim } = await busySim();
  const { page } = await openDashboard(sim, '/_sim/ui/settings', { viewport: { width: 360, height: 740 } });
  const row = page.getByRole('table', { name: 'Codes' }).getByRole('row').nth(1);
  expect(await row.getByRole('rowheader').textContent()).toBe('wallet@example.com');
  expect(await row.getByRole('cell').count()).toBe(5);
  await page.goto(`${sim.url}/_sim`);
  const link = page.getByRole('link', { name: LONG, exact: true });
  const selected = await link.evaluate((one) => {
    const selection = one.ownerDocument.getSelection();
    selection?.selectAllChildren(one);
    return String(selection);
  });
  expect(selected).toBe(LONG);
  const head = link.locator('span');
  expect(await head.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
});

test('a list is printed without navigation and controls', async () => {
  const sim = await startSim();
  await paid(sim);
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim${NOT_ACCEPTED}`);
  await page.emulateMedia({ media: 'print' });
  for (const hidden of ['.tabs', '.top search', '.toolbar nav', 'td button', '.foot']) {
    const first = page.locator(hidden).first();
    expect([hidden, await first.count(), await first.isVisible()]).toEqual([hidden, 1, false]);
  }
  expect(await page.getByRole('link', { name: 'order-1', exact: true }).isVisible()).toBe(true);
});
