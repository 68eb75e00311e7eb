import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, resize } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const LISTS = {
  payments: '/_sim',
  IPNs: '/_sim/ui/ipns',
  requests: '/_sim/ui/requests',
  cards: '/_sim/ui/cards',
  inbox: '/_sim/ui/inbox',
  found: '/_sim/ui/search?q=order',
};
const WIDTHS = { 360: 740, 390: 844, 768: 1024, 1024: 768, 1440: 900 };

/** More than a page of each list, long names, a fault rule, and a clock that was moved. */
async function busySim(): Promise<Sim> {
  const sim = await startSim({ ipnSchedule: ['8m'], loose: true });
  const receiver = await startReceiver();
  const { payments, cards, checkout, clock, dialect, faults, merchants, state } = sim.server.parts;
  const outcomes = ['approve', 'approve', 'cancel', 'fail', 'expire'] as const;
  for (let number = 0; number < 60; number++) {
    const isLong = number % 7 === 0;
    const identifier = isLong ? `order-2026-11-22-of-the-second-shop-${number}` : `order-${number}`;
    const path = isLong ? '/webhooks/payments/of-the-second-shop/gateway/ipn' : '/ipn';
    const ipn_url = (number % 3 ? receiver.url : 'http://127.0.0.1:9') + path;
    const amount = isLong ? '12345678901234567890.12' : '49.90';
    const customer_name = isLong ? 'Margaret Elaine Heafield Hamilton of Boston' : 'Ada';
    const mode = number % 2 ? 'sandbox' : 'live';
    await sim.initiate({ ...ORDER, identifier, ipn_url, amount, customer_name }, mode);
    const outcome = number < 50 ? outcomes[number % 5] : undefined;
    if (outcome) await payments.settle(identifier, { outcome, by: 'control', awaitDelivery: true });
  }
  const live = state.current.findPayment('order-58');
  if (live) await checkout.enterEmail(live, 'wallet@example.com');
  const fields = {
    currency_code: 'USD',
    title: 'Order',
    name_on_card: 'Ada',
    email: 'a@b.test',
    amount: '250',
  };
  await cards.issue(merchants.default, dialect.readCard({ fields, text: '' }));
  await clock.move({ advance: '1m' });
  faults.set({ route: 'initiate', status: 503 });
  return sim;
}

const opacityOf = (value: Locator) =>
  value.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one).opacity);

const isTooWide = (page: Page) =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** What can be pressed and does not lie in its cell, or a cell that does not lie in its list. */
const clippedIn = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const within = (one, around) => one.getBoundingClientRect().right <= around.getBoundingClientRect().right + 1;
    return [...document.querySelectorAll('.list button, .list a, .list td')]
      .filter((one) => !within(one, one.matches('td') ? one.closest('.list') : one.closest('td, th')))
      .map((one) => one.textContent);
  })()`);

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test('every list is accessible and fits at every width', async () => {
    const sim = await busySim();
    const { page, errors } = await openPage({ colorScheme });
    const wrong: string[] = [];
    for (const [name, path] of Object.entries(LISTS)) {
      await page.goto(sim.url + path);
      for (const [width, height] of Object.entries(WIDTHS)) {
        await resize(page, { width: Number(width), height });
        // No rule of a style sheet tells it from the width before.
        const found = width === '390' ? [] : await violationsOf(page);
        if (await isTooWide(page)) found.push('the page scrolls sideways');
        found.push(...(await clippedIn(page)).map((text) => `${text} is clipped`));
        wrong.push(...found.map((what) => `${name} at ${width}: ${what}`));
      }
    }
    expect(wrong).toEqual([]);
    expect(errors).toEqual([]);
  });
});

describe('with a fault set and the clock moved', () => {
  test.each([
    [1440, 900, 300],
    [390, 844, 330],
  ])('the first row of a list stands high at %i x %i', async (width, height, bound) => {
    const sim = await busySim();
    const { page } = await openPage({ viewport: { width, height } });
    const tops: Record<string, number> = {};
    for (const name of ['payments', 'IPNs', 'requests', 'cards'] as const) {
      await page.goto(sim.url + LISTS[name]);
      await page.getByText('1 fault active').waitFor();
      await page.getByText(/Clock is .* ahead/).waitFor();
      tops[name] = (await page.locator('tbody tr').first().boundingBox())?.y ?? Number.NaN;
    }
    for (const [name, top] of Object.entries(tops)) expect([name, top < bound]).toEqual([name, true]);
  });

  test('a row of a list is 36 pixels high, whatever it holds', async () => {
    const sim = await busySim();
    const { page } = await openPage({ viewport: { width: 1440, height: 900 } });
    for (const path of [LISTS.payments, LISTS.IPNs, LISTS.requests]) {
      await page.goto(sim.url + path);
      const heights = await page
        .locator('tbody tr')
        .evaluateAll((rows) => rows.map((row) => Math.round(row.getBoundingClientRect().height)));
      expect([path, heights.length, Math.max(...heights)]).toEqual([path, expect.any(Number), 36]);
    }
  });

  test('a list takes three requests', async () => {
    const sim = await busySim();
    for (const path of [LISTS.payments, LISTS.IPNs, LISTS.requests]) {
      const { page } = await openPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.goto(sim.url + path);
      await page.locator('#live.on').waitFor();
      expect(asked).toEqual([new URL(path, sim.url).pathname, '/_sim/ui/live.js', '/_sim/events']);
    }
  });
});

test('without a script everything is searched, narrowed and paged', async () => {
  const sim = await busySim();
  const { page } = await openPage({ javaScriptEnabled: false });
  await page.goto(`${sim.url}/_sim`);
  await page.getByText('1-50 of 60').waitFor();
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByText('51-60 of 60').waitFor();
  await page.getByRole('link', { name: 'Newer' }).click();
  await page.getByRole('link', { name: '10 canceled' }).click();
  await page.getByText('1-10 of 10').waitFor();
  await page.getByRole('link', { name: 'live', exact: true }).click();
  await page.getByText('1-5 of 5').waitFor();
  await page.getByLabel('Search', { exact: true }).fill('hamilton');
  await page.keyboard.press('Enter');
  const found = page.getByRole('link', { name: 'order-2026-11-22-of-the-second-shop-56', exact: true });
  await found.click();
  await page.getByRole('heading', { level: 1, name: 'order-2026-11-22-of-the-second-shop-56' }).waitFor();
});

test('the instant of a time is seen where it is pointed at, and where its row has the focus', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  const time = page.locator('tbody time');
  const shown = () =>
    time.evaluate((one) => one.ownerDocument.defaultView?.getComputedStyle(one, '::after').content);
  expect(await shown()).toBe('none');
  await time.hover();
  expect(await shown()).toMatch(/^"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"$/);
  await page.mouse.move(0, 0);
  expect(await shown()).toBe('none');
  await page.getByRole('link', { name: 'order-1' }).focus();
  expect(await shown()).toMatch(/UTC"$/);
});

test('a segment of a chart shows its value with the focus, and narrows the list', async () => {
  const sim = await busySim();
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim`);
  const segment = page.getByRole('link', { name: '17 % canceled: 10' });
  const value = segment.locator('.value');
  expect(await opacityOf(value)).toBe('0');
  await page.locator('.bar a').first().focus();
  for (let presses = 0; presses < 2; presses++) await page.keyboard.press('Tab');
  expect(await opacityOf(value)).toBe('1');
  await page.keyboard.press('Enter');
  await page.getByText('1-10 of 10').waitFor();
  await page.goto(`${sim.url}/_sim/ui/ipns`);
  const bar = page.locator('.plot li:last-child a');
  await bar.hover();
  expect(await opacityOf(bar.locator('.value'))).toBe('1');
  await bar.click();
  await page.getByText('1-1 of 1').waitFor();
});

test('a page is printed without what leads elsewhere', async () => {
  const sim = await busySim();
  const { page } = await openPage();
  await page.goto(`${sim.url}/_sim/ui/ipns`);
  await page.emulateMedia({ media: 'print' });
  for (const gone of ['.tabs', '.top search', '.toolbar nav', 'td button', '#shortcuts'])
    expect([gone, await page.locator(gone).first().isVisible()]).toEqual([gone, false]);
  expect(await page.getByRole('link', { name: 'order-46' }).isVisible()).toBe(true);
});

test('what is copied of a shortened identifier is the whole', async () => {
  const sim = await busySim();
  const { page } = await openPage({ viewport: { width: 390, height: 844 } });
  await page.goto(`${sim.url}/_sim?text=second-shop-56`);
  const link = page.getByRole('link', { name: 'order-2026-11-22-of-the-second-shop-56', exact: true });
  const selected = await link.evaluate((one) => {
    const selection = one.ownerDocument.getSelection();
    selection?.selectAllChildren(one);
    return String(selection);
  });
  expect(selected).toBe('order-2026-11-22-of-the-second-shop-56');
  const head = link.locator('span');
  expect(await head.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
});
