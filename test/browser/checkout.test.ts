import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { OF_LOOKS, violationsOf } from '../helpers/axe.ts';
import { openPage, picture, resize, withBrowser } from '../helpers/browser.ts';
import { misfits } from '../helpers/layout.ts';
import { gate, startReceiver } from '../helpers/receiver.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import {
  alertOf,
  arrive,
  DESKTOP,
  enterCode,
  inboxCode,
  LIVE_EMAIL,
  MODES,
  type Mode,
  openShop,
  PHONE,
  SANDBOX,
  type Shop,
  settle,
  statusOf,
  toCodeStep,
} from '../helpers/shop.ts';
import { enter, ORDER, startSim } from '../helpers/sim.ts';

withBrowser();

/** Unlike `waitForURL`, it tolerates a second click that cancels the first navigation. */
const arrivesAt = (page: Page, url = '') => expect.poll(() => page.url()).toBe(url);

const THEMES = ['light', 'dark'] as const;
const DEVICES = { desktop: DESKTOP, phone: PHONE } as const;
const LOCALES = { en: 'en-US', fr: 'fr-CA' } as const;

/** Clicks a button, in any language, and waits for the next page. */
async function click(page: Page, button: string): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.locator(button).click();
  await loaded;
}

async function submit(page: Page, value: string): Promise<void> {
  await page.locator('#email, #code').fill(value);
  await click(page, 'form.main button');
}

/** The states of a pending checkout. The ones with a problem also have every part of the others. */
const STEPS = ['email', 'email refused', 'code', 'code refused', 'code sent again'] as const;
type Step = (typeof STEPS)[number];

/** Brings a pending checkout into these states. */
async function everyStep(
  at: Shop,
  mode: Mode,
  steps: readonly Step[],
  look: (name: Step) => Promise<void>,
): Promise<void> {
  const lookIf = async (name: Step) => {
    if (steps.includes(name)) await look(name);
  };
  const url = await at.sim.initiate(at.fields, mode);
  const email = mode === 'live' ? LIVE_EMAIL : SANDBOX.email;
  // A page that is not looked at need not be opened.
  if (!steps.includes('email refused')) await enter(url, 'email', { email });
  await at.page.goto(url);
  await lookIf('email');
  if (steps.includes('email refused')) {
    await submit(at.page, 'poor@example.com');
    await look('email refused');
    if (mode === 'live') await submit(at.page, email);
    else await click(at.page, '.notice button');
  }
  await lookIf('code');
  await submit(at.page, '0');
  await lookIf('code refused');
  if (mode === 'sandbox' || !steps.includes('code sent again')) return;
  await at.page.goto(`${url}&resent=1`);
  await look('code sent again');
}

const ENDS = ['approve', 'cancel', 'fail', 'expire', 'stayed', 'unknown', 'paid', 'canceled'] as const;

/** Opens a final page of a checkout. */
async function openEnd(at: Shop, end: (typeof ENDS)[number]): Promise<void> {
  if (end === 'unknown') await at.page.goto(`${at.sim.url}/initiate/payment/checkout`);
  else if (end === 'paid' || end === 'canceled') await at.page.goto(`${at.sim.url}/_sim/ui/${end}`);
  else if (end === 'stayed') {
    await arrive(at);
    await at.page.locator('select').selectOption('ipn-only');
    await click(at.page, 'button[value=approve]');
  } else {
    const url = await at.sim.initiate({ ...at.fields, identifier: end });
    await settle(at.sim, end, end);
    await at.page.goto(url);
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

/** The colours of a page: the merchant's, or those that the browser prefers. */
const schemeOf = (page: Page) =>
  page.evaluate(`(() => {
    const { colorScheme } = getComputedStyle(document.documentElement);
    const preferred = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    return colorScheme === 'light dark' ? preferred : colorScheme;
  })()`);

const LOOKS = THEMES.flatMap((theme) => (['en', 'fr'] as const).map((language) => ({ theme, language })));

describe.each(sample(LOOKS, ({ theme, language }) => theme === 'light' && language === 'en'))(
  '$theme, $language',
  ({ theme, language }) => {
    const open = () =>
      openShop({
        browser: { colorScheme: theme, ...(language === 'fr' && { locale: LOCALES.fr }) },
        fields: { checkout_theme: theme, currency: 'EUR', amount: '1234.5' },
      });

    async function lookAt(page: Page, name: string, inSight = page.getByRole('heading').first()) {
      for (const device of ['desktop', 'phone'] as const) {
        await resize(page, DEVICES[device]);
        await picture(page, `checkout-${name}-${theme}-${device}-${language}`);
        const wrong = await wrongWith(page);
        if (IS_RELEASE || device === 'phone') wrong.push(...(await violationsOf(page)));
        const { y = 0, height = Infinity } = (await inSight.boundingBox()) ?? {};
        if (y + height > DEVICES[device].height) wrong.push(`${inSight} is out of sight`);
        expect({ name, device, wrong }).toEqual({ name, device, wrong: [] });
      }
      const shown = [await page.evaluate('document.documentElement.lang'), await schemeOf(page)];
      expect(shown).toEqual([language, theme]);
    }

    // The steps of a live payment without the panel are checked below.
    test.each(sample(MODES, (mode) => mode === 'sandbox'))(
      'every step of a %s payment fits, axe finds nothing, and the last one leads to the shop',
      async (mode) => {
        const { page, ...at } = await open();
        const types: string[] = [];
        page.on('request', (request) => {
          if (request.url().startsWith(at.sim.url)) types.push(request.resourceType());
        });
        const steps = sample(STEPS, (step) => step.endsWith('refused'));
        await everyStep({ page, ...at }, mode, steps, async (name) => {
          expect(await page.title()).toContain(language === 'fr' ? '1\u202f234,50\u00a0€' : '€1,234.50');
          // Browsers set the focus asynchronously.
          await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT');
          const cancel = page.getByRole('main').getByRole('button', { name: /cancel|annul/i });
          expect(await cancel.allTextContents()).toEqual([language === 'fr' ? 'Annuler' : 'Cancel']);
          await lookAt(page, `${mode}-${name}`, cancel);
        });
        await submit(page, mode === 'live' ? await inboxCode(at.sim) : SANDBOX.code);
        expect(page.url()).toBe(at.fields['success_url']);
        expect(at.visits()).toEqual(['/thanks?order=1']);
        for (const { headers } of at.merchant.requests)
          expect(headers.referer ?? '').not.toContain('payment_id');
        // Each step is one request: the browser loads nothing but pages.
        expect([...new Set(types)]).toEqual(['document']);
        expect(at.errors).toEqual([]);
      },
    );

    test('every final page fits, and axe finds nothing', async () => {
      const at = await open();
      for (const end of sample(ENDS, (name) => name === 'approve')) {
        await openEnd(at, end);
        await lookAt(at.page, `end-${end}`);
      }
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
      browser: { locale: LOCALES.fr, colorScheme: theme === 'dark' ? 'light' : 'dark' },
      fields: { checkout_theme: theme },
    });
    at.fields['site_logo'] = `${at.merchant.url}/gone.png`;
    const steps = sample(STEPS, (step) => step === 'code refused');
    await everyStep(at, mode, steps, async (name) => {
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

/** The part that shows the problem by colour, which forced colours must preserve. */
const MARKS = `[['.problem', '::before']].map(([selector, part]) => {
  const element = document.querySelector(selector);
  const { backgroundColor, backgroundImage } = element ? getComputedStyle(element, part) : {};
  return selector + ': ' + backgroundColor + ' ' + backgroundImage;
})`;

/** With forced colours, buttons and fields are visible only by their borders. */
const EDGELESS = `[...document.querySelectorAll('.button, input:not([type=hidden])')]
  .filter((element) => getComputedStyle(element).borderTopStyle !== 'solid')
  .map(({ outerHTML }) => outerHTML)`;

test.runIf(IS_RELEASE).each(THEMES)(
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
  const texts = {
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
  for (const language of sample(['en', 'fr'] as const, (name) => name === 'en')) {
    const { page } = await openPage({ viewport: PHONE, ...(language === 'fr' && { locale: LOCALES.fr }) });
    const sent = sample(Object.entries(texts), ([name]) => name === 'longest' || name === 'right to left');
    for (const [name, fields] of sent) {
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

  test.runIf(IS_RELEASE).each(THEMES)(
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
    const typical = ['logo-60x900.svg', 'thanks', 'slow.png'];
    for (const [path, selector] of sample(Object.entries(shown), ([name]) => typical.includes(name))) {
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
});

describe('paying', () => {
  test('works with the keyboard alone, with a visible focus, and ends at success_url', async () => {
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
    await page.getByLabel('E-mail').focus();
    await page.keyboard.type(LIVE_EMAIL);
    await page.keyboard.press('Enter');
    await page.getByLabel('Verification code').waitFor();
    await expect.poll(focused).toBe('code');
    await page.keyboard.type('x');
    await page.keyboard.press('Enter');
    expect(await alertOf(page)).toContain('The verification code is wrong');
    await expect.poll(focused).toBe('code');
    await page.keyboard.type(await inboxCode(at.sim));
    await page.keyboard.press('Enter');
    await arrivesAt(page, at.fields['success_url']);
    expect(at.ipns()).toHaveLength(1);
    expect(await statusOf(at.sim)).toBe('succeeded');
    expect(at.errors).toEqual([]);
  });

  test('ignores the second click on a button, which is busy, if the script runs', async () => {
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

  test('works on a phone without a script, from a form on another site to a page behind a redirect', async () => {
    const last = await startReceiver(() => ({
      headers: { 'content-type': 'text/html' },
      body: '<title>last</title><link rel="icon" href="data:,">',
    }));
    const hop = await startReceiver(() => ({ status: 302, headers: { location: `${last.url}/done` } }));
    const { page, sim, fields, errors } = await openShop({
      browser: { viewport: PHONE, isMobile: true, hasTouch: true, javaScriptEnabled: false },
      fields: { success_url: `${hop.url}/back?order=1#paid` },
    });
    const checkout = await sim.initiate(fields, 'live');
    const body = `<link rel="icon" href="data:,"><form method="post" action="${checkout}"><button>Pay</button></form>`;
    const shop = await startReceiver(() => ({ headers: { 'content-type': 'text/html' }, body }));
    // Another site than the emulator's address.
    await page.goto(shop.url.replace('127.0.0.1', 'localhost'));
    await page.getByRole('button').click();
    await page.getByLabel('E-mail').waitFor();
    await submit(page, LIVE_EMAIL);
    await enterCode(page, await inboxCode(sim));
    expect(await page.title()).toBe('last');
    expect(hop.requests.map(({ url }) => url)).toEqual(['/back?order=1']);
    expect(page.url()).toBe(`${last.url}/done#paid`);
    expect(errors).toEqual([]);
  });
});
