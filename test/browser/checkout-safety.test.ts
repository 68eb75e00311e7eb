import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { picture } from '../helpers/browser.ts';
import { gate, startReceiver } from '../helpers/receiver.ts';
import {
  alertOf,
  arrive,
  codeOf,
  enterCode,
  enterEmail,
  headingOf,
  LIVE_EMAIL,
  MODES,
  openShop,
  PHONE,
  press,
  SANDBOX,
  settle,
  statusOf,
  toCodeStep,
} from '../helpers/shop.ts';

/** Unlike `waitForURL` it does not mind that a second press ends the way of the first. */
const arrivesAt = (page: Page, url: string) => expect.poll(() => page.url()).toBe(url);

describe('pressing twice', () => {
  test.each(MODES)(
    'a double click on the main button of a %s payment pays once and leads to the shop',
    async (mode) => {
      const at = await openShop();
      await toCodeStep(at, mode);
      await at.page.locator('#code').fill(await codeOf(at.sim, mode));
      await at.page.getByRole('button', { name: /^Pay / }).dblclick({ noWaitAfter: true });
      await arrivesAt(at.page, at.fields['success_url'] ?? '');
      expect(at.ipns()).toHaveLength(1);
      expect(await statusOf(at.sim)).toBe('succeeded');
      expect(at.errors).toEqual([]);
    },
  );

  test.each(['Continue', 'Cancel', 'Fail'])('a double click on %s does what one does', async (name) => {
    const at = await openShop();
    await arrive(at);
    await at.page.getByLabel('E-mail').fill(SANDBOX.email);
    await at.page.getByRole('button', { name, exact: true }).dblclick({ noWaitAfter: true });
    if (name === 'Continue') await at.page.getByLabel('Verification code').waitFor();
    else await arrivesAt(at.page, at.fields['cancel_url'] ?? '');
    expect(await statusOf(at.sim)).toBe({ Continue: 'pending', Cancel: 'canceled', Fail: 'failed' }[name]);
  });

  test.each([
    { name: /^Pay /, code: SANDBOX.code },
    { name: 'Approve', code: '' },
  ])(
    'whoever presses $name again while the payment is under way gets to the shop too',
    async ({ name, code }) => {
      const { opened, open } = gate();
      const slow = await startReceiver([{ after: opened }]);
      const at = await openShop({ fields: { ipn_url: `${slow.url}/ipn` } });
      await toCodeStep(at, 'sandbox');
      await at.page.locator('#code').fill(code);
      const box = await at.page.getByRole('button', { name }).boundingBox();
      const click = () => at.page.mouse.click((box?.x ?? 0) + 9, (box?.y ?? 0) + 9);
      await click();
      await slow.request(1);
      const again = at.page.waitForRequest((request) => request.method() === 'POST');
      await click();
      await again;
      open();
      await arrivesAt(at.page, at.fields['success_url'] ?? '');
      expect(slow.requests).toHaveLength(1);
    },
  );

  test('two tabs that pay at the same time settle once: one IPN, and the other tab says it is over', async () => {
    const at = await openShop();
    const url = await toCodeStep(at, 'sandbox');
    const second = await at.page.context().newPage();
    await second.goto(url);
    for (const page of [at.page, second]) await page.getByLabel('Verification code').fill(SANDBOX.code);
    const answers = [at.page, second].map((page) => page.waitForEvent('load'));
    await Promise.all(
      [at.page, second].map((page) =>
        page.getByRole('button', { name: /^Pay / }).click({ noWaitAfter: true }),
      ),
    );
    await Promise.all(answers);

    const titles = await Promise.all([at.page.title(), second.title()]);
    expect(titles.sort()).toEqual(['Payment complete', 'shop']);
    expect(at.ipns()).toHaveLength(1);
    expect(at.visits()).toEqual(['/thanks?order=1']);
  });
});

describe('the back button', () => {
  test('of a browser that paid shows that it is over, with a link to the shop', async () => {
    const { page, ...at } = await openShop();
    await toCodeStep({ page, ...at }, 'sandbox');
    await enterCode(page, SANDBOX.code);
    await page.goBack();
    expect(await headingOf(page)).toBe('Payment complete');
    expect(await page.getByText('You are not charged again').count()).toBe(1);
    await page.getByRole('link', { name: /^Back to / }).click();
    await page.waitForURL(at.fields['success_url'] ?? '');
    expect(at.ipns()).toHaveLength(1);
  });

  test.each([true, false])(
    'after wrong entries goes through pages only, never to one that was posted (JavaScript: %s)',
    async (javaScriptEnabled) => {
      const { page, ...at } = await openShop({ browser: { javaScriptEnabled } });
      await arrive({ page, ...at });
      await enterEmail(page, 'nonsense');
      await enterEmail(page, 'someone@example.com');
      expect(await alertOf(page)).toContain('This e-mail is not the test address');
      await enterEmail(page, SANDBOX.email);
      await enterCode(page, '000000');
      expect(await alertOf(page)).toContain('The verification code is wrong');
      for (let back = 0; back < 4; back++) {
        const answer = await page.goBack();
        expect([answer?.status(), answer?.request().method()]).toEqual([200, 'GET']);
        expect(await page.locator('#email, #code').count()).toBe(1);
      }
      await page.goForward();
      await enterCode(page, SANDBOX.code);
      expect(page.url()).toBe(at.fields['success_url']);
      expect(at.errors).toEqual([]);
    },
  );

  test('from the code to the e-mail and on again does not lose the payment', async () => {
    const at = await openShop();
    const url = await toCodeStep(at, 'sandbox');
    await at.page.goBack();
    await at.page.goto(url);
    await enterCode(at.page, SANDBOX.code);
    expect(at.page.url()).toBe(at.fields['success_url']);
  });

  test('and reload keep what was refused, with the focus on the field', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at });
    await enterEmail(page, 'nonsense');
    await page.reload();
    expect(await alertOf(page)).toContain('This e-mail is not a valid address');
    expect(await page.getByLabel('E-mail').inputValue()).toBe('nonsense');
    expect(await page.evaluate('document.activeElement.id')).toBe('email');
  });

  test('a web view that is opened again at the address of a form shows the step', async () => {
    const { page, ...at } = await openShop();
    const url = await toCodeStep({ page, ...at }, 'live');
    await page.goto(url.replace('/checkout?', '/checkout/email?'));
    expect(await page.getByLabel('Verification code').count()).toBe(1);
    expect(page.url()).toBe(url);
  });
});

describe('payments that are over', () => {
  test.each([
    { outcome: 'approve', heading: 'Payment complete', back: 'success_url', status: 409 },
    { outcome: 'cancel', heading: 'Payment canceled', back: 'cancel_url', status: 409 },
    { outcome: 'fail', heading: 'Payment failed', back: 'cancel_url', status: 409 },
    { outcome: 'expire', heading: 'Payment expired', back: 'cancel_url', status: 410 },
  ])('$outcome: the checkout says $heading and leads back', async ({ outcome, heading, back, status }) => {
    const { page, ...at } = await openShop();
    const url = await at.sim.initiate(at.fields);
    await settle(at.sim, outcome);
    const answer = await page.goto(url);
    expect(answer?.status()).toBe(status);
    expect(await headingOf(page)).toBe(heading);
    expect(await page.getByRole('link', { name: /^Back to / }).getAttribute('href')).toBe(at.fields[back]);
  });

  test('a step that is sent after the payment was settled elsewhere says so', async () => {
    const at = await openShop();
    await toCodeStep(at, 'live');
    await settle(at.sim, 'cancel');
    await enterCode(at.page, '000000');
    expect(await headingOf(at.page)).toBe('Payment canceled');
  });

  test('a payment that nobody knows has a page of its own', async () => {
    const { page, sim } = await openShop();
    const answer = await page.goto(`${sim.url}/initiate/payment/checkout?payment_id=pay_unknown`);
    expect(answer?.status()).toBe(404);
    expect(await headingOf(page)).toBe('Payment not found');
  });
});

describe('pages of other sites', () => {
  test('a shop that sends the browser to the checkout by POST gets the same page', async () => {
    const at = await openShop();
    const url = await at.sim.initiate(at.fields);
    await at.page.goto(`${at.merchant.url}/thanks`);
    await at.page.setContent(`<form method="post" action="${url}"><button>Pay now</button></form>`);
    await press(at.page, 'Pay now');
    expect(await at.page.getByLabel('E-mail').count()).toBe(1);
  });

  test('cannot settle a payment in the name of the browser', async () => {
    const { page, ...at } = await openShop();
    const url = await at.sim.initiate(at.fields);
    await page.goto(`${at.merchant.url}/thanks`);
    const action = url.replace('/checkout?', '/checkout/cancel?');
    await page.setContent(`<form method="post" action="${action}"><button>Win a prize</button></form>`);
    await press(page, 'Win a prize');
    expect(await headingOf(page)).toBe('That did not work');
    await picture(page, 'refused');
    expect(await statusOf(at.sim)).toBe('pending');
    await page.getByRole('link', { name: 'Back to the payment' }).click();
    await page.getByLabel('E-mail').waitFor();
  });

  test('cannot put the checkout into a frame', async () => {
    const { page, ...at } = await openShop();
    const url = await at.sim.initiate(at.fields);
    await page.goto(`${at.merchant.url}/thanks`);
    await page.setContent(`<iframe src="${url}"></iframe>`);
    await expect.poll(() => at.errors.join()).toContain('frame-ancestors');
    expect(await page.frameLocator('iframe').getByLabel('E-mail').count()).toBe(0);
  });

  test('learn nothing of the checkout from the request for the logo or the way back', async () => {
    const at = await openShop();
    await toCodeStep(at, 'sandbox');
    await enterCode(at.page, SANDBOX.code);
    const seen = at.merchant.requests.filter(({ url }) => /logo|thanks/.test(url));
    expect(seen.length).toBeGreaterThan(1);
    for (const { headers } of seen) expect(headers.referer ?? '').not.toContain('payment_id');
  });
});

describe('the way to the merchant', () => {
  const ways: { name: string; browser: BrowserContextOptions }[] = [
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

  test.each(ways)('leads $name from a form to another port, and from there further', async ({ browser }) => {
    const last = await startReceiver(() => ({
      headers: { 'content-type': 'text/html' },
      body: '<title>last</title><link rel="icon" href="data:,">',
    }));
    const hop = await startReceiver(() => ({ status: 302, headers: { location: `${last.url}/done` } }));
    const at = await openShop({ browser, fields: { success_url: `${hop.url}/back?order=1#paid` } });
    const asked: string[] = [];
    at.page.on('request', (request) => asked.push(request.url()));
    await toCodeStep(at, 'live');
    await enterCode(at.page, await codeOf(at.sim, 'live'));
    expect(await at.page.title()).toBe('last');
    expect(asked).toContain(`${hop.url}/back?order=1`);
    expect(at.page.url()).toBe(`${last.url}/done#paid`);
    expect(at.errors).toEqual([]);
  });
});

describe('the weight of the page', () => {
  test.each(MODES)(
    'a step of a %s payment is one request of less than 17 KB without the logo',
    async (mode) => {
      const at = await openShop();
      const sizes: Promise<number>[] = [];
      at.page.on('requestfinished', (request) => {
        if (!request.url().startsWith(at.sim.url)) return;
        const sized = request.sizes();
        sizes.push(
          sized.then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
        );
      });
      await arrive(at, mode);
      await at.page.waitForLoadState('networkidle');
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(sizes).toHaveLength(1);
      expect(total).toBeGreaterThan(1_000);
      expect(total).toBeLessThan(17 * 1_024);
      expect(at.errors).toEqual([]);
    },
  );
});

test('a payment that is paid with mistakes on the way leaves no error in the console', async () => {
  const at = await openShop();
  await arrive(at, 'live');
  await enterEmail(at.page, 'poor@example.com');
  await enterEmail(at.page, LIVE_EMAIL);
  await press(at.page, 'Send a new code');
  await press(at.page, 'Change e-mail');
  await enterEmail(at.page, LIVE_EMAIL);
  await enterCode(at.page, 'x');
  await enterCode(at.page, await codeOf(at.sim, 'live'));
  expect(at.page.url()).toBe(at.fields['success_url']);
  expect(at.errors).toEqual([]);
});
