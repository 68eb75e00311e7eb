import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';
import { launchOptions } from './chromium.ts';
import { temporaryFolder } from './folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The DevTools address of this run's Chromium. */
    chromium: string;
  }
}

let connected: Promise<Browser> | undefined;

/** The Chromium of this run. All workers share it, because each test has its own context. */
function sharedBrowser(): Promise<Browser> {
  connected ??= chromium.connect(inject('chromium'));
  return connected;
}

/** Starts a headless Chromium for one test. It is closed at the end of that test. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const { args, ...options } = await launchOptions(await temporaryFolder());
  const browser = await chromium.launch({ ...options, args: [...args, ...more] });
  onTestFinished(() => browser.close());
  return browser;
}

const PICTURES = fileURLToPath(new URL('../.artifacts', import.meta.url));

/** Saves a screenshot of the whole page, its visible part, or the part with these elements if PICTURES=1 is set. */
export async function picture(
  of: Page | Locator,
  name: string,
  what: 'whole' | 'in sight' | readonly Locator[] = 'whole',
): Promise<void> {
  if (!process.env['PICTURES']) return;
  const path = `${PICTURES}/${name}.png`;
  if (typeof what === 'object' && 'goto' in of) {
    await of.screenshot({ path, fullPage: true, clip: await boxAround(what) });
    return;
  }
  await ('goto' in of ? of.screenshot({ path, fullPage: what === 'whole' }) : of.screenshot({ path }));
}

/** The smallest box around elements, with a margin. */
async function boxAround(elements: readonly Locator[]) {
  const margin = 16;
  const all = await Promise.all(elements.map((element) => element.boundingBox()));
  const boxes = all.filter((box) => box !== null);
  const [x, y] = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x: x - margin, y: y - margin, width: right - x + 2 * margin, height: bottom - y + 2 * margin };
}

/** Resizes the window of a page, and waits until the page has the new size. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await expect.poll(() => page.evaluate('[innerWidth, innerHeight]')).toEqual([size.width, size.height]);
}

/** A page in a new browser context, and all errors in its console. */
export interface TestPage {
  page: Page;
  /** Errors from scripts, the content security policy, and resources that did not load. */
  errors: string[];
}

/**
 * Opens a page in its own context for one test; both are closed at the end of that test.
 *
 * @param own a browser to use instead of the shared one
 */
export async function openPage(options: BrowserContextOptions = {}, own?: Browser): Promise<TestPage> {
  const browser = own ?? (await sharedBrowser());
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  return { page, errors };
}

/** Opens a page of an emulator's dashboard, and waits until it receives events. */
export async function openDashboard(
  { url }: { url: string },
  path: string,
  options: BrowserContextOptions = {},
): Promise<TestPage> {
  const opened = await openPage(options);
  await opened.page.goto(url + path);
  await opened.page.locator('#live.on').waitFor();
  return opened;
}
