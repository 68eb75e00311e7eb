import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violationsOf } from '../helpers/axe.ts';
import { picture, resize } from '../helpers/browser.ts';
import { gate } from '../helpers/receiver.ts';
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
  toCodeStep,
} from '../helpers/shop.ts';

const DEVICES = { desktop: DESKTOP, phone: PHONE } as const;
const LOCALES = { en: 'en-US', fr: 'fr-CA' } as const;
const CASES = (['light', 'dark'] as const).flatMap((theme) =>
  (['en', 'fr'] as const).map((language) => ({ theme, language })),
);

/** Looks at a page in windows of several sizes. */
async function onEach<Name extends string>(
  page: Page,
  sizes: Readonly<Record<Name, { width: number; height: number }>>,
  look: (name: Name) => Promise<void>,
): Promise<void> {
  for (const name of Object.keys(sizes) as Name[]) {
    await resize(page, sizes[name]);
    await look(name);
  }
}

/** Presses the main button of a step, whatever its language. */
async function submit(page: Page, value: string): Promise<void> {
  await page.locator('#email, #code').fill(value);
  const loaded = page.waitForEvent('load');
  await page.locator('form.main button').click();
  await loaded;
}

/** Goes through all that a checkout can show while it waits, and stops at each. */
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

/** Goes through all the pages on which a checkout can end. */
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

/** What spills over the edge of the page, and what is too small to be pressed (WCAG 2.2, 2.5.8). */
function misfits(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const name = (element) => element.tagName + ' ' + (element.id || element.textContent.trim().slice(0, 30));
    const wide = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1,
    );
    const small = [...document.querySelectorAll('a, button, summary, select, input:not([type=hidden])')].filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width < 24 || height < 24;
    });
    const scrolls = document.documentElement.scrollWidth > document.documentElement.clientWidth;
    return [
      ...(scrolls ? ['the page scrolls sideways'] : []),
      ...wide.map((element) => 'too wide: ' + name(element)),
      ...small.map((element) => 'too small: ' + name(element)),
    ];
  })()`);
}

describe.each(CASES)('$theme, $language, on a desktop and on a phone', ({ theme, language }) => {
  const open = () =>
    openShop({
      browser: { locale: LOCALES[language], colorScheme: theme },
      fields: { checkout_theme: theme, currency: 'EUR', amount: '1234.5' },
    });

  async function look({ page }: Shop, name: string, device: string): Promise<void> {
    await picture(page, `checkout-${name}-${theme}-${device}-${language}`);
    expect([name, device, ...(await misfits(page))]).toEqual([name, device]);
    expect([name, device, ...(await violationsOf(page))]).toEqual([name, device]);
    expect(await page.evaluate('document.documentElement.lang')).toBe(language);
    const scheme = 'getComputedStyle(document.documentElement).colorScheme';
    expect(await page.evaluate(scheme)).toBe(theme);
  }

  test.each(MODES)('every page of a %s payment fits, and axe finds nothing', async (mode) => {
    const at = await open();
    await everyStep(at, mode, async (name) => {
      expect(await at.page.title()).toContain(language === 'fr' ? '1\u202f234,50\u00a0€' : '€1,234.50');
      // The browser gives the focus in its own time.
      await expect.poll(() => at.page.evaluate('document.activeElement.tagName')).toBe('INPUT');
      const cancel = at.page.getByRole('button', { name: /cancel|annul/i });
      expect(await cancel.allTextContents()).toEqual([language === 'fr' ? 'Annuler' : 'Cancel']);
      await onEach(at.page, DEVICES, async (device) => {
        await look(at, `${mode}-${name}`, device);
        const ends = (await cancel.boundingBox().then((box) => box && box.y + box.height)) ?? Infinity;
        const seen = ends <= DEVICES[device].height ? 'in sight' : ends;
        expect([name, device, seen]).toEqual([name, device, 'in sight']);
      });
    });
    expect(at.errors).toEqual([]);
  });

  test('every page on which it ends fits, and axe finds nothing', async () => {
    const at = await open();
    await everyEnd(at, (name) => onEach(at.page, DEVICES, (device) => look(at, `end-${name}`, device)));
  });
});

test.each(['light', 'dark'] as const)(
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
    expect([...(await misfits(page)), ...(await violationsOf(page))]).toEqual([]);
  },
);

test.each(['light', 'dark'] as const)(
  'a live checkout without a panel whose logo is not found fits, and axe finds nothing (%s)',
  async (theme) => {
    const sizes = { ...DEVICES, tablet: { width: 768, height: 800 }, narrow: { width: 320, height: 568 } };
    const at = await openShop({
      start: { panel: false },
      browser: { locale: 'fr-FR' },
      fields: { checkout_theme: theme },
    });
    at.fields['site_logo'] = `${at.merchant.url}/gone.png`;
    await everyStep(at, 'live', (name) =>
      onEach(at.page, sizes, async (device) => {
        await picture(at.page, `checkout-bare-${name}-${theme}-${device}`);
        const wrong = [...(await misfits(at.page)), ...(await violationsOf(at.page))];
        expect([name, device, ...wrong]).toEqual([name, device]);
      }),
    );
  },
);

describe('the theme', () => {
  test('is the one that the merchant asked for, whatever the browser prefers', async () => {
    const at = await openShop({ browser: { colorScheme: 'dark' }, fields: { checkout_theme: 'light' } });
    await arrive(at);
    expect(await at.page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
  });
});

describe('what merchants send', () => {
  const LONG = { identifier: 'W'.repeat(20), details: 'W'.repeat(100) };
  test.each([
    {
      name: 'all at its longest',
      fields: { ...LONG, currency: 'GNF', amount: '12345678901234567890.12345678' },
    },
    { name: 'eight decimals', fields: { currency: 'EUR', amount: '0.00000001' } },
    { name: 'millions', fields: { currency: 'USD', amount: '1234567.89' } },
    { name: 'CFA', fields: { currency: 'CFA', amount: '25000' } },
    { name: 'right to left', fields: { details: 'كتابان وشريط مرجعي (2)', identifier: 'طلب-12' } },
  ])('$name fits a phone, and the amount breaks between groups only', async ({ name, fields }) => {
    for (const locale of ['en-US', 'fr-FR']) {
      const at = await openShop({ browser: { viewport: PHONE, locale }, fields });
      await arrive(at, 'live');
      await picture(at.page, `checkout-${name.replaceAll(' ', '-')}-${locale}`);
      expect(await misfits(at.page)).toEqual([]);
      const lines = await at.page.evaluate<number[]>(`(() => {
        const amount = document.querySelector('.amount');
        const texts = [...amount.childNodes].filter(({ nodeType }) => nodeType === 3);
        return texts.map((text) => {
          const range = document.createRange();
          range.selectNodeContents(text);
          return range.getClientRects().length;
        });
      })()`);
      expect(lines.every((count) => count === 1)).toBe(true);
    }
  });

  test('is read in the order: who, how much, what for', async () => {
    const { page, ...at } = await openShop();
    await arrive({ page, ...at });
    const main = await page.getByRole('main').innerText();
    const order = [
      'Pay Demo',
      '$49.90',
      'Two paperbacks',
      'order-1',
      'Step 1 of 2',
      'Continue',
      'What happens',
    ];
    const places = order.map((text) => main.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
});

describe('the logo', () => {
  const inSight = (page: Page, selector: string) =>
    page.evaluate<boolean>(`(() => {
      const box = document.querySelector('.logo').getBoundingClientRect();
      const { width, top } = document.querySelector('${selector}').getBoundingClientRect();
      return width > 0 && top < box.bottom;
    })()`);

  /** The darkest pixel of a picture and the one in the middle, from 0 to 255. */
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

  test.each(['light', 'dark'])(
    'that is black on transparent is seen on a %s page',
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

  test.each([
    { logo: 'is usual', path: '/logo-160x48.svg', shown: 'img' },
    { logo: 'is wide', path: '/logo-900x60.svg', shown: 'img' },
    { logo: 'is tall', path: '/logo-60x900.svg', shown: 'img' },
    { logo: 'is huge', path: '/logo-4000x4000.svg', shown: 'img' },
    { logo: 'is tiny', path: '/logo-4x4.svg', shown: 'img' },
    { logo: 'is empty', path: '/empty.png', shown: '.monogram' },
    { logo: 'is not found', path: '/gone.png', shown: '.monogram' },
    { logo: 'is no image', path: '/thanks', shown: '.monogram' },
    { logo: 'never comes', path: '/slow.png', shown: '.monogram' },
  ])('that $logo leaves its box as it is, and $shown is seen', async ({ logo, path, shown }) => {
    const { page, ...at } = await openShop();
    at.fields['site_logo'] = at.merchant.url + path;
    // A dark page has a plate behind the logo, which must not take room either.
    const url = await at.sim.initiate({ ...at.fields, checkout_theme: 'dark' });
    await page.goto(url, { waitUntil: path === '/slow.png' ? 'domcontentloaded' : 'load' });
    expect(await inSight(page, '.logo img')).toBe(shown === 'img');
    expect(await inSight(page, '.monogram')).toBe(shown === '.monogram');
    const box = await page.locator('.logo').boundingBox();
    expect([box?.width, box?.height]).toEqual([208, 56]);
    // No picture is to be had of a page that still loads.
    if (path !== '/slow.png') await picture(page, `checkout-logo-${logo.replaceAll(' ', '-')}`);
  });

  test('that comes late moves nothing but the letter whose place it takes', async () => {
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
    open();
    await page.waitForLoadState('load');
    await page.evaluate(painted);
    expect(await inSight(page, '.logo img')).toBe(true);
    expect(await page.evaluate('window.moved')).toEqual([]);
  });
});

describe('eyes and hands of all kinds', () => {
  test.each(MODES)('at 320 pixels, as with a zoom of 400 %, a %s payment loses nothing', async (mode) => {
    const at = await openShop({ browser: { viewport: { width: 320, height: 256 }, locale: 'fr-FR' } });
    await everyStep(at, mode, async (name) => {
      expect([name, ...(await misfits(at.page))]).toEqual([name]);
    });
    await picture(at.page, `checkout-320-${mode}`);
  });

  test('wider spacing of the text cuts nothing off (WCAG 1.4.12)', async () => {
    const at = await openShop({ browser: { viewport: PHONE, bypassCSP: true } });
    await everyStep(at, 'live', async (name) => {
      await at.page.addStyleTag({
        content:
          '* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important } p { margin-bottom: 2em !important }',
      });
      expect([name, ...(await misfits(at.page))]).toEqual([name]);
    });
    await picture(at.page, 'checkout-spaced');
  });

  test('forced colours leave edges, the step and the problem to be seen', async () => {
    const at = await openShop({ browser: { forcedColors: 'active' } });
    await everyStep(at, 'live', async (name) => {
      await picture(at.page, `checkout-forced-${name}`);
      expect([name, ...(await violationsOf(at.page))]).toEqual([name]);
    });
  });

  test('nothing moves for who wants no motion', async () => {
    const at = await openShop({ browser: { reducedMotion: 'reduce' } });
    await toCodeStep(at, 'sandbox');
    const moving = await at.page.evaluate(`[...document.querySelectorAll('*')].filter((element) => {
      const { transitionDuration, animationName } = getComputedStyle(element);
      return transitionDuration !== '0s' || animationName !== 'none';
    }).length`);
    expect(moving).toBe(0);
  });

  test('the simulator panel folds away and back without JavaScript', async () => {
    const at = await openShop({ browser: { javaScriptEnabled: false } });
    await arrive(at);
    const approve = at.page.getByRole('button', { name: 'Approve' });
    expect(await approve.isVisible()).toBe(true);
    await at.page.getByText('Not part of the page').click();
    expect(await approve.isVisible()).toBe(false);
    await at.page.getByText('Not part of the page').click();
    expect(await approve.isVisible()).toBe(true);
  });
});
