import { describe, expect, test, vi } from 'vitest';
import { picture } from '../helpers/browser.ts';
import {
  alertOf,
  arrive,
  codeOf,
  enterCode,
  enterEmail,
  inboxCode,
  isGenuine,
  LIVE_EMAIL,
  MODES,
  openShop,
  PHONE,
  press,
  SANDBOX,
  statusOf,
  toCodeStep,
} from '../helpers/shop.ts';

describe('paying', () => {
  test.each(MODES.flatMap((mode) => [true, false].map((javaScriptEnabled) => ({ mode, javaScriptEnabled }))))(
    'a $mode payment goes through the pages to a signed IPN and back to the shop (JavaScript: $javaScriptEnabled)',
    async ({ mode, javaScriptEnabled }) => {
      const at = await openShop({ browser: { javaScriptEnabled } });
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
    const { page, ...at } = await openShop();
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
    const at = await openShop();
    await arrive(at, 'live');
    expect(await at.page.getByRole('button', { name: /Fill in/ }).count()).toBe(0);
    expect(await at.page.getByText('Test mode').count()).toBe(0);
  });

  test.each(MODES)('Enter does what the main button of a %s step does', async (mode) => {
    const at = await openShop();
    await arrive(at, mode);
    await at.page.getByLabel('E-mail').fill(mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
    await at.page.keyboard.press('Enter');
    await at.page.getByLabel('Verification code').waitFor();
    await at.page.getByLabel('Verification code').fill(await codeOf(at.sim, mode));
    await at.page.keyboard.press('Enter');
    await at.page.waitForURL(at.fields['success_url'] ?? '');
  });

  test('the keyboard alone goes from the field through everything, and shows where it is', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at }, 'live');
    const focused = () =>
      page.evaluate<string>(`(() => {
        const { activeElement: at } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(at);
        const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
        return (at.id || at.textContent.trim()) + (seen ? '' : ' (not to be seen)');
      })()`);
    // Chromium gives the first field its focus in its own time.
    await vi.waitFor(async () => expect(await focused()).toBe('email'), { timeout: 30_000 });
    const reached = ['email'];
    for (let press = 0; press < 8; press++) {
      await page.keyboard.press('Tab');
      reached.push(await focused());
    }
    expect(reached).toEqual([
      'email',
      'Continue',
      'Cancel',
      'simulator Not part of the page',
      'delivery',
      'Approve',
      'Decline',
      'Fail',
      'Expire',
    ]);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Payment expired' }).waitFor();
  });
});

describe('what is refused', () => {
  test.each([
    { mode: 'sandbox', email: 'someone@example.com', says: 'This e-mail is not the test address' },
    { mode: 'sandbox', email: 'nonsense', says: 'This e-mail is not a valid address' },
    { mode: 'sandbox', email: '', says: 'This e-mail is not a valid address' },
    { mode: 'live', email: 'nobody@example.com', says: 'This e-mail does not belong to a wallet' },
    { mode: 'live', email: 'poor@example.com', says: 'does not hold enough' },
  ] as const)(
    'the $mode page announces what is wrong with the e-mail $email and keeps it',
    async ({ mode, email, says }) => {
      const at = await openShop();
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
      const at = await openShop();
      await toCodeStep(at, mode);
      const right = await codeOf(at.sim, mode);
      const wrong = right === '000000' ? '111111' : '000000';
      await enterCode(at.page, wrong);
      expect(await alertOf(at.page)).toContain('The verification code is wrong');
      expect(await at.page.getByLabel('Verification code').inputValue()).toBe(wrong);
      expect(await statusOf(at.sim)).toBe('pending');
      expect(at.ipns()).toEqual([]);

      await enterCode(at.page, right);
      expect(at.page.url()).toBe(at.fields['success_url']);
    },
  );

  test('the script of a details text or a merchant name is text on the page', async () => {
    const at = await openShop({ fields: { details: '<img src=x onerror=alert(1)>"\'&' } });
    await arrive(at);
    expect(await at.page.getByText('<img src=x onerror=alert(1)>"\'&').count()).toBe(1);
    expect(at.errors).toEqual([]);
  });
});

describe('cancelling', () => {
  test.each(MODES.flatMap((mode) => (['e-mail', 'code'] as const).map((step) => ({ mode, step }))))(
    'Cancel at the $step step of a $mode payment leads back to the cart, and no IPN is sent',
    async ({ mode, step }) => {
      const at = await openShop();
      await (step === 'code' ? toCodeStep(at, mode) : arrive(at, mode));
      await at.page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await at.page.waitForURL(at.fields['cancel_url'] ?? '');
      expect(await statusOf(at.sim)).toBe('canceled');
      expect(at.ipns()).toEqual([]);
      expect(at.errors).toEqual([]);
    },
  );

  test('Cancel still works after a wrong e-mail, without JavaScript', async () => {
    const at = await openShop({ browser: { javaScriptEnabled: false } });
    await arrive(at);
    await enterEmail(at.page, 'someone@example.com');
    await press(at.page, 'Cancel');
    expect(at.page.url()).toBe(at.fields['cancel_url']);
  });
});

describe('the code of a live payment', () => {
  test('a new code can be asked for, and only that one pays', async () => {
    const { page, ...at } = await openShop();
    await toCodeStep({ page, ...at }, 'live');
    const first = await inboxCode(at.sim);
    await press(page, 'Send a new code');
    expect(await page.getByRole('status').textContent()).toContain('We sent a new code');
    const second = await inboxCode(at.sim);

    // One in a million is the same code again, which then pays.
    if (first !== second) {
      await enterCode(page, first);
      expect(await alertOf(page)).toContain('The verification code is wrong');
    }
    await enterCode(page, second);
    expect(page.url()).toBe(at.fields['success_url']);
  });

  test('the customer can go back and pay with another e-mail', async () => {
    const { page, ...at } = await openShop({ fields: { amount: '0.5' } });
    await toCodeStep({ page, ...at }, 'live');
    await press(page, 'Change e-mail');
    await enterEmail(page, 'poor@example.com');
    await enterCode(page, await inboxCode(at.sim));
    expect(page.url()).toBe(at.fields['success_url']);
    const { data } = await at.sim.control<{ data: { id: string; balance: string }[] }>('/wallets');
    expect(data.find(({ id }) => id === 'wal_poor_usd')?.balance).toBe('0.5');
  });
});

describe('the simulator panel', () => {
  test.each([
    { button: 'Approve', status: 'succeeded', leads: 'success_url' },
    { button: 'Decline', status: 'canceled', leads: 'cancel_url' },
    { button: 'Fail', status: 'failed', leads: 'cancel_url' },
  ])('$button settles the payment as $status at once', async ({ button, status, leads }) => {
    const at = await openShop({ browser: { javaScriptEnabled: false } });
    await arrive(at);
    await press(at.page, button);
    expect(at.page.url()).toBe(at.fields[leads]);
    expect(await statusOf(at.sim)).toBe(status);
    expect(at.ipns()).toHaveLength(status === 'succeeded' ? 1 : 0);
  });

  test('Expire leaves the browser on the page, which says so', async () => {
    const at = await openShop();
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
    const at = await openShop();
    const url = await arrive(at);
    await at.page.getByLabel('IPN timing').selectOption(delivery);
    await press(at.page, 'Approve');
    expect(await at.page.title()).toBe(stays ? 'Payment complete' : 'shop');
    expect(at.page.url().startsWith(new URL(url).origin)).toBe(stays);
    expect(at.visits()).toHaveLength(stays ? 0 : 1);
    if (ipns > 0) await expect.poll(() => at.ipns().length).toBe(ipns);
    for (const ipn of at.ipns()) expect(isGenuine(ipn, at.sim.secretKey)).toBe(true);
    expect(at.ipns()).toHaveLength(ipns);
  });

  test('is not there with --no-panel', async () => {
    const at = await openShop({ start: { panel: false } });
    await arrive(at);
    expect(await at.page.getByRole('complementary').count()).toBe(0);
    expect(await at.page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await at.page.getByRole('button', { name: 'Cancel', exact: true }).count()).toBe(1);
  });
});

describe('what the emulator says of a live payment', () => {
  test.each([true, false])('stands below the card, and leads to the code (panel: %s)', async (panel) => {
    const { page, ...at } = await openShop({ start: { panel }, browser: { viewport: PHONE } });
    const below = page.getByRole(panel ? 'complementary' : 'contentinfo');
    await arrive({ page, ...at }, 'live');
    expect(await below.innerText()).toContain(
      `${LIVE_EMAIL} can pay this. All wallets: npx gateway-sim wallets`,
    );
    await picture(page, `checkout-tip-wallet-${panel}`);
    await enterEmail(page, LIVE_EMAIL);
    const code = await inboxCode(at.sim);
    const tip = panel
      ? `The code is ${code}, also in the inbox.`
      : 'Read the code with npx gateway-sim inbox';
    expect(await below.innerText()).toContain(tip);
    await picture(page, `checkout-tip-code-${panel}`);
    const [inbox] = await Promise.all([
      page.waitForEvent('popup'),
      below.getByRole('link', { name: 'inbox' }).click(),
    ]);
    await inbox.getByText(code).first().waitFor();
    expect(at.errors).toEqual([]);
  });

  test('is a command that fills a wallet where none can pay, taken whole by a click', async () => {
    const { page, ...at } = await openShop({
      browser: { viewport: PHONE },
      fields: { amount: '99999999.5' },
    });
    await arrive({ page, ...at }, 'live');
    await page.getByText('wallets', { exact: true }).click();
    const taken = await page.evaluate<string>('getSelection().toString()');
    expect(taken).toMatch(/^npx gateway-sim wallets fund wal_\w+ --amount 99999999\.5$/);
    await picture(page, 'checkout-tip-fund');
    const [, wallet] = /fund (\S+)/.exec(taken) ?? [];
    const { data } = await at.sim.control<{ data: { id: string; currency: string }[] }>('/wallets');
    expect(data.find(({ id }) => id === wallet)?.currency).toBe('USD');
  });
});
