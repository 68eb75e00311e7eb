import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { NOT_ACCEPTED, PLACES, SIGNATURE, UI } from '../../src/http/pages/dashboard/paths.ts';
import { OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { busySim, payWithMistakes, startNaiveShop } from '../helpers/busy.ts';
import { misfits } from '../helpers/layout.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

const THEMES = ['light', 'dark'] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  { width: 360, height: 740 },
] as const;
const PATHS = Object.fromEntries(namesOf(PLACES).map((place) => [place, PLACES[place].path]));

/** A page's path, or the steps that open it. */
type Way = string | ((page: Page) => Promise<unknown>);

/** How to open each page, by its name. */
type Ways = Readonly<Record<string, Way>>;

/** Every page of an emulator with many records. If a submitted form reveals more of a page, it is submitted first. */
async function busyPages(): Promise<{ sim: Sim; places: Ways; records: Ways }> {
  const { sim, receiver } = await busySim();
  const { cards, clock, ipns, merchants, payments } = sim.server.parts;
  await merchants.add('Second Shop with a rather long name');
  const shop = await startNaiveShop(() => sim.secretKey);
  const paid = await payWithMistakes(sim, { identifier: 'a-story', ipn_url: `${shop.url}/ipn` });
  const tamper = requireTamperings('amount');
  const [forged] = await ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper });
  const [byHand] = await ipns.fire({ to: `${receiver.url}/ipn`, identifier: 'by-hand', amount: '5' });
  const [card] = cards.all.values();
  const fill = async (page: Page, path: string, label: string, text: string, button: string) => {
    await page.goto(sim.url + path);
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: button }).click();
  };
  const places = {
    ...PATHS,
    // Shows links to newer and older records.
    requests: `${PLACES.requests.path}?cursor=6`,
    'signature checker': async (page: Page) => {
      const data = { identifier: 'order-1', 'data[amount]': '49.90' };
      const ipn = new URLSearchParams({ status: 'success', ...data, signature: 'A'.repeat(64) });
      await fill(page, SIGNATURE, 'IPN', String(ipn), 'Check signature');
      await page.locator('#verdict').waitFor();
    },
    'paused clock': async (page: Page) => {
      await clock.move({ freeze: 'now' });
      await page.goto(sim.url + PLACES.settings.path);
    },
    'not accepted': `/_sim?status=${NOT_ACCEPTED}`,
  };
  const records = {
    found: `${UI}/search?q=order`,
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
  };
  return { sim, places, records };
}

interface Look {
  colorScheme: (typeof THEMES)[number];
  size: (typeof SIZES)[number];
}

/** The groups of display modes: each page is loaded once per group. */
const VISITS: readonly (readonly Look[])[] = IS_RELEASE
  ? SIZES.map((size) => THEMES.map((colorScheme) => ({ colorScheme, size })))
  : [
      [
        { colorScheme: 'light', size: SIZES[0] },
        { colorScheme: 'dark', size: SIZES[4] },
      ],
    ];

/** Checks pages, and reports problems by page and display mode. */
async function checkAll(sim: Sim, ways: Ways, looks: readonly Look[], of: string) {
  const { page, errors } = await openPage({ reducedMotion: 'reduce' });
  const wrong: Record<string, string[]> = {};
  for (const [name, way] of Object.entries(ways)) {
    if (typeof way === 'string') await page.goto(sim.url + way);
    else await way(page);
    for (const [index, { colorScheme, size }] of looks.entries()) {
      await page.emulateMedia({ colorScheme });
      await resize(page, size);
      const how = index === 0 || IS_RELEASE ? {} : { rules: OF_LOOKS };
      const found = [...(await misfits(page)), ...(await violationsOf(page, how))];
      const look = `${size.width}-${colorScheme}`;
      if (found.length) wrong[`${name}, ${look}`] = found;
      await picture(page, `dashboard-${of}-${name.replaceAll(' ', '-')}-${look}`);
    }
  }
  expect(wrong).toEqual({});
  // Chromium logs every response with status 404.
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
}

describe.each(VISITS.map((looks) => ({ widths: looks.map(({ size }) => size.width), looks })))(
  '$widths pixels wide',
  ({ looks }) => {
    test.each(['places', 'records'] as const)(
      'the %s of a busy emulator fit, and axe finds nothing',
      async (of) => {
        const { sim, ...pages } = await busyPages();
        await checkAll(sim, pages[of], looks, of);
      },
    );

    test('empty lists fit, and axe finds nothing', async () => {
      const lists = ['payments', 'requests', 'cards'] as const;
      const ways = Object.fromEntries(lists.map((place) => [place, PLACES[place].path]));
      await checkAll(await startSim(), ways, looks, 'empty');
    });
  },
);
