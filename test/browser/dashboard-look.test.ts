import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { busySim, payWithMistake, startNaiveShop } from '../helpers/busy.ts';
import { misfits } from '../helpers/layout.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

const UI = '/_sim/ui';
const THEMES = ['light', 'dark'] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 768, height: 1024 },
  { width: 360, height: 740 },
];
const PLACES = {
  payments: '/_sim',
  IPNs: `${UI}/ipns`,
  requests: `${UI}/requests`,
  cards: `${UI}/cards`,
  faults: `${UI}/faults`,
  clock: `${UI}/clock`,
  wallets: `${UI}/wallets`,
  inbox: `${UI}/inbox`,
  audit: `${UI}/audit`,
  signature: `${UI}/signature`,
  keys: `${UI}/keys`,
};

/** An address, or the way to a page. */
type Way = string | ((page: Page) => Promise<unknown>);

/** Every page of an emulator that was busy, and what forms make of them. */
async function busyPages(): Promise<{ sim: Sim; ways: Record<string, Way> }> {
  const { sim, receiver } = await busySim(IS_RELEASE ? 60 : undefined);
  const { ipns, merchants, payments, state } = sim.server.parts;
  await merchants.add('Second Shop with a rather long name');
  const shop = await startNaiveShop(() => sim.secretKey);
  const paid = await payWithMistake(sim, { identifier: 'a-story', ipn_url: `${shop.url}/ipn` });
  const story = `${UI}/payments/${paid}`;
  const tamper = requireTamperings('amount');
  const [forged] = await ipns.fire({ payment: 'order-1', to: `${receiver.url}/ipn`, tamper });
  const [card] = state.current.cards.values();
  const fill = async (page: Page, path: string, label: string, text: string, button: string) => {
    await page.goto(sim.url + path);
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: button }).click();
  };
  const ways: Record<string, Way> = {
    ...PLACES,
    found: `${UI}/search?q=order`,
    'new payment': `${UI}/new-payment`,
    'a pending payment': `${UI}/payments/${payments.require('order-10').id}`,
    'a story with its verdict': story,
    'the first step of a story': `${story}#step-initiated-1`,
    'a forged IPN': `${UI}/ipns/${forged?.id}`,
    'a card': `${UI}/cards/${card?.id}`,
    'a request': `${UI}/requests/1`,
    'nothing there': `${UI}/payments/none`,
    'a signature checked': async (page) => {
      const fields = {
        status: 'success',
        identifier: 'order-1',
        'data[amount]': '49.90',
        signature: 'A'.repeat(64),
      };
      await fill(page, `${UI}/signature`, 'IPN', String(new URLSearchParams(fields)), 'Check signature');
      await page.locator('#verdict').waitFor();
    },
    'a fault being chosen': async (page) => {
      await page.goto(`${sim.url}${UI}/faults`);
      await page.getByRole('link', { name: 'Wait first (latency)' }).click();
      await page.getByRole('textbox', { name: 'Latency' }).waitFor();
    },
    'a form refused': async (page) => {
      await fill(page, `${UI}/new-payment`, 'Amount', 'much', 'Create payment');
      await page.getByRole('alert').waitFor();
    },
  };
  return { sim, ways };
}

/** Looks at every page in every size that the theme has, and tells what is wrong by page and size. */
async function lookAtAll(
  sim: Sim,
  ways: Readonly<Record<string, Way>>,
  theme: (typeof THEMES)[number],
  of: string,
) {
  const sizes = sample(SIZES, ({ width }) => width === (theme === 'light' ? 1440 : 360));
  const { page, errors } = await openPage({ colorScheme: theme, reducedMotion: 'reduce' });
  const wrong: Record<string, string[]> = {};
  for (const [name, way] of Object.entries(ways)) {
    if (typeof way === 'string') await page.goto(sim.url + way);
    else await way(page);
    for (const size of sizes) {
      await resize(page, size);
      const found = [...(await misfits(page)), ...(await violationsOf(page))];
      if (found.length) wrong[`${name}, ${size.width} wide`] = found;
      await picture(page, `dashboard-${of}-${name.replaceAll(' ', '-')}-${size.width}-${theme}`);
    }
  }
  expect(wrong).toEqual({});
  // Chromium writes down that a page answered 404.
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
}

test.each(THEMES)(
  'every page of an emulator that was busy fits, and axe finds nothing (%s)',
  async (theme) => {
    const { sim, ways } = await busyPages();
    if (theme === 'dark') await sim.server.parts.clock.move({ freeze: 'now' });
    await lookAtAll(sim, ways, theme, 'busy');
  },
);

test.each(sample(THEMES, (theme) => theme === 'light'))(
  'every page that shows nothing yet fits, and axe finds nothing (%s)',
  async (theme) => {
    const { payments, IPNs, requests, cards, faults, clock, inbox } = PLACES;
    await lookAtAll(
      await startSim(),
      { payments, IPNs, requests, cards, faults, clock, inbox },
      theme,
      'empty',
    );
  },
);

test.runIf(IS_RELEASE).each(THEMES)(
  'the API reference can be read by everybody (%s)',
  async (colorScheme) => {
    const sim = await startSim();
    const width = colorScheme === 'light' ? 1280 : 360;
    const { page, errors } = await openPage({ viewport: { width, height: 800 }, colorScheme });
    await page.goto(`${sim.url}${UI}/reference#postSimPaymentsRefSettle`);
    const top = "document.querySelector('#postSimPaymentsRefSettle').getBoundingClientRect().top";
    await expect.poll(() => page.evaluate(top)).toBeLessThan(200);
    for (const path of ['reference', 'schemas']) {
      await page.goto(`${sim.url}${UI}/${path}`);
      expect([path, await misfits(page), await violationsOf(page)]).toEqual([path, [], []]);
    }
    expect(errors).toEqual([]);
  },
);
