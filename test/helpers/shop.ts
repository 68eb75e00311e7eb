import type { Page } from 'playwright-core';
import type { StartOptions } from '../../src/options/start-options.ts';
import { openPage, type PageOptions, type TestPage } from './browser.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';
import { ask, type Sim, startSim } from './sim.ts';

export const MODES = ['sandbox', 'live'] as const;
export type Mode = (typeof MODES)[number];

export const SANDBOX = { email: 'test_mode@mail.com', code: '222666' };
export const LIVE_EMAIL = 'wallet@example.com';
export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 1280, height: 800 };

/** All parts of a checkout: the emulator, the merchant on another port, and a browser's page. */
export interface Shop extends TestPage {
  sim: Sim;
  merchant: Receiver;
  fields: Record<string, string>;
  /** The path and query of every visit to the merchant's pages. */
  visits: () => string[];
  ipns: () => Received[];
}

interface ShopOptions {
  start?: StartOptions;
  browser?: PageOptions;
  fields?: Record<string, string>;
}

/** A logo as an SVG image. */
const logo = (width: string, height: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="#4338ca"/></svg>`;

/** Starts an emulator and a merchant, and opens a page, until the end of the test. */
export async function openShop({ start, browser, fields }: ShopOptions = {}): Promise<Shop> {
  const merchant = await startReceiver(merchantAnswer);
  const sim = await startSim(start);
  return {
    sim,
    merchant,
    fields: { ...orderAt(merchant.url), ...fields },
    visits: () => merchant.requests.filter(({ url }) => /^\/(thanks|cart)/.test(url)).map(({ url }) => url),
    ipns: () => merchant.requests.filter(({ url }) => url.startsWith('/ipn')),
    ...(await openPage({ viewport: DESKTOP, ...browser })),
  };
}

/** The merchant's pages, IPN receiver and logos: `/logo-160x48.svg`, one that never loads, and an empty one. */
function merchantAnswer({ url }: Received) {
  const [, width, height] = /^\/logo-(\d+)x(\d+)/.exec(url) ?? [];
  if (width && height) return { headers: { 'content-type': 'image/svg+xml' }, body: logo(width, height) };
  if (url === '/empty.png') return { headers: { 'content-type': 'image/png' }, body: '' };
  if (url === '/slow.png') return 'hang' as const;
  if (url.startsWith('/ipn')) return { body: 'OK' };
  if (/^\/(thanks|cart)/.test(url)) {
    const body = '<!doctype html><title>shop</title><link rel="icon" href="data:,"><h1>The shop</h1>';
    return { headers: { 'content-type': 'text/html' }, body };
  }
  return { status: 404 };
}

function orderAt(merchant: string): Record<string, string> {
  return {
    identifier: 'order-1',
    currency: 'USD',
    amount: '49.9',
    details: 'Two paperbacks',
    ipn_url: `${merchant}/ipn?order=1`,
    success_url: `${merchant}/thanks?order=1`,
    cancel_url: `${merchant}/cart`,
    site_logo: `${merchant}/logo-160x48.svg`,
    customer_name: 'Ada Lovelace',
    customer_email: 'ada@example.com',
  };
}

/** Initiates a payment and opens its checkout. */
export async function arrive({ sim, page, fields }: Shop, mode: Mode = 'sandbox'): Promise<string> {
  const url = await sim.initiate(fields, mode);
  await page.goto(url);
  return url;
}

/** Presses a button and waits for the next page. */
async function press(page: Page, name: string | RegExp): Promise<void> {
  const loaded = page.waitForEvent('load');
  await page.getByRole('button', { name, exact: true }).click();
  await loaded;
}

async function enterEmail(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await press(page, /^Contin/);
}

export async function enterCode(page: Page, code: string): Promise<void> {
  await page.locator('#code').fill(code);
  await press(page, /^(Pay|Payer) /);
}

/** The newest code in the emulated inbox. */
export async function inboxCode(sim: Sim): Promise<string> {
  const { data } = await sim.control<{ data: { code: string }[] }>('/inbox');
  return data[0]?.code ?? '';
}

export async function toCodeStep(shop: Shop, mode: Mode): Promise<string> {
  const url = await arrive(shop, mode);
  await enterEmail(shop.page, mode === 'live' ? LIVE_EMAIL : SANDBOX.email);
  await shop.page.locator('#code').waitFor();
  return url;
}

export async function statusOf(sim: Sim, identifier = 'order-1'): Promise<string> {
  return (await sim.control<{ status: string }>(`/payments/${identifier}`)).status;
}

/** Settles a payment with the control API. */
export async function settle(sim: Sim, outcome: string, identifier = 'order-1'): Promise<void> {
  await ask(sim, 'POST', `/payments/${identifier}/settle`, { outcome });
}

export const alertOf = (page: Page) => page.getByRole('alert').textContent();
