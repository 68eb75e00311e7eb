import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { launchOptions } from './chromium.ts';
import { temporaryFolder } from './folder.ts';

/** The Chromium of the current test file: its own, because a browser that workers share doubles the work of each call. */
let browser: Browser | undefined;
/** A page that an earlier test has left: a new one costs more processor time than most of what a test does with it. */
let spare: Page | undefined;

/** Starts a headless Chromium for the tests of a file, which open one page at a time. */
export function withBrowser(): void {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chromium-'));
    browser = await chromium.launch(await launchOptions(folder));
  });
  afterAll(async () => {
    await browser?.close();
    spare = undefined;
    // Chromium leaves folders behind.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  });
}

/** Starts a headless Chromium for one test. It is closed at the end of that test. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const { args, ...options } = await launchOptions(await temporaryFolder());
  const own = await chromium.launch({ ...options, args: [...args, ...more] });
  onTestFinished(() => own.close());
  return own;
}

const PICTURES = fileURLToPath(new URL('../.artifacts', import.meta.url));

/** Saves a screenshot of the whole page, its visible part, or an element if PICTURES=1 is set. */
export async function picture(
  of: Page | Locator,
  name: string,
  what: 'whole' | 'in sight' = 'whole',
): Promise<void> {
  if (!process.env['PICTURES']) return;
  const path = `${PICTURES}/${name}.png`;
  await ('goto' in of ? of.screenshot({ path, fullPage: what === 'whole' }) : of.screenshot({ path }));
}

/** Resizes the window of a page, and waits until the page has the new size. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await expect.poll(() => page.evaluate('[innerWidth, innerHeight]')).toEqual([size.width, size.height]);
}

/** A page, and all errors in its console. */
export interface TestPage {
  page: Page;
  /** Errors from scripts, the content security policy, and resources that did not load. */
  errors: string[];
}

export interface PageOptions extends Omit<BrowserContextOptions, 'viewport' | 'colorScheme'> {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
  /** Required if the test changes the page's clock, which cannot be undone. */
  isNew?: boolean;
}

/**
 * Opens a page for one test. It may have been used by an earlier test, unless other options than `viewport` and
 * `colorScheme` are given, but has no cookies, permissions, routes and listeners of that test.
 *
 * @param own a browser to use instead of the file's
 */
export async function openPage(options: PageOptions = {}, own?: Browser): Promise<TestPage> {
  const { viewport = { width: 1280, height: 720 }, colorScheme = 'light', isNew, ...ofContext } = options;
  const isReusable = !isNew && own === undefined && Object.keys(ofContext).length === 0;
  const page = (isReusable && spare) || (await newPage(own ?? browser, ofContext));
  if (page === spare) spare = undefined;
  onTestFinished(async ({ task }) => {
    if (isReusable && task.result?.state !== 'fail') await leave(page);
    else await page.context().close();
  });
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
  return { page, errors };
}

async function newPage(of: Browser | undefined, options: BrowserContextOptions): Promise<Page> {
  if (!of) throw new Error('a file with pages calls withBrowser()');
  const context = await of.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(60_000);
  return context.newPage();
}

const LISTENED = ['console', 'pageerror', 'dialog', 'framenavigated', 'load', 'popup', 'request'] as const;

/** Removes everything that a test left in its page, for the next one. */
async function leave(page: Page): Promise<void> {
  for (const event of LISTENED) page.removeAllListeners(event);
  for (const popup of page.context().pages()) if (popup !== page) await popup.close();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.context().clearPermissions();
  await page.emulateMedia({ media: null, reducedMotion: 'reduce', forcedColors: null });
  spare = page;
}

/** Opens a page of an emulator's dashboard, and waits until it receives events. */
export async function openDashboard(
  { url }: { url: string },
  path: string,
  options: PageOptions = {},
): Promise<TestPage> {
  const opened = await openPage(options);
  await opened.page.goto(url + path);
  await opened.page.locator('#live.on').waitFor();
  return opened;
}
