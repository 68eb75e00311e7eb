import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize } from '../helpers/browser.ts';
import { misfits } from '../helpers/layout.ts';
import { gate } from '../helpers/receiver.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import {
  arrive,
  DESKTOP,
  LIVE_EMAIL,
  MODES,
  type Mode,
  openShop,
  PHONE,
  SANDBOX,
  type Shop,
  settle,
} from '../helpers/shop.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

const THEMES = ['light', 'dark'] as const;
const DEVICES = { desktop: DESKTOP, phone: PHONE } as const;
const LOCALES = { en: 'en-US', fr: 'fr-CA' } as const;
const LANGUAGES = ['en', 'fr'] as const;

/** Clicks a step's main button, in any language. */
async function submit(page: Page, value: string): Promise<void> {
  await page.locator('#email, #code').fill(value);
  const loaded = page.waitForEvent('load');
  await page.locator('form.main button').click();
  await loaded;
}

/** Brings a pending checkout into each of its states. */
async function everyStep(at: Shop, mode: Mode, look: (name: string) => Promise<void>): Promise<void> {
  const url = await arrive(at, mode);
  await look('1-email');
  await submit(at.page, mode === 'live' ? 'poor@example.com' : 'someone@example.com');
  await look('2-email-refused');
  await submit(at.page, mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
  await look('3-code');
  await submit(at.page, '0');
  await look('4-code-refused');
  if (mode === 'sandbox') return;
  await at.page.goto(`${url}&resent=1`);
  await look('5-code-sent-again');
}

/** Opens every final page of a checkout. */
async function everyEnd(at: Shop, look: (name: string) => Promise<void>): Promise<void> {
  for (const outcome of ['approve', 'cancel', 'fail', 'expire']) {
    const url = await at.sim.initiate({ ...at.fields, identifier: outcome });
    await settle(at.sim, outcome, outcome);
    await at.page.goto(url);
    await look(outcome);
  }
  await arrive(at);
  await at.page.locator('select').selectOption('ipn-only');
  const loaded = at.page.waitForEvent('load');
  await at.page.locator('button[value=approve]').click();
  await loaded;
  await look('stayed');
  await at.page.goto(`${at.sim.url}/initiate/payment/checkout`);
  await look('unknown');
  for (const which of ['paid', 'canceled']) {
    await at.page.goto(`${at.sim.url}/_sim/ui/${which}`);
    await look(`thanks-${which}`);
  }
}

/** Elements that do not fit, or are too small to click (WCAG 2.2, 2.5.8). */
async function wrongWith(page: Page): Promise<string[]> {
  const small = await page.evaluate<
    string[]
  >(`[...document.querySelectorAll('a, button, summary, select, input:not([type=hidden])')]
    .filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width < 24 || height < 24;
    })
    .map((element) => 'too small: ' + element.tagName + ' ' + (element.id || element.textContent.trim()))`);
  return [...(await misfits(page)), ...small];
}

const schemeOf = (page: Page) => page.evaluate('getComputedStyle(document.documentElement).colorScheme');

const LOOKS = THEMES.flatMap((theme) => LANGUAGES.map((language) => ({ theme, language })));

describe.each(sample(LOOKS, ({ theme, language }) => (theme === 'light') === (language === 'en')))(
  '$theme, $language',
  ({ theme, language }) => {
    const devices = sample(
      ['desktop', 'phone'] as const,
      (name) => (name === 'desktop') === (theme === 'light'),
    );
    const open = () =>
      openShop({
        browser: { locale: LOCALES[language], colorScheme: theme },
        fields: { checkout_theme: theme, currency: 'EUR', amount: '1234.5' },
      });

    async function lookAt(page: Page, name: string, inSight = page.getByRole('heading').first()) {
      for (const device of devices) {
        await resize(page, DEVICES[device]);
        await picture(page, `checkout-${name}-${theme}-${device}-${language}`);
        const wrong = [...(await wrongWith(page)), ...(await violationsOf(page))];
        const { y = 0, height = Infinity } = (await inSight.boundingBox()) ?? {};
        if (y + height > DEVICES[device].height) wrong.push(`${inSight} is out of sight`);
        expect({ name, device, wrong }).toEqual({ name, device, wrong: [] });
      }
      const shown = [await page.evaluate('document.documentElement.lang'), await schemeOf(page)];
      expect(shown).toEqual([language, theme]);
    }

    // The steps of a live payment without the panel are checked below.
    test.runIf(IS_RELEASE || theme === 'light').each(sample(MODES, (mode) => mode === 'sandbox'))(
      'every page of a %s payment fits, and axe finds nothing',
      async (mode) => {
        const at = await open();
        await everyStep(at, mode, async (name) => {
          expect(await at.page.title()).toContain(language === 'fr' ? '1\u202f234,50\u00a0€' : '€1,234.50');
          // Browsers set the focus asynchronously.
          await expect.poll(() => at.page.evaluate('document.activeElement.tagName')).toBe('INPUT');
          const cancel = at.page.getByRole('main').getByRole('button', { name: /cancel|annul/i });
          expect(await cancel.allTextContents()).toEqual([language === 'fr' ? 'Annuler' : 'Cancel']);
          await lookAt(at.page, `${mode}-${name}`, cancel);
        });
        expect(at.errors).toEqual([]);
      },
    );

    test.runIf(IS_RELEASE || theme === 'dark')('every final page fits, and axe finds nothing', async () => {
      const at = await open();
      await everyEnd(at, (name) => lookAt(at.page, `end-${name}`));
    });
  },
);

const BARE = MODES.flatMap((mode) => THEMES.map((theme) => ({ mode, theme })));
test.each(sample(BARE, ({ mode, theme }) => mode === 'live' && theme === 'dark'))(
  'a $mode checkout without panel and logo is accessible in every display mode ($theme)',
  async ({ mode, theme }) => {
    const sizes = {
      ...DEVICES,
      tablet: { width: 768, height: 800 },
      'zoom of 400 %': { width: 320, height: 256 },
    };
    const at = await openShop({
      start: { panel: false },
      // The merchant's theme overrides the browser's preference.
      browser: { locale: 'fr-FR', colorScheme: theme === 'dark' ? 'light' : 'dark', reducedMotion: 'reduce' },
      fields: { checkout_theme: theme },
    });
    at.fields['site_logo'] = `${at.merchant.url}/gone.png`;
    await everyStep(at, mode, async (name) => {
      expect(await schemeOf(at.page)).toBe(theme);
      for (const [size, box] of Object.entries(sizes)) {
        await resize(at.page, box);
        await picture(at.page, `checkout-bare-${mode}-${name}-${theme}-${size}`);
        expect({ name, size, wrong: await wrongWith(at.page) }).toEqual({ name, size, wrong: [] });
      }
      const wrong = await violationsOf(at.page, { rules: OF_LOOKS });
      // Wider text spacing cuts nothing off (WCAG 1.4.12).
      await resize(at.page, PHONE);
      await at.page.evaluate(WIDER_SPACING);
      expect({ name, wrong: [...wrong, ...(await wrongWith(at.page))] }).toEqual({ name, wrong: [] });
      expect([name, ...(await at.page.evaluate<string[]>(MOVING))]).toEqual([name]);
      const marks = await at.page.evaluate(MARKS);
      await at.page.emulateMedia({ forcedColors: 'active' });
      await picture(at.page, `checkout-forced-${mode}-${name}-${theme}`);
      expect([name, await at.page.evaluate(MARKS), await at.page.evaluate(EDGELESS)]).toEqual([
        name,
        marks,
        [],
      ]);
      await at.page.emulateMedia({ forcedColors: 'none' });
    });
  },
);

/** A constructed style sheet, which the content security policy does not block. */
const WIDER_SPACING = `{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-bottom: 2em !important }');
  document.adoptedStyleSheets = [sheet];
}`;

const MOVING = `[...document.querySelectorAll('*')].filter((element) => {
  const { transitionDuration, animationName } = getComputedStyle(element);
  return transitionDuration !== '0s' || animationName !== 'none';
}).map(({ tagName }) => tagName + ' moves')`;

/** The parts that show the step and the problem by colour, which forced colours must preserve. */
const MARKS = `[['.progress', '::after'], ['.problem', '::before']].map(([selector, part]) => {
  const element = document.querySelector(selector);
  const { backgroundColor, backgroundImage } = element ? getComputedStyle(element, part) : {};
  return selector + ': ' + backgroundColor + ' ' + backgroundImage;
})`;

/** With forced colours, buttons and fields are visible only by their borders. */
const EDGELESS = `[...document.querySelectorAll('.button, input:not([type=hidden])')]
  .filter((element) => getComputedStyle(element).borderTopStyle !== 'solid')
  .map(({ outerHTML }) => outerHTML)`;

test.each(sample(THEMES, (theme) => theme === 'light'))(
  'the page that asks for the control token fits a phone, and axe finds nothing (%s)',
  async (colorScheme) => {
    const { page, sim } = await openShop({
      start: { host: '0.0.0.0', controlToken: 'the-token' },
      browser: { viewport: PHONE, colorScheme },
    });
    await page.goto(`${sim.url}/_sim`);
    await page.getByLabel('Control token').fill('another');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await picture(page, `checkout-token-${colorScheme}`);
    expect([...(await wrongWith(page)), ...(await violationsOf(page))]).toEqual([]);
  },
);

test('long texts from a merchant fit a phone, and the amount breaks only between groups of digits', async () => {
  const sent = {
    longest: {
      identifier: 'W'.repeat(20),
      details: 'W'.repeat(100),
      currency: 'GNF',
      amount: '12345678901234567890.12345678',
    },
    'eight decimals': { currency: 'EUR', amount: '0.00000001' },
    millions: { currency: 'USD', amount: '1234567.89' },
    CFA: { currency: 'CFA', amount: '25000' },
    'right to left': { details: 'كتابان وشريط مرجعي (2)', identifier: 'طلب-12' },
  };
  const sim = await startSim();
  for (const language of LANGUAGES) {
    const { page } = await openPage({ viewport: PHONE, locale: LOCALES[language] });
    for (const [name, fields] of Object.entries(sent)) {
      await page.goto(await sim.initiate({ ...ORDER, ...fields }, 'live'));
      await picture(page, `checkout-${name.replaceAll(' ', '-')}-${language}`);
      const lines = await page.evaluate<number[]>(`(() => {
        const amount = document.querySelector('.amount');
        const texts = [...amount.childNodes].filter(({ nodeType }) => nodeType === 3);
        return texts.map((text) => {
          const range = document.createRange();
          range.selectNodeContents(text);
          return range.getClientRects().length;
        });
      })()`);
      expect([name, language, Math.max(...lines), await wrongWith(page)]).toEqual([name, language, 1, []]);
    }
  }
});

describe('the logo', () => {
  const inSight = (page: Page, selector: string) =>
    page.evaluate<boolean>(`(() => {
      const box = document.querySelector('.logo').getBoundingClientRect();
      const { width, top } = document.querySelector('${selector}').getBoundingClientRect();
      return width > 0 && top < box.bottom;
    })()`);

  /** The darkest and the median pixel of an image, from 0 to 255. */
  async function rangeOf(page: Page, image: Buffer): Promise<{ darkest: number; median: number }> {
    await page.goto('about:blank');
    return page.evaluate(`(async () => {
      const image = await createImageBitmap(await (await fetch('data:image/png;base64,${image.toString('base64')}')).blob());
      const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const greens = data.filter((_, index) => index % 4 === 1).sort();
      return { darkest: greens[0], median: greens[greens.length >> 1] };
    })()`);
  }

  test.each(sample(THEMES, (theme) => theme === 'dark'))(
    'is visible on a %s page even if it is black on transparent',
    async (checkout_theme) => {
      const { page, ...at } = await openShop();
      const body =
        '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60"><circle cx="30" cy="30" r="25"/></svg>';
      await page.route('**/black.svg', (route) => route.fulfill({ contentType: 'image/svg+xml', body }));
      const site_logo = `${at.merchant.url}/black.svg`;
      await page.goto(await at.sim.initiate({ ...at.fields, site_logo, checkout_theme }));
      await picture(page, `checkout-logo-black-${checkout_theme}`);
      const { darkest, median } = await rangeOf(page, await page.locator('.logo img').screenshot());
      expect(darkest).toBeLessThan(20);
      expect(median).toBeGreaterThan(200);
    },
  );

  test('always fits its box, which shows a letter if there is no logo', async () => {
    const shown = {
      'logo-160x48.svg': 'img',
      'logo-900x60.svg': 'img',
      'logo-60x900.svg': 'img',
      'logo-4000x4000.svg': 'img',
      'logo-4x4.svg': 'img',
      'empty.png': '.monogram',
      'gone.png': '.monogram',
      // Not an image.
      thanks: '.monogram',
      // Never responds.
      'slow.png': '.monogram',
    };
    const { page, ...at } = await openShop();
    for (const [path, selector] of Object.entries(shown)) {
      // On a dark page, the plate behind the logo must not take space either.
      const fields = { ...at.fields, site_logo: `${at.merchant.url}/${path}`, checkout_theme: 'dark' };
      const waitUntil = path === 'slow.png' ? 'domcontentloaded' : 'load';
      await page.goto(await at.sim.initiate(fields), { waitUntil });
      const seen = { img: await inSight(page, '.logo img'), monogram: await inSight(page, '.monogram') };
      const { width, height } = (await page.locator('.logo').boundingBox()) ?? {};
      expect({ path, ...seen, width, height }).toEqual({
        path,
        img: selector === 'img',
        monogram: selector === '.monogram',
        width: 208,
        height: 56,
      });
      // A page that is still loading cannot be captured.
      if (waitUntil === 'load') await picture(page, `checkout-${path}`);
    }
  });

  test('replaces the letter when it loads late, and moves nothing else', async () => {
    const { page, ...at } = await openShop({ browser: { viewport: PHONE } });
    const { opened, open } = gate();
    await page.route('**/logo-900x300.svg', async (route) => {
      await opened;
      await route.continue();
    });
    await page.addInitScript(
      `window.moved = [];
      new PerformanceObserver((list) => {
        for (const { sources } of list.getEntries()) {
          for (const { node } of sources) if (!node?.parentElement?.closest('.logo')) window.moved.push(String(node));
        }
      }).observe({ type: 'layout-shift', buffered: true });`,
    );
    const url = await at.sim.initiate({ ...at.fields, site_logo: `${at.merchant.url}/logo-900x300.svg` });
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
    await page.evaluate(painted);
    expect(await inSight(page, '.monogram')).toBe(true);
    // A page that arrives in parts may shift while it is parsed.
    await page.evaluate('window.moved = []');
    open();
    await page.waitForLoadState('load');
    await page.evaluate(painted);
    expect(await inSight(page, '.logo img')).toBe(true);
    expect(await page.evaluate('window.moved')).toEqual([]);
  });
});
