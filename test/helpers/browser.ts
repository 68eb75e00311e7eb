import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';

/** What Chromium needs in a container without a display. */
export const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-quic',
];

const INSTALLED = ['google-chrome', 'google-chrome-stable', 'chromium', 'chromium-browser'];

/** A headless Chromium for the tests of one file, with a profile of its own. */
export interface TestBrowser {
  browser: Browser;
  /** Ends it and removes what it left on disk. */
  close: () => Promise<void>;
}

/** A Chromium on this machine, and the variables that it needs. */
export interface Executable {
  path: string;
  environment: Record<string, string>;
}

/**
 * Starts Chromium: the one that CHROMIUM_PATH names, else an installed one, else the one from npm.
 *
 * @param more further arguments of its command line
 */
export async function launchBrowser(more: readonly string[] = []): Promise<TestBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-browser-'));
  // A process of the browser may still be writing there.
  const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  try {
    const { path, environment } = await findExecutable(folder);
    const browser = await chromium.launch({
      executablePath: path,
      args: [...ARGUMENTS, ...more],
      env: { ...definedEnvironment(), TMPDIR: folder, ...environment },
    });
    const close = async () => {
      await browser.close();
      await removeFolder();
    };
    return { browser, close };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Chromium for the tests. One from npm is unpacked into the folder. */
export async function findExecutable(folder: string): Promise<Executable> {
  const named = process.env['CHROMIUM_PATH'];
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH names ${named}, which does not exist`);
    return { path: named, environment: {} };
  }
  const installed = INSTALLED.map(onPath).find((path) => path !== undefined);
  return installed === undefined ? unpackChromium(folder) : { path: installed, environment: {} };
}

function onPath(name: string): string | undefined {
  try {
    return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

/**
 * Unpacks the Chromium of the npm package. It takes the temporary folder as its own, so it gets one that no other
 * run has; its libraries and its font serve machines that have none.
 */
async function unpackChromium(folder: string): Promise<Executable> {
  const before = { ...process.env };
  try {
    process.env['TMPDIR'] = folder;
    // Only for this machine it unpacks the libraries too.
    process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs22.x';
    const { default: packed } = await import('@sparticuz/chromium');
    const path = await packed.executablePath();
    const fonts = join(folder, 'fonts.conf');
    await writeFile(fonts, fontConfiguration(folder));
    const libraries = [join(folder, 'al2023', 'lib'), before['LD_LIBRARY_PATH']].filter(Boolean).join(':');
    return { path, environment: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fonts } };
  } finally {
    for (const name of ['TMPDIR', 'AWS_LAMBDA_JS_RUNTIME', 'FONTCONFIG_PATH', 'LD_LIBRARY_PATH']) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}

function definedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

const PICTURES = fileURLToPath(new URL('../.artifacts', import.meta.url));

/** Keeps a picture of the whole page, for people to look at, where PICTURES=1 asks for them. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['PICTURES']) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
}

/** Gives the window of a page another size, as that page sees it. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(size);
  await expect.poll(() => page.evaluate('[innerWidth, innerHeight]')).toEqual([size.width, size.height]);
}

/** A page of a fresh browser context, and every error that its console showed. */
export interface TestPage {
  page: Page;
  /** Of scripts, of the content security policy, and of resources that did not load. */
  errors: string[];
}

/** Opens a page in a context of its own for the test that asks; both are closed when that test is over. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<TestPage> {
  const context = await browser.newContext({ locale: 'en-US', ...options });
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
