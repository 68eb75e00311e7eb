import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

const UI = '/_sim/ui';

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  test('a payment is made, paid by the code in the panel, and its IPN checked, from the pages alone', async () => {
    const sim = await startSim();
    const receiver = await startReceiver();
    const { page, errors } = await openPage({ javaScriptEnabled });
    await page.goto(`${sim.url}/_sim`);
    await page.getByRole('link', { name: 'New payment', exact: true }).click();
    await page.getByLabel('Mode').selectOption('live');
    await page.getByLabel('Identifier').fill('tea-1');
    await page.getByLabel('IPN URL').fill(`${receiver.url}/ipn`);
    await page.getByRole('button', { name: 'Create payment', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'tea-1' }).waitFor();

    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: 'Open checkout' }).click();
    const checkout = await opened;
    await checkout.getByLabel('E-mail').fill('wallet@example.com');
    await checkout.keyboard.press('Enter');
    await checkout.getByRole('button', { name: 'Enter this code' }).click();
    await checkout.waitForURL('**/_sim/ui/paid');

    await page.bringToFront();
    await page.getByRole('link', { name: 'Signature', exact: true }).click();
    const body = receiver.requests[0]?.body ?? '';
    await page.getByLabel('IPN', { exact: true }).fill(body);
    await page.getByRole('button', { name: 'Check signature' }).click();
    await page.getByText('Valid: the signature is right').waitFor();
    await page.getByLabel('IPN', { exact: true }).fill(body.replace('100.00', '999.00'));
    await page.getByRole('button', { name: 'Check signature' }).click();
    await page.getByText('Not valid').waitFor();
    expect(errors).toEqual([]);
  });
});

test('what happens meanwhile does not take the answer of the signature checker away', async () => {
  const sim = await startSim();
  const { page } = await openPage();
  await page.goto(`${sim.url}${UI}/signature`);
  await page.locator('#live.on').waitFor();
  await page.getByLabel('IPN', { exact: true }).fill('status=success');
  await page.getByRole('button', { name: 'Check signature' }).click();
  await page.locator('#verdict').waitFor();
  await page.locator('#live.on').waitFor();
  let fetched = 0;
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') fetched++;
  });
  sim.server.parts.faults.set({ route: 'cards', drop: true });
  // It is told when the page would have been fetched again.
  await page.getByText('FAULT ON').waitFor({ state: 'attached' });
  expect([fetched, await page.locator('#verdict').count()]).toEqual([0, 1]);
});

/** Every page that this is about, as it stands when there is much to see. */
async function pagesOf(sim: Sim): Promise<Record<string, (page: Page) => Promise<unknown>>> {
  const { payments, clock, faults, merchants } = sim.server.parts;
  await clock.move({ freeze: 'now' });
  await merchants.add('Second Shop with a rather long name');
  for (const [number, mode] of (['sandbox', 'live', 'sandbox'] as const).entries())
    await sim.initiate({ ...ORDER, identifier: `order-${number}` }, mode);
  await payments.settle('order-0', { outcome: 'approve', by: 'control', awaitDelivery: true });
  faults.set({ route: 'initiate', status: 503, times: 2 });
  const goTo = (path: string) => (page: Page) => page.goto(sim.url + path);
  const check = async (page: Page) => {
    await page.goto(`${sim.url}${UI}/signature`);
    const fields = {
      status: 'success',
      identifier: 'order-1',
      'data[amount]': '49.90',
      signature: 'A'.repeat(64),
    };
    await page.getByLabel('IPN', { exact: true }).fill(String(new URLSearchParams(fields)));
    await page.getByRole('button', { name: 'Check signature' }).click();
    await page.locator('#verdict').waitFor();
  };
  return {
    payments: goTo('/_sim'),
    'new-payment': goTo(`${UI}/new-payment`),
    wallets: goTo(`${UI}/wallets`),
    signature: goTo(`${UI}/signature`),
    checked: check,
    faults: async (page) => {
      await page.goto(`${sim.url}${UI}/faults`);
      await page.getByRole('link', { name: 'Wait first (latency)' }).click();
      await page.getByRole('textbox', { name: 'Latency' }).waitFor();
    },
    clock: goTo(`${UI}/clock`),
    keys: goTo(`${UI}/keys`),
    request: goTo(`${UI}/requests/1`),
    refused: async (page) => {
      faults.clear();
      await page.goto(`${sim.url}${UI}/new-payment`);
      await page.getByLabel('Amount').fill('much');
      await page.getByRole('button', { name: 'Create payment' }).click();
      await page.getByRole('alert').waitFor();
    },
  };
}

test.each(['light', 'dark'] as const)(
  'in the %s theme every page to act from is accessible and fits',
  async (colorScheme) => {
    const sim = await startSim({ ipnSchedule: ['1h'], paymentExpires: '30h' });
    const pages = await pagesOf(sim);
    const { page } = await openPage({ colorScheme });
    const wrong: Record<string, string[]> = {};
    for (const [name, open] of Object.entries(pages)) {
      await open(page);
      for (const width of [1440, 360]) {
        await resize(page, { width, height: 900 });
        const isTooWide = await page.evaluate<boolean>(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        const found = [...(await violationsOf(page)), ...(isTooWide ? ['it scrolls sideways'] : [])];
        if (found.length) wrong[`${name}, ${width} wide`] = found;
        await picture(page, `act-${name}-${width}-${colorScheme}`);
      }
    }
    expect(wrong).toEqual({});
  },
);

test('the panel of a live checkout, with its code and its way to the dashboard, is accessible and fits', async () => {
  const sim = await startSim();
  const address = await sim.initiate(ORDER, 'live');
  for (const [width, colorScheme] of [
    [360, 'light'],
    [1440, 'dark'],
  ] as const) {
    const { page } = await openPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(address);
    if (width === 360) {
      await page.getByLabel('E-mail').fill('wallet@example.com');
      await page.keyboard.press('Enter');
    }
    await page.getByRole('button', { name: 'Enter this code' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await picture(page, `act-panel-${width}`);
  }
});
