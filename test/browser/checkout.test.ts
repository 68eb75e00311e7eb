import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { gate, startReceiver } from '../helpers/receiver.ts';
import { sample } from '../helpers/scope.ts';
import {
  alertOf,
  arrive,
  enterCode,
  enterEmail,
  inboxCode,
  LIVE_EMAIL,
  openShop,
  PHONE,
  press,
  SANDBOX,
  statusOf,
  toCodeStep,
} from '../helpers/shop.ts';

/** Unlike `waitForURL`, it tolerates a second click that cancels the first navigation. */
const arrivesAt = (page: Page, url = '') => expect.poll(() => page.url()).toBe(url);

describe('paying', () => {
  test('works in the sandbox with the fill buttons, and tells the shop nothing about the checkout', async () => {
    const { page, ...at } = await openShop();
    const types: string[] = [];
    page.on('request', (request) => {
      if (request.url().startsWith(at.sim.url)) types.push(request.resourceType());
    });
    await arrive({ page, ...at });
    await press(page, 'Use test e-mail');
    await press(page, 'Fill in test code');
    expect(await page.getByLabel('Verification code').inputValue()).toBe(SANDBOX.code);
    await press(page, /^Pay /);
    expect(page.url()).toBe(at.fields['success_url']);
    expect(at.visits()).toEqual(['/thanks?order=1']);
    const paths = at.merchant.requests.map(({ url }) => url);
    expect(paths.filter((path) => !path.startsWith('/logo'))).toEqual(['/ipn?order=1', '/thanks?order=1']);
    expect(paths).toContain('/logo-160x48.svg');
    for (const { headers } of at.merchant.requests) expect(headers.referer ?? '').not.toContain('payment_id');
    // Each step is one request: the browser loads nothing but pages.
    expect([...new Set(types)]).toEqual(['document']);
    expect(at.errors).toEqual([]);
  });

  test('succeeds in live mode after every mistake, and a final double click pays once', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at }, 'live');
    await enterEmail(page, 'poor@example.com');
    await enterEmail(page, LIVE_EMAIL);
    await press(page, 'Send a new code');
    await press(page, 'Change e-mail');
    await page.getByLabel('E-mail').fill(LIVE_EMAIL);
    await page.keyboard.press('Enter');
    await page.getByLabel('Verification code').waitFor();
    await enterCode(page, 'x');
    expect(await alertOf(page)).toContain('The verification code is wrong');
    await page.locator('#code').fill(await inboxCode(at.sim));
    await page.getByRole('button', { name: /^Pay / }).dblclick({ noWaitAfter: true });
    await arrivesAt(page, at.fields['success_url']);
    expect(at.ipns()).toHaveLength(1);
    expect(await statusOf(at.sim)).toBe('succeeded');
    expect(at.errors).toEqual([]);
  });

  test('works with the keyboard alone, with a visible focus', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at }, 'live');
    const focused = () =>
      page.evaluate<string>(`(() => {
        const { activeElement: at } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        return (at.id || at.textContent.trim()) + (seen ? '' : ' (invisible focus)');
      })()`);
    // Chromium focuses the first field asynchronously.
    await expect.poll(focused).toBe('email');
    const tab = async (times: number) => {
      const reached: string[] = [];
      for (let press = 0; press < times; press++) {
        await page.keyboard.press('Tab');
        reached.push(await focused());
      }
      return reached;
    };
    expect(await tab(3)).toEqual(['Continue', 'Cancel', 'simulator Not part of the page']);
    const approve = page.getByRole('button', { name: 'Approve' });
    await page.keyboard.press('Enter');
    await approve.waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await approve.waitFor();
    expect(await tab(5)).toEqual(['delivery', 'Approve', 'Cancel', 'Fail', 'Expire']);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payment expired' }).waitFor();
    expect(at.visits()).toEqual([]);
  });
});

describe('a double click', () => {
  test('on Continue or Cancel acts like one click', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at });
    await page.getByLabel('E-mail').fill(SANDBOX.email);
    await page.getByRole('button', { name: 'Continue' }).dblclick({ noWaitAfter: true });
    await page.getByLabel('Verification code').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Cancel' }).dblclick({ noWaitAfter: true });
    await arrivesAt(page, at.fields['cancel_url']);
    expect(await statusOf(at.sim)).toBe('canceled');
  });

  test('is ignored if the script runs, and the clicked button is busy', async () => {
    const { opened, open } = gate();
    const slow = await startReceiver([{ after: opened }]);
    const { page, ...at } = await openShop({ fields: { ipn_url: `${slow.url}/ipn` } });
    await toCodeStep({ page, ...at }, 'sandbox');
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    const log = 'console.log(event.defaultPrevented, event.submitter.className)';
    await page.evaluate(`addEventListener('submit', (event) => ${log})`);
    await page.locator('#code').fill(SANDBOX.code);
    const { x = 0, y = 0 } = (await page.getByRole('button', { name: /^Pay / }).boundingBox()) ?? {};
    await page.mouse.click(x + 9, y + 9);
    await slow.request(1);
    await page.mouse.click(x + 9, y + 9);
    await expect.poll(() => messages).toEqual(['false button busy', 'true button busy']);
    open();
    await arrivesAt(page, at.fields['success_url']);
    expect(slow.requests).toHaveLength(1);
  });
});

test('opens by a link and by a form of a shop on another site', async () => {
  const { page, errors, sim, fields } = await openShop();
  const checkout = await sim.initiate(fields);
  const form = `<a href="${checkout}">Pay</a><form method="post" action="${checkout}"><button>Pay now</button></form>`;
  const shop = await startReceiver(() => ({
    headers: { 'content-type': 'text/html' },
    body: `<link rel="icon" href="data:,">${form}`,
  }));
  for (const control of [page.getByRole('link'), page.getByRole('button')]) {
    // Another site than the emulator's address.
    await page.goto(shop.url.replace('127.0.0.1', 'localhost'));
    await control.click();
    await page.getByLabel('E-mail').waitFor();
  }
  expect(errors).toEqual([]);
});

const VISITORS: { name: string; browser: BrowserContextOptions }[] = [
  { name: 'a desktop browser', browser: {} },
  {
    name: "a phone's web view without JavaScript",
    browser: {
      viewport: PHONE,
      isMobile: true,
      hasTouch: true,
      javaScriptEnabled: false,
      userAgent:
        'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36',
    },
  },
];
test.each(sample(VISITORS, ({ browser }) => browser.javaScriptEnabled === false))(
  'a form redirects $name to another port, and from there to a third',
  async ({ browser }) => {
    const last = await startReceiver(() => ({
      headers: { 'content-type': 'text/html' },
      body: '<title>last</title><link rel="icon" href="data:,">',
    }));
    const hop = await startReceiver(() => ({ status: 302, headers: { location: `${last.url}/done` } }));
    const at = await openShop({ browser, fields: { success_url: `${hop.url}/back?order=1#paid` } });
    await toCodeStep(at, 'live');
    await enterCode(at.page, await inboxCode(at.sim));
    expect(await at.page.title()).toBe('last');
    expect(hop.requests.map(({ url }) => url)).toEqual(['/back?order=1']);
    expect(at.page.url()).toBe(`${last.url}/done#paid`);
    expect(at.errors).toEqual([]);
  },
);
