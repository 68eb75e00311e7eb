import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const DEVICES = { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 740 } };
const PLACES = {
  Payments: '/_sim',
  IPNs: '/_sim/ui/ipns',
  Cards: '/_sim/ui/cards',
  'Api Key': '/_sim/ui/keys',
  Requests: '/_sim/ui/requests',
  Audit: '/_sim/ui/audit',
  Wallets: '/_sim/ui/wallets',
  Signature: '/_sim/ui/signature',
  Inbox: '/_sim/ui/inbox',
  Faults: '/_sim/ui/faults',
  Clock: '/_sim/ui/clock',
};

/** An emulator with one of everything, and the pages that show them one by one. */
async function busySim(): Promise<{ sim: Sim; pages: Record<string, string> }> {
  const sim = await startSim({ ipnSchedule: ['1h'], paymentExpires: '1h' });
  const receiver = await startReceiver();
  const { state, payments, checkout, cards, clock, dialect, faults } = sim.server.parts;
  const ipnUrls = [`${receiver.url}/ipn`, 'http://127.0.0.1:9/ipn'];
  for (let number = 0; number < 8; number++) {
    const identifier = number === 7 ? 'a-very-long-ident' : `order-${number}`;
    await sim.initiate(
      {
        ...ORDER,
        identifier,
        amount: number === 6 ? (ORDER['amount'] ?? '') : `${'9'.repeat(number * 2 + 2)}.90`,
        ipn_url: ipnUrls[number % 2] ?? '',
      },
      number % 3 ? 'sandbox' : 'live',
    );
  }
  const outcomes = ['approve', 'approve', 'cancel', 'fail', 'expire'] as const;
  for (const [number, outcome] of outcomes.entries())
    await payments.settle(`order-${number}`, { outcome, by: 'control', awaitDelivery: true });
  const live = state.current.findPayment('order-6');
  if (live) await checkout.enterEmail(live, 'wallet@example.com');
  const [merchant] = state.current.merchants.values();
  if (!merchant) throw new Error('there is no merchant');
  const wire = {
    currency_code: 'USD',
    title: 'Travel',
    name_on_card: 'Ada',
    email: 'a@b.test',
    amount: '250',
  };
  const card = await cards.issue(merchant, dialect.readCard({ fields: wire, text: '' }));
  await cards.move(card.id, 'charge', { amount: '12.50', details: 'Coffee' });
  faults.set({ route: 'cards', status: 503, times: 2 });
  await clock.move({ freeze: 'now' });
  const ui = '/_sim/ui';
  const ipn = state.current.deliveriesOf(state.current.findPayment('order-1')?.id ?? '')[0];
  return {
    sim,
    pages: {
      'a pending payment': `${ui}/payments/${live?.id}`,
      'a settled payment': `${ui}/payments/${state.current.findPayment('order-1')?.id}`,
      'an IPN': `${ui}/ipns/${ipn?.id}`,
      'a card': `${ui}/cards/${card.id}`,
      'a request': `${ui}/requests/1`,
      'nothing there': `${ui}/payments/none`,
    },
  };
}

/** What is wrong with the page as it stands: accessibility, and anything that makes it scroll sideways. */
async function wrongWith(page: Page): Promise<string[]> {
  const tooWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  const hiding = await page.evaluate<string[]>(
    '[...document.querySelectorAll(".scroll")].filter((at) => at.scrollWidth > at.clientWidth).map((at) => at.id)',
  );
  return [
    ...(await violationsOf(page)),
    ...(tooWide ? ['the page scrolls sideways'] : []),
    ...hiding.map((id) => `${id} hides a part of itself`),
  ];
}

describe.each([
  ['light', 'empty', ['desktop']],
  ['dark', 'empty', ['phone']],
  ['light', 'busy', ['desktop', 'phone']],
  ['dark', 'busy', ['desktop', 'phone']],
] as const)('in the %s theme, %s', (colorScheme, state, devices) => {
  test('every page is accessible and fits', async () => {
    const { sim, pages } = state === 'busy' ? await busySim() : { sim: await startSim(), pages: {} };
    const { page, errors } = await openPage({ colorScheme });
    const wrong: Record<string, string[]> = {};
    for (const [name, path] of Object.entries({ ...PLACES, ...pages })) {
      await page.goto(sim.url + path);
      for (const device of devices) {
        await resize(page, DEVICES[device]);
        const found = await wrongWith(page);
        if (found.length) wrong[`${name} on a ${device}`] = found;
        const file = `dashboard-${state}-${name.toLowerCase().replaceAll(' ', '-')}-${device}-${colorScheme}`;
        await picture(page, file);
      }
    }
    expect(wrong).toEqual({});
    // The page of what is not there is a 404, which Chromium writes down.
    expect(errors).toHaveLength(state === 'busy' ? 1 : 0);
    expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
  });
});

describe('by what the pages show', () => {
  test('a payment is approved at once, and its timeline tells it', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    await sim.initiate({ ...ORDER, ipn_url: receiver.url });
    const { page, errors } = await openPage();
    await page.goto(`${sim.url}/_sim`);
    await page.getByRole('link', { name: 'order-1' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('IPN attempt 1').waitFor();
    await page.getByText('delivered', { exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('what somebody else settles changes under the eyes, and the focus stays', async () => {
    const receiver = await startReceiver();
    const sim = await startSim();
    await sim.initiate({ ...ORDER, ipn_url: receiver.url });
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    const link = page.getByRole('link', { name: 'order-1' });
    await link.focus();
    await sim.server.parts.payments.settle('order-1', { outcome: 'approve', by: 'control' });
    await page.getByRole('link', { name: 'delivered' }).waitFor();
    expect(await link.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true);
  });

  test('a press on Resend shows on a phone what came of it, and the keyboard goes on there', async () => {
    const { sim, pages } = await busySim();
    const { page } = await openPage({ viewport: DEVICES.phone, javaScriptEnabled: false });
    await page.goto(sim.url + pages['an IPN']);
    for (const number of [2, 3]) {
      await page.getByRole('button', { name: 'Resend' }).click();
      const outcome = page.getByRole('status').filter({ hasText: `Attempt ${number}: ` });
      // The browser goes to it, and the keyboard with it, in its own time.
      await page.locator(':target', { has: outcome }).waitFor();
      const { y = -1, height = 0 } = (await outcome.boundingBox()) ?? {};
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y + height).toBeLessThan(DEVICES.phone.height);
    }
    await page.keyboard.press('Tab');
    const focused = page.locator('button:focus');
    expect(await focused.textContent()).toBe('Resend');
  });

  test('on a phone the open tab is in sight, and a row is read as one of a table', async () => {
    const { sim } = await busySim();
    const { page } = await openPage({ viewport: DEVICES.phone });
    await page.goto(`${sim.url}/_sim/ui/inbox`);
    await page.locator('#live.on').waitFor();
    const { x = -1, width = 0 } = (await page.getByRole('link', { name: 'Inbox' }).boundingBox()) ?? {};
    expect(x).toBeGreaterThan(20);
    expect(x + width).toBeLessThan(DEVICES.phone.width - 20);
    const row = page.getByRole('table').getByRole('row').nth(1);
    expect(await row.getByRole('rowheader').textContent()).toBe('wallet@example.com');
    expect(await row.getByRole('cell').count()).toBe(5);
  });

  test('what falls due is counted down while the clock runs', async () => {
    const sim = await startSim({ paymentExpires: '1h' });
    await sim.initiate(ORDER);
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim/ui/clock`);
    const left = page.locator('#time [data-left]');
    const secondsLeft = async () => {
      const [, hours = 0, minutes = 0, seconds = 0] =
        /^(?:(\d+) h)? ?(?:(\d+) min)? ?(?:(\d+) s)?$/.exec((await left.textContent()) ?? '') ?? [];
      return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    };
    const first = await secondsLeft();
    expect(first).toBeGreaterThan(3500);
    expect(first).toBeLessThanOrEqual(3600);
    await expect.poll(async () => first - (await secondsLeft())).toBeGreaterThanOrEqual(2);
  });

  test('a filter that is being typed survives what happens', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    await page.getByLabel('Text').fill('order-2');
    await sim.initiate({ ...ORDER, identifier: 'order-2' });
    await page.getByRole('link', { name: 'order-2' }).waitFor();
    expect(await page.getByLabel('Text').inputValue()).toBe('order-2');
    await page.keyboard.press('Enter');
    await page.waitForURL('**text=order-2**');
    await page.getByRole('link', { name: 'order-1' }).waitFor({ state: 'detached' });
  });

  test('the keys are copied, and replaced after a question', async () => {
    const sim = await startSim();
    const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(`${sim.url}/_sim/ui/keys`);
    await page.getByRole('button', { name: 'Copy the secret key' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(sim.secretKey);
    page.once('dialog', (dialog) => void dialog.dismiss());
    await page.getByRole('button', { name: 'Generate Api Key' }).click();
    expect(await page.getByText(sim.secretKey).count()).toBeGreaterThan(0);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Generate Api Key' }).click();
    await expect.poll(() => page.getByText(sim.secretKey).count()).toBe(0);
  });

  test('a card number is masked until it is asked for', async () => {
    const { sim, pages } = await busySim();
    const { page } = await openPage();
    await page.goto(sim.url + pages['a card']);
    const [card] = sim.server.parts.state.current.cards.values();
    const number = page.getByText(card?.number ?? '');
    expect(await number.isVisible()).toBe(false);
    await page.getByText('(show)').click();
    expect(await number.isVisible()).toBe(true);
  });

  test('it is said when the emulator is gone', async () => {
    const sim = await startSim();
    const { page } = await openPage();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    await sim.server.stop();
    await page.getByText('Disconnected, reconnecting…').waitFor();
  });

  test('a burst of a thousand payments leaves the page alive', async () => {
    const sim = await startSim();
    const { page } = await openPage();
    let fetched = 0;
    page.on('request', (request) => {
      if (request.resourceType() === 'fetch') fetched++;
    });
    const startedAt = Date.now();
    await page.goto(`${sim.url}/_sim`);
    await page.locator('#live.on').waitFor();
    const initiate = (number: number) => sim.initiate({ ...ORDER, identifier: `n-${number}` });
    for (let number = 0; number < 1_000; number += 50)
      await Promise.all(Array.from({ length: 50 }, (_, index) => initiate(number + index)));
    await page.getByRole('link', { name: '1,000 all' }).waitFor();
    // At most twice a second, however long all of this takes.
    expect(fetched).toBeLessThanOrEqual((Date.now() - startedAt) / 500 + 1);
  });
});

describe('without JavaScript', () => {
  test('every place is reached and a payment is settled', async () => {
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { page } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${sim.url}/_sim`);
    for (const name of [...Object.keys(PLACES), 'API reference']) {
      await page.getByRole('navigation').first().getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    await page.goto(`${sim.url}/_sim`);
    await page.getByRole('link', { name: 'order-1' }).click();
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('canceled').first().waitFor();
  });
});
