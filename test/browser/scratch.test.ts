import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { launchBrowser, openPage } from '../helpers/browser.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

const OUT = new URL('../.artifacts/scratch', import.meta.url).pathname;
mkdirSync(OUT, { recursive: true });
const svg = (w: number, h: number, label: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}"><rect width="${w}" height="${h}" fill="#4338ca"/><text x="${w / 2}" y="${h / 2}" fill="#fff" font-family="sans-serif" font-size="${Math.min(w, h) / 3}" text-anchor="middle">${label}</text></svg>`;

test('gallery', async () => {
  const chromium = await launchBrowser();
  const merchant = await startReceiver((request) => {
    const m = /^\/logo-(\d+)x(\d+)/.exec(request.url);
    if (m)
      return { headers: { 'content-type': 'image/svg+xml' }, body: svg(Number(m[1]), Number(m[2]), 'Shop') };
    if (request.url === '/black')
      return {
        headers: { 'content-type': 'image/svg+xml' },
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="48"><text x="0" y="36" font-size="36" font-weight="700" font-family="sans-serif" fill="#000">Bookly</text></svg>',
      };
    if (request.url === '/white')
      return {
        headers: { 'content-type': 'image/svg+xml' },
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="48"><text x="0" y="36" font-size="36" font-weight="700" font-family="sans-serif" fill="#fff">Bookly</text></svg>',
      };
    if (request.url.startsWith('/empty')) return { headers: { 'content-type': 'image/png' }, body: '' };
    return { status: 404 };
  });
  const sim = await startSim({ currency: ['NPR:Rs'] } as never);
  const bare = await startSim({ panel: false });
  const FIELDS = {
    identifier: 'order-1',
    currency: 'USD',
    amount: '49.9',
    details: 'Two paperbacks and a bookmark',
    ipn_url: `${merchant.url}/ipn`,
    success_url: `${merchant.url}/ok`,
    cancel_url: `${merchant.url}/cart`,
    site_logo: `${merchant.url}/logo-160x48`,
    customer_name: 'Ada',
    customer_email: 'ada@example.com',
  };
  const sheets: Record<string, { name: string; data: string }[]> = {};
  const devices = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 800 } };
  async function shoot(
    sheet: string,
    name: string,
    o: {
      sim?: typeof sim;
      mode?: 'sandbox' | 'live';
      theme?: string;
      device?: keyof typeof devices;
      locale?: string;
      step?: 'email' | 'bademail' | 'code' | 'badcode' | 'resent' | 'fill';
      end?: string;
      stay?: boolean;
      unknown?: boolean;
      fields?: Record<string, string>;
      options?: object;
      before?: string;
    },
  ) {
    const s = o.sim ?? sim;
    const mode = o.mode ?? 'sandbox';
    const context = await chromium.browser.newContext({
      locale: o.locale ?? 'en-US',
      viewport: devices[o.device ?? 'desktop'],
      ...o.options,
    });
    const page = await context.newPage();
    const url = o.unknown
      ? `${s.url}/initiate/payment/checkout?payment_id=nope`
      : await s.initiate({ ...FIELDS, checkout_theme: o.theme ?? 'light', ...o.fields }, mode);
    const id = new URL(url).searchParams.get('payment_id');
    if (o.end)
      await fetch(`${s.url}/_sim/payments/${id}/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ outcome: o.end, delivery: 'redirect-only' }),
      });
    await page.goto(url);
    const main = page.locator('form:has(#email), form:has(#code)').locator('button[type=submit]').first();
    const go = async (value: string) => {
      await page.locator('#email, #code').first().fill(value);
      await Promise.all([page.waitForEvent('load'), main.click()]);
    };
    if (o.step === 'fill') await page.goto(`${url}&fill=1`);
    if (o.step === 'bademail') await go(mode === 'live' ? 'poor@example.com' : 'someone@example.com');
    if (o.step && ['code', 'badcode', 'resent'].includes(o.step)) {
      await go(mode === 'live' ? 'wallet@example.com' : 'test_mode@mail.com');
      if (o.step === 'badcode') await go('000000');
      if (o.step === 'resent') await page.goto(`${url}&resent=1`);
    }
    if (o.stay) {
      await page.evaluate(`fetch`);
      await page.locator('select').selectOption('ipn-only');
      await Promise.all([page.waitForEvent('load'), page.locator('button[value=approve]').click()]);
    }
    if (o.before) await page.evaluate(o.before);
    const file = `${OUT}/${sheet}-${name}.png`;
    await page.screenshot({ path: file, fullPage: true });
    (sheets[sheet] ??= []).push({ name, data: readFileSync(file).toString('base64') });
    await context.close();
  }
  const only = process.env['SHEETS']?.split(',');
  const want = (name: string) => !only || only.includes(name);
  for (const theme of ['light', 'dark'])
    for (const device of ['desktop', 'phone'] as const) {
      const sheet = `${theme}-${device}`;
      if (!want(sheet)) continue;
      await shoot(sheet, 'sandbox-email', { theme, device });
      await shoot(sheet, 'sandbox-bademail', { theme, device, step: 'bademail' });
      await shoot(sheet, 'sandbox-code', { theme, device, step: 'code' });
      await shoot(sheet, 'live-email', { theme, device, mode: 'live' });
      await shoot(sheet, 'live-code', { theme, device, mode: 'live', step: 'code' });
      await shoot(sheet, 'live-badcode', { theme, device, mode: 'live', step: 'badcode' });
    }
  for (const theme of ['light', 'dark'])
    for (const device of ['desktop', 'phone'] as const) {
      const sheet = `ends-${theme}-${device}`;
      if (!want(sheet)) continue;
      for (const end of ['approve', 'cancel', 'fail', 'expire'])
        await shoot(sheet, end, { theme, device, end });
      await shoot(sheet, 'stay', { theme, device, stay: true });
      await shoot(sheet, 'unknown', { theme, device, unknown: true });
    }
  if (want('fr')) {
    for (const device of ['desktop', 'phone'] as const) {
      await shoot('fr', `email-${device}`, {
        device,
        locale: 'fr-CA',
        fields: { currency: 'EUR', amount: '1234.5' },
      });
      await shoot('fr', `live-code-${device}`, {
        device,
        locale: 'fr-FR',
        mode: 'live',
        step: 'badcode',
        fields: { currency: 'CFA', amount: '25000' },
      });
      await shoot('fr', `end-${device}`, { device, locale: 'fr-FR', end: 'approve' });
    }
  }
  if (want('logos'))
    for (const [name, path] of [
      ['wide', 'logo-900x60'],
      ['tall', 'logo-60x900'],
      ['huge', 'logo-4000x4000'],
      ['tiny', 'logo-8x8'],
      ['empty', 'empty'],
      ['broken', 'nope.png'],
    ]) {
      await shoot('logos', name!, { device: 'phone', fields: { site_logo: `${merchant.url}/${path}` } });
    }
  if (want('trans'))
    for (const theme of ['light', 'dark'])
      for (const logo of ['black', 'white'])
        await shoot('trans', `${theme}-${logo}`, {
          theme,
          device: 'phone',
          fields: { site_logo: `${merchant.url}/${logo}` },
        });
  if (want('stress')) {
    await shoot('stress', 'longest-phone', {
      device: 'phone',
      fields: {
        identifier: 'W'.repeat(20),
        amount: '12345678901234567890.12345678',
        details: 'W'.repeat(100),
        currency: 'GNF',
      },
    });
    await shoot('stress', 'longest-desktop', {
      fields: {
        identifier: 'W'.repeat(20),
        amount: '12345678901234567890.12345678',
        details: 'W'.repeat(100),
        currency: 'GNF',
      },
    });
    await shoot('stress', 'eight-phone', {
      device: 'phone',
      fields: { amount: '0.00000001', currency: 'EUR' },
    });
    await shoot('stress', 'million-phone', {
      device: 'phone',
      fields: { amount: '1234567.89', currency: 'USD' },
    });
    await shoot('stress', 'rtl-phone', {
      device: 'phone',
      fields: { details: 'كتابان وشريط مرجعي - order 12', identifier: 'طلب-12 (a)' },
    });
    await shoot('stress', '320-bademail', {
      device: 'phone',
      step: 'bademail',
      options: { viewport: { width: 320, height: 256 } },
    });
    await shoot('stress', 'forced', {
      device: 'desktop',
      step: 'bademail',
      options: { forcedColors: 'active' },
    });
    await shoot('stress', 'bare-live-code', { sim: bare, device: 'desktop', mode: 'live', step: 'code' });
  }
  for (const [sheet, shots] of Object.entries(sheets)) {
    const phone = sheet.includes('phone') || sheet === 'logos';
    const { page } = await openPage(chromium.browser, {
      viewport: { width: phone ? 2280 : 2000, height: 400 },
    });
    await page.setContent(
      `<body style="margin:8px;background:#888;font:14px sans-serif;display:grid;grid-template-columns:repeat(${phone ? 6 : 3},1fr);gap:8px;align-items:start">${shots.map((s) => `<figure style="margin:0"><figcaption>${s.name}</figcaption><img style="max-width:100%" src="data:image/png;base64,${s.data}"></figure>`).join('')}`,
    );
    await page.screenshot({ path: `${OUT}/sheet-${sheet}.png`, fullPage: true });
  }
  await chromium.close();
}, 300_000);
