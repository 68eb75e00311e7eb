import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { ATTENTION, PLACES, SIGNATURE, UI } from '../../src/http/pages/dashboard/paths.ts';
import { ALL_RULES, addAxe, OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openDashboard, openPage, picture, resize, withBrowser } from '../helpers/browser.ts';
import { busySim, payWithMistakes, startNaiveShop } from '../helpers/busy.ts';
import { misfits } from '../helpers/layout.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { enter, ORDER, paid, type Sim, startSim } from '../helpers/sim.ts';
import { STATES } from '../helpers/states.ts';

withBrowser();

const ATTENTION_LIST = `?status=${ATTENTION}`;
const PATHS = Object.fromEntries(namesOf(PLACES).map((place) => [place, PLACES[place].path]));

/** A page's path, or the steps that open it. */
type Way = string | ((page: Page) => Promise<unknown>);

/** How to open each page, by its name. */
type Ways = Readonly<Record<string, Way>>;

/** Every page of an emulator with many records. If a submitted form reveals more of a page, it is submitted first. */
async function busyPages(): Promise<{ sim: Sim; ways: Ways }> {
  const { sim, receiver } = await busySim();
  const { clock, ipns, merchants, payments, store } = sim.server.parts;
  await merchants.add('Second Shop with a rather long name');
  const shop = await startNaiveShop(() => sim.secretKey);
  const paid = await payWithMistakes(sim, { identifier: 'a-story', ipn_url: `${shop.url}/ipn` });
  const tamper = requireTamperings('amount');
  const [forged] = await ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper });
  const [byHand] = await ipns.fire({ to: `${receiver.url}/ipn`, identifier: 'by-hand', amount: '5' });
  const [card] = store.state.cards.values();
  const fill = async (page: Page, path: string, label: string, text: string, button: string) => {
    await page.goto(sim.url + path);
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: button }).click();
  };
  const ways = {
    ...PATHS,
    requests: `${PLACES.requests.path}?text=checkout`,
    'signature checker': async (page: Page) => {
      const data = { identifier: 'order-1', 'data[amount]': '49.90' };
      const ipn = new URLSearchParams({ status: 'success', ...data, signature: 'A'.repeat(64) });
      await fill(page, SIGNATURE, 'IPN', String(ipn), 'Check signature');
      await page.locator('#verdict').waitFor();
    },
    'needs attention': `/_sim${ATTENTION_LIST}`,
    found: '/_sim?text=order',
    'a pending payment': `${UI}/payments/${payments.require('order-10').id}`,
    'a story with its verdict': `${UI}/payments/${paid}#step-initiated-1`,
    'a forged IPN': `${UI}/ipns/${forged?.id}`,
    'an IPN by hand': `${UI}/ipns/${byHand?.id}`,
    'a card': `${UI}/cards/${card?.id}`,
    'a request': `${UI}/requests/1`,
    'nothing there': `${UI}/payments/none`,
    'a form refused': async (page: Page) => {
      await fill(page, `${UI}/new-payment`, 'Amount', 'much', 'Create payment');
      await page.getByRole('alert').waitFor();
    },
    // The last one, because it stays paused.
    'paused clock': async (page: Page) => {
      await clock.move({ freeze: 'now' });
      await page.goto(sim.url + PLACES.settings.path);
    },
  };
  return { sim, ways };
}

/** Pages with every kind of element. */
const TYPICAL: readonly string[] = [
  'payments',
  'requests',
  'cards',
  'settings',
  'a story with its verdict',
  'a form refused',
];
/** Pages with every colour. */
const COLOURFUL: readonly string[] = ['payments', 'a story with its verdict'];

interface Look {
  colorScheme: 'light' | 'dark';
  size: { width: number; height: number };
  /** The names or tags of axe's rules. */
  rules: readonly string[];
  /** The pages to look at; default: all. */
  of?: readonly string[];
}

const [WIDE, NARROW] = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];
const SIZES = [
  WIDE,
  { width: 1280, height: 800 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  NARROW,
];

/** The groups of display modes: each page is loaded once per group. */
const VISITS: readonly (readonly Look[])[] = IS_RELEASE
  ? SIZES.map((size) => [
      { colorScheme: 'light', size, rules: ALL_RULES },
      { colorScheme: 'dark', size, rules: ALL_RULES },
    ])
  : [
      [
        { colorScheme: 'light', size: WIDE, rules: [] },
        { colorScheme: 'light', size: NARROW, rules: ALL_RULES },
        { colorScheme: 'dark', size: NARROW, rules: OF_LOOKS, of: COLOURFUL },
      ],
    ];

/** Checks pages, and reports problems by page and display mode. */
async function checkAll(sim: Sim, ways: Ways, looks: readonly Look[], group: string) {
  const { page, errors } = await openPage({ isNew: true });
  await addAxe(page);
  const wrong: Record<string, string[]> = {};
  for (const [name, way] of Object.entries(ways)) {
    if (typeof way === 'string') await page.goto(sim.url + way);
    else await way(page);
    for (const { colorScheme, size, rules } of looks.filter(({ of }) => of?.includes(name) ?? true)) {
      await page.emulateMedia({ colorScheme });
      await resize(page, size);
      const found = [...(await misfits(page)), ...(rules.length ? await violationsOf(page, { rules }) : [])];
      const look = `${size.width}-${colorScheme}`;
      if (found.length) wrong[`${name}, ${look}`] = found;
      await picture(page, `dashboard-${group}-${name.replaceAll(' ', '-')}-${look}`);
    }
  }
  expect(wrong).toEqual({});
  // Chromium logs every response with status 404.
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
}

describe.each(VISITS.map((looks) => ({ widths: looks.map(({ size }) => size.width), looks })))(
  '$widths pixels wide',
  ({ looks }) => {
    test('the pages of a busy emulator fit, and axe finds nothing', async () => {
      const { sim, ways } = await busyPages();
      const chosen = sample(Object.entries(ways), ([name]) => TYPICAL.includes(name));
      await checkAll(sim, Object.fromEntries(chosen), looks, 'busy');
    });

    test.runIf(IS_RELEASE)('empty lists fit, and axe finds nothing', async () => {
      const lists = ['payments', 'requests', 'cards'] as const;
      const ways = Object.fromEntries(lists.map((place) => [place, PLACES[place].path]));
      await checkAll(await startSim(), ways, looks, 'empty');
    });

    test.runIf(IS_RELEASE).each(namesOf(STATES))('the page of a payment fits: %s', async (state) => {
      const sim = await startSim({ ipnTimeout: '1s' });
      await STATES[state](sim);
      const { id } = sim.server.parts.payments.require('order-1');
      await checkAll(sim, { [state]: `${UI}/payments/${id}` }, looks, 'state');
    });
  },
);

const LONG = 'order-2026-11-22-of-the-second-shop-17';
const LISTS = ['', ATTENTION_LIST, '/ui/requests', '/ui/cards'];

test('a list starts near the top even with a fault and a moved clock, has rows of 36 pixels, and takes four requests', async () => {
  const { sim } = await busySim();
  const { page } = await openPage();
  let paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  for (const list of sample(LISTS, (path) => path === '')) {
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

test('a delivered payment fits on a screen, and on two of a phone', async () => {
  const sim = await startSim();
  const { url } = await startReceiver([{ body: 'OK' }]);
  const checkout = await sim.initiate({ ...ORDER, ipn_url: `${url}/ipn` });
  await fetch(checkout);
  await enter(checkout, 'email', { email: 'test_mode@mail.com' });
  await enter(checkout, 'code', { code: '222666' });
  const { page } = await openPage();
  await page.goto(`${sim.url}${UI}/payments/${sim.server.parts.payments.require('order-1').id}`);
  for (const [width, limit] of [
    [1280, 900],
    [360, 1600],
  ] as const) {
    await resize(page, { width, height: 600 });
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(limit);
  }
});

test('identifiers of 20 characters are whole on 1280 pixels', async () => {
  const sim = await startSim();
  const identifier = 'order-2026-11-22-100';
  // Its second use is a warning beside it.
  for (let times = 0; times < 2; times++) await paid(sim, { identifier });
  const { page } = await openPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${sim.url}/_sim`);
  const cells = page.locator('tbody th, tbody td.cause');
  expect(
    await cells.evaluateAll((all) =>
      all.map((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= 36),
    ),
  ).toEqual([true, true, true, true]);
  expect(await page.locator('tbody th a').first().innerText()).toBe(identifier);
});

test('on a phone, a list is still read as a table, and shows a long identifier in full', async () => {
  const { sim } = await busySim();
  const { page } = await openDashboard(sim, '/_sim/ui/settings', { viewport: { width: 360, height: 740 } });
  const row = page.getByRole('table', { name: 'Codes' }).getByRole('row').nth(1);
  expect(await row.getByRole('rowheader').textContent()).toBe('wallet@example.com');
  expect(await row.getByRole('cell').count()).toBe(5);
  await page.goto(`${sim.url}/_sim`);
  const link = page.getByRole('link', { name: LONG, exact: true });
  expect(await link.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
});
