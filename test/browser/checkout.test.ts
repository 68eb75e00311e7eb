import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StartOptions } from '../../src/options.ts';
import { launchBrowser, openPage, type TestBrowser, type TestPage } from '../helpers/browser.ts';
import { type Received, type Receiver, startReceiver } from '../helpers/receiver.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

const MODES = ['sandbox', 'live'] as const;
type Mode = (typeof MODES)[number];

const SANDBOX = { email: 'test_mode@mail.com', code: '222666' };
const LIVE_EMAIL = 'wallet@example.com';
const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const ARTIFACTS = fileURLToPath(new URL('../.artifacts', import.meta.url));
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="48"><rect width="160" height="48" rx="8" fill="#4338ca"/><text x="80" y="31" fill="#fff" font-family="sans-serif" font-size="20" text-anchor="middle">Bookshop</text></svg>';

let chromium: TestBrowser;
beforeAll(async () => {
  chromium = await launchBrowser();
}, 60_000);
afterAll(() => chromium.close());

/** Everything that a checkout takes part in: the emulator, the merchant on another port, and a browser's page. */
interface Shop extends TestPage {
  sim: Sim;
  merchant: Receiver;
  fields: Record<string, string>;
  /** The path and query of every request to the merchant that came from a page's address bar. */
  visits: () => string[];
  ipns: () => Received[];
}

async function shop({
  start,
  browser,
  fields,
}: {
  start?: StartOptions;
  browser?: BrowserContextOptions;
  fields?: Record<string, string>;
} = {}): Promise<Shop> {
  const merchant = await startReceiver((request) => {
    if (request.url === '/logo.svg') return { headers: { 'content-type': 'image/svg+xml' }, body: LOGO };
    if (request.url.startsWith('/ipn')) return { body: 'OK' };
    if (/^\/(thanks|cart)/.test(request.url)) {
      const body = '<!doctype html><title>shop</title><link rel="icon" href="data:,"><h1>The shop</h1>';
      return { headers: { 'content-type': 'text/html' }, body };
    }
    return { status: 404 };
  });
  const sim = await startSim(start);
  return {
    sim,
    merchant,
    fields: {
      identifier: 'order-1',
      currency: 'USD',
      amount: '49.9',
      details: 'Two paperbacks',
      ipn_url: `${merchant.url}/ipn?order=1`,
      success_url: `${merchant.url}/thanks?order=1`,
      cancel_url: `${merchant.url}/cart`,
      site_logo: `${merchant.url}/logo.svg`,
      customer_name: 'Ada Lovelace',
      customer_email: 'ada@example.com',
      ...fields,
    },
    visits: () =>
      merchant.requests.filter((request) => /^\/(thanks|cart)/.test(request.url)).map(({ url }) => url),
    ipns: () => merchant.requests.filter((request) => request.url.startsWith('/ipn')),
    ...(await openPage(chromium.browser, { viewport: DESKTOP, ...browser })),
  };
}

/** Opens the checkout of a new payment. */
async function arrive({ sim, page, fields }: Shop, mode: Mode = 'sandbox'): Promise<string> {
  const url = await sim.initiate(fields, mode);
  await page.goto(url);
  return url;
}

/** Presses a button and waits for the page that it leads to. */
async function press(page: Page, name: string | RegExp): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name, exact: true }).click();
  await loaded;
}

async function enterEmail(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await press(page, 'Continue');
}

/** The newest code in the emulated inbox. */
async function inboxCode(sim: Sim): Promise<string> {
  const { data } = await sim.control<{ data: { code: string }[] }>('/inbox');
  return data[0]?.code ?? '';
}

async function toCodeStep(shop: Shop, mode: Mode): Promise<string> {
  const url = await arrive(shop, mode);
  await enterEmail(shop.page, mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
  await shop.page.getByLabel('Verification code').waitFor();
  return url;
}

const codeOf = (sim: Sim, mode: Mode): Promise<string> | string =>
  mode === 'live' ? inboxCode(sim) : SANDBOX.code;

async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Verification code').fill(code);
  await press(page, /^Pay /);
}

async function statusOf(sim: Sim, identifier = 'order-1'): Promise<string> {
  return (await sim.control<{ status: string }>(`/payments/${identifier}`)).status;
}

/** What a merchant does with an IPN. */
function isGenuine(ipn: Received | undefined, secretKey: string): boolean {
  const body = new URLSearchParams(ipn?.body);
  const signed = `${body.get('data[amount]')}${body.get('identifier')}`;
  const expected = createHmac('sha256', secretKey).update(signed).digest('hex').toUpperCase();
  return body.get('status') === 'success' && body.get('signature') === expected;
}

const picture = (page: Page, name: string) =>
  page.screenshot({ path: `${ARTIFACTS}/${name}.png`, fullPage: true });

const alertOf = (page: Page) => page.getByRole('alert').textContent();

describe('paying', () => {
  test.each(MODES.flatMap((mode) => [true, false].map((javaScriptEnabled) => ({ mode, javaScriptEnabled }))))(
    'a $mode payment goes through the pages to a signed IPN and back to the shop (JavaScript: $javaScriptEnabled)',
    async ({ mode, javaScriptEnabled }) => {
      const at = await shop({ browser: { javaScriptEnabled } });
      await toCodeStep(at, mode);
      await enterCode(at.page, await codeOf(at.sim, mode));

      expect(at.page.url()).toBe(at.fields['success_url']);
      expect(at.visits()).toEqual(['/thanks?order=1']);
      expect(at.ipns()).toHaveLength(1);
      expect(at.ipns()[0]?.url).toBe('/ipn?order=1');
      expect(isGenuine(at.ipns()[0], at.sim.secretKey)).toBe(true);
      expect(at.merchant.requests.findIndex(({ url }) => url.startsWith('/ipn'))).toBeLessThan(
        at.merchant.requests.findIndex(({ url }) => url.startsWith('/thanks')),
      );
      expect(await statusOf(at.sim)).toBe('succeeded');
      expect(at.errors).toEqual([]);
    },
  );

  test('the sandbox fills in its own e-mail and code at the press of a button', async () => {
    const { page, ...at } = await shop();
    await arrive({ page, ...at });
    await press(page, 'Fill in test e-mail');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(SANDBOX.email);
    await press(page, 'Continue');
    await press(page, 'Fill in test code');
    expect(await page.getByLabel('Verification code').inputValue()).toBe(SANDBOX.code);
    await press(page, /^Pay /);
    expect(page.url()).toBe(at.fields['success_url']);
    expect(at.errors).toEqual([]);
  });

  test('a live checkout has no test values to fill in', async () => {
    const at = await shop();
    await arrive(at, 'live');
    expect(await at.page.getByRole('button', { name: /Fill in/ }).count()).toBe(0);
    expect(await at.page.getByText('Test mode').count()).toBe(0);
  });

  test.each(MODES)('Enter does what the main button of a %s step does', async (mode) => {
    const at = await shop();
    await arrive(at, mode);
    await at.page.getByLabel('E-mail').fill(mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
    await at.page.keyboard.press('Enter');
    await at.page.getByLabel('Verification code').waitFor();
    await at.page.getByLabel('Verification code').fill(await codeOf(at.sim, mode));
    await at.page.keyboard.press('Enter');
    await at.page.waitForURL(at.fields['success_url'] ?? '');
  });

  test('the keyboard alone reaches the field, the main button and Cancel', async () => {
    const { page, ...at } = await shop();
    await arrive({ page, ...at });
    const focused = () => page.evaluate('document.activeElement.textContent || document.activeElement.name');
    const reached: unknown[] = [];
    for (let press = 0; press < 12; press++) {
      await page.keyboard.press('Tab');
      reached.push(await focused());
    }
    const order = ['email', 'Continue', 'Cancel'].map((name) => reached.indexOf(name));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});

describe('what is refused', () => {
  test.each([
    { mode: 'sandbox', email: 'someone@example.com', says: 'E-mail is not the test address' },
    { mode: 'sandbox', email: 'nonsense', says: 'E-mail is not an address' },
    { mode: 'sandbox', email: '', says: 'E-mail is not an address' },
    { mode: 'live', email: 'nobody@example.com', says: 'E-mail does not belong to a wallet' },
    { mode: 'live', email: 'poor@example.com', says: 'does not hold enough' },
  ] as const)(
    'the $mode page announces what is wrong with the e-mail $email and keeps it',
    async ({ mode, email, says }) => {
      const at = await shop();
      await arrive(at, mode);
      await enterEmail(at.page, email);
      expect(await alertOf(at.page)).toContain(says);
      const field = at.page.getByLabel('E-mail');
      expect(await field.inputValue()).toBe(email);
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await at.page.title()).toMatch(/^Error: /);
      expect(await statusOf(at.sim)).toBe('pending');
    },
  );

  test.each(MODES)(
    'a wrong code leaves the %s payment pending, and the right one still pays',
    async (mode) => {
      const at = await shop();
      await toCodeStep(at, mode);
      const right = await codeOf(at.sim, mode);
      const wrong = right === '000000' ? '111111' : '000000';
      await enterCode(at.page, wrong);
      expect(await alertOf(at.page)).toContain('Verification code is not right');
      expect(await at.page.getByLabel('Verification code').inputValue()).toBe(wrong);
      expect(await statusOf(at.sim)).toBe('pending');
      expect(at.ipns()).toEqual([]);

      await enterCode(at.page, right);
      expect(at.page.url()).toBe(at.fields['success_url']);
    },
  );

  test('the script of a details text or a merchant name is text on the page', async () => {
    const at = await shop({ fields: { details: '<img src=x onerror=alert(1)>"\'&' } });
    await arrive(at);
    expect(await at.page.getByText('<img src=x onerror=alert(1)>"\'&').count()).toBe(1);
    expect(at.errors).toEqual([]);
  });
});

describe('cancelling', () => {
  test.each(MODES.flatMap((mode) => (['e-mail', 'code'] as const).map((step) => ({ mode, step }))))(
    'Cancel at the $step step of a $mode payment leads back to the cart, and no IPN is sent',
    async ({ mode, step }) => {
      const at = await shop();
      await (step === 'code' ? toCodeStep(at, mode) : arrive(at, mode));
      await at.page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await at.page.waitForURL(at.fields['cancel_url'] ?? '');
      expect(await statusOf(at.sim)).toBe('canceled');
      expect(at.ipns()).toEqual([]);
      expect(at.errors).toEqual([]);
    },
  );

  test('Cancel still works after a wrong e-mail, without JavaScript', async () => {
    const at = await shop({ browser: { javaScriptEnabled: false } });
    await arrive(at);
    await enterEmail(at.page, 'someone@example.com');
    await press(at.page, 'Cancel');
    expect(at.page.url()).toBe(at.fields['cancel_url']);
  });
});

describe('the code of a live payment', () => {
  test('a new code can be asked for, and only that one pays', async () => {
    const { page, ...at } = await shop();
    await toCodeStep({ page, ...at }, 'live');
    const first = await inboxCode(at.sim);
    await press(page, 'Send a new code');
    expect(await page.getByRole('status').textContent()).toContain('We sent a new code');
    const second = await inboxCode(at.sim);

    // One in a million is the same code again, which then pays.
    if (first !== second) {
      await enterCode(page, first);
      expect(await alertOf(page)).toContain('Verification code is not right');
    }
    await enterCode(page, second);
    expect(page.url()).toBe(at.fields['success_url']);
  });

  test('the customer can go back and pay with another e-mail', async () => {
    const { page, ...at } = await shop({ fields: { amount: '0.5' } });
    await toCodeStep({ page, ...at }, 'live');
    await press(page, 'Change e-mail');
    await enterEmail(page, 'poor@example.com');
    await enterCode(page, await inboxCode(at.sim));
    expect(page.url()).toBe(at.fields['success_url']);
    const { data } = await at.sim.control<{ data: { id: string; balance: string }[] }>('/wallets');
    expect(data.find(({ id }) => id === 'wal_poor_usd')?.balance).toBe('0.5');
  });
});

describe('coming twice', () => {
  test('two tabs that pay at the same time settle once: one IPN, and the other tab says it is over', async () => {
    const at = await shop();
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

  test('the back button of a browser that paid shows that it is over, with a link to the shop', async () => {
    const { page, ...at } = await shop();
    await toCodeStep({ page, ...at }, 'sandbox');
    await enterCode(page, SANDBOX.code);
    await page.goBack();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Payment complete');
    expect(await page.getByText('You are not charged again').count()).toBe(1);
    await page.getByRole('link', { name: /^Back to / }).click();
    await page.waitForURL(at.fields['success_url'] ?? '');
    expect(at.ipns()).toHaveLength(1);
  });

  test('the back button at the code step does not lose the payment', async () => {
    const at = await shop();
    const url = await toCodeStep(at, 'sandbox');
    await at.page.goBack();
    await at.page.goto(url);
    await enterCode(at.page, SANDBOX.code);
    expect(at.page.url()).toBe(at.fields['success_url']);
  });

  test('a shop that sends the browser to the checkout by POST gets the same page', async () => {
    const at = await shop();
    const url = await at.sim.initiate(at.fields);
    await at.page.goto(`${at.merchant.url}/thanks`);
    await at.page.setContent(`<form method="post" action="${url}"><button>Pay now</button></form>`);
    await press(at.page, 'Pay now');
    expect(await at.page.getByLabel('E-mail').count()).toBe(1);
  });
});

describe('payments that are over', () => {
  test.each([
    { outcome: 'approve', heading: 'Payment complete', back: 'success_url', status: 409 },
    { outcome: 'cancel', heading: 'Payment canceled', back: 'cancel_url', status: 409 },
    { outcome: 'fail', heading: 'Payment failed', back: 'cancel_url', status: 409 },
    { outcome: 'expire', heading: 'Payment expired', back: 'cancel_url', status: 410 },
  ])('$outcome: the checkout says $heading and leads back', async ({ outcome, heading, back, status }) => {
    const { page, ...at } = await shop();
    const url = await at.sim.initiate(at.fields);
    await fetch(`${at.sim.url}/_sim/payments/order-1/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ outcome }),
    });
    const answer = await page.goto(url);
    expect(answer?.status()).toBe(status);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(heading);
    expect(await page.getByRole('link', { name: /^Back to / }).getAttribute('href')).toBe(at.fields[back]);
    await picture(page, `over-${outcome}`);
  });

  test('a payment that nobody knows has a page of its own', async () => {
    const { page, sim } = await shop();
    const answer = await page.goto(`${sim.url}/initiate/payment/checkout?payment_id=pay_unknown`);
    expect(answer?.status()).toBe(404);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Payment not found');
    await picture(page, 'over-unknown');
  });
});

describe('the simulator panel', () => {
  test.each([
    { button: 'Approve', status: 'succeeded', leads: 'success_url' },
    { button: 'Abort', status: 'canceled', leads: 'cancel_url' },
    { button: 'Fail', status: 'failed', leads: 'cancel_url' },
  ])('$button settles the payment as $status at once', async ({ button, status, leads }) => {
    const at = await shop({ browser: { javaScriptEnabled: false } });
    await arrive(at);
    await press(at.page, button);
    expect(at.page.url()).toBe(at.fields[leads]);
    expect(await statusOf(at.sim)).toBe(status);
    expect(at.ipns()).toHaveLength(status === 'succeeded' ? 1 : 0);
  });

  test('Expire leaves the browser on the page, which says so', async () => {
    const at = await shop();
    await arrive(at);
    await press(at.page, 'Expire');
    expect(await at.page.getByRole('heading', { level: 1 }).textContent()).toBe('Payment expired');
    expect(await statusOf(at.sim)).toBe('expired');
    expect(at.visits()).toEqual([]);
  });

  test.each([
    { delivery: 'redirect-only', ipns: 0, stays: false },
    { delivery: 'ipn-twice', ipns: 2, stays: false },
    { delivery: 'ipn-only', ipns: 1, stays: true },
  ])('$delivery sends $ipns IPNs', async ({ delivery, ipns, stays }) => {
    const at = await shop();
    const url = await arrive(at);
    await at.page.getByLabel('IPN and redirect').selectOption(delivery);
    await press(at.page, 'Approve');
    expect(await at.page.title()).toBe(stays ? 'Payment complete' : 'shop');
    expect(at.page.url().startsWith(new URL(url).origin)).toBe(stays);
    expect(at.visits()).toHaveLength(stays ? 0 : 1);
    if (ipns > 0) await expect.poll(() => at.ipns().length).toBe(ipns);
    for (const ipn of at.ipns()) expect(isGenuine(ipn, at.sim.secretKey)).toBe(true);
    expect(at.ipns()).toHaveLength(ipns);
  });

  test('is not there with --no-panel', async () => {
    const at = await shop({ start: { panel: false } });
    await arrive(at);
    expect(await at.page.getByRole('complementary').count()).toBe(0);
    expect(await at.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await at.page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(1);
  });
});

describe('how it looks', () => {
  const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

  test.each(
    (['light', 'dark'] as const).flatMap((theme) =>
      [
        { device: 'phone', viewport: PHONE },
        { device: 'desktop', viewport: DESKTOP },
      ].map((where) => ({ theme, ...where })),
    ),
  )(
    '$theme on a $device: each step fits, with the theme that the merchant asked for',
    async ({ theme, device, viewport }) => {
      for (const mode of MODES) {
        const at = await shop({ browser: { viewport }, fields: { checkout_theme: theme } });
        await arrive(at, mode);
        await picture(at.page, `${mode}-1-email-${theme}-${device}`);
        expect(await widthOf(at.page)).toBe(viewport.width);
        await enterEmail(at.page, 'nonsense');
        await picture(at.page, `${mode}-2-email-refused-${theme}-${device}`);
        expect(await widthOf(at.page)).toBe(viewport.width);
        await enterEmail(at.page, mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
        await picture(at.page, `${mode}-3-code-${theme}-${device}`);
        expect(await widthOf(at.page)).toBe(viewport.width);
        const scheme = 'getComputedStyle(document.documentElement).colorScheme';
        expect(await at.page.evaluate(scheme)).toBe(theme);
      }
    },
  );

  test('the longest values that the interface allows do not overflow a phone', async () => {
    const at = await shop({
      browser: { viewport: PHONE },
      fields: {
        identifier: 'W'.repeat(20),
        amount: '12345678901234567890.12345678',
        details: 'W'.repeat(100),
        currency: 'GNF',
      },
    });
    await arrive(at);
    await picture(at.page, 'longest-phone');
    expect(await widthOf(at.page)).toBe(PHONE.width);
  });

  test('French for a browser that prefers it, in both steps', async () => {
    const at = await shop({ browser: { locale: 'fr-FR', viewport: PHONE } });
    const url = await at.sim.initiate(at.fields);
    const { page } = at;
    await page.goto(url);
    expect(await page.evaluate('document.documentElement.lang')).toBe('fr');
    await page.getByLabel('E-mail').fill(SANDBOX.email);
    await picture(page, 'french-1-email-phone');
    await press(page, 'Continuer');
    await page.getByLabel('Code de vérification').fill('0');
    await press(page, /^Payer 49,90/);
    expect(await alertOf(page)).toContain('Code de vérification incorrect');
    await picture(page, 'french-2-code-refused-phone');
    await press(page, 'Annuler');
    expect(page.url()).toBe(at.fields['cancel_url']);
  });

  test.each([
    { logo: 'loads', path: '/logo.svg', shown: 'image' },
    { logo: 'is dead', path: '/gone.png', shown: 'monogram' },
  ])('a logo that $logo shows the $shown', async ({ path, shown }) => {
    const at = await shop();
    at.fields['site_logo'] = at.merchant.url + path;
    await arrive(at);
    const { page } = at;
    const inSight = (selector: string) =>
      page.evaluate<boolean>(`(() => {
        const box = document.querySelector('.logo').getBoundingClientRect();
        const { width, top } = document.querySelector('${selector}').getBoundingClientRect();
        return width > 0 && top < box.bottom;
      })()`);
    expect(await inSight('.monogram')).toBe(shown === 'monogram');
    expect(await inSight('.logo img')).toBe(shown === 'image');
    await picture(page, `logo-${shown}`);
  });
});

describe('the page at /_sim', () => {
  test.each([
    { device: 'phone', viewport: PHONE, colorScheme: 'light' },
    { device: 'desktop', viewport: DESKTOP, colorScheme: 'dark' },
  ] as const)(
    'shows the keys, a command and the last payments on a $device',
    async ({ device, viewport, colorScheme }) => {
      const { page, sim, ...at } = await shop({ browser: { viewport, colorScheme } });
      await page.goto(`${sim.url}/_sim`);
      await picture(page, `dashboard-empty-${device}`);
      const text = await page.textContent('body');
      for (const value of [sim.url, sim.publicKey, sim.secretKey, SANDBOX.email, SANDBOX.code, LIVE_EMAIL]) {
        expect(text).toContain(value);
      }
      expect(text).toContain(`curl ${sim.url}/sandbox/payment/initiate`);

      const checkout = await sim.initiate(at.fields);
      await sim.initiate({ ...at.fields, identifier: 'order-2' }, 'live');
      await page.goto(`${sim.url}/`);
      const row = page.getByRole('row').filter({ hasText: 'order-1' });
      expect(await row.textContent()).toContain('$49.90');
      expect(await row.textContent()).toContain('Pending');
      await picture(page, `dashboard-${device}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      expect(at.errors).toEqual([]);

      await row.getByRole('link').click();
      await page.waitForURL(checkout);
    },
  );
});
