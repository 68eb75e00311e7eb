import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { launchOptions } from '../helpers/chromium.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { createProject } from './project.ts';

const project = await createProject(['vitest', 'jest', '@playwright/test']);
afterAll(() => project.remove());

const VITEST = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run'];
const JEST = [process.execPath, 'node_modules/jest/bin/jest.js'];
const PLAYWRIGHT = [process.execPath, 'node_modules/@playwright/test/cli.js', 'test'];

const INITIAL = new Set(await readdir(project.folder));

beforeEach(async () => {
  const files = await readdir(project.folder);
  for (const file of files) if (!INITIAL.has(file)) await rm(join(project.folder, file), { recursive: true });
  await project.recipes('shop.cjs');
});

async function expectPass(runner: readonly string[], passed: RegExp) {
  const { code, output } = await project.run(runner);
  expect([code, output]).toEqual([0, expect.stringMatching(passed)]);
  expect(output).not.toMatch(/did not (exit|close)|close timed out|open handle/i);
}

async function configurePlaywright() {
  const options = await launchOptions(await temporaryFolder());
  await project.write(
    'playwright.config.mjs',
    `export default { reporter: 'line', use: { launchOptions: ${JSON.stringify(options)} } };`,
  );
}

/** The page's text about the tests of this set-up: they connect instead of starting their own emulator. */
const CONNECTED = `
  const { connectGatewaySim } = require('gateway-sim');
  test('the emulator of the set-up answers', async () => {
    const sim = await connectGatewaySim();
    expect(await sim.payments.list()).toEqual({ data: [], nextCursor: null });
  });`;

test.each([
  ['Vitest with one emulator per file', ['shop.test.mjs'], VITEST, /Tests +1 passed/],
  [
    'Vitest with one emulator for all files',
    ['vitest.config.mjs', 'gateway.mjs', 'connected.test.mjs'],
    VITEST,
    /Tests +1 passed/,
  ],
  ['Jest with one emulator per file', ['shop.test.js'], JEST, /Tests: +1 passed/],
  [
    'Jest with one emulator for all files',
    ['jest.config.js', 'start.js', 'stop.js'],
    JEST,
    /Tests: +1 passed/,
  ],
  ['Playwright with one emulator per worker', ['shop.spec.mjs'], PLAYWRIGHT, /1 passed/],
  ['node:test', ['shop.node-test.mjs'], [process.execPath, '--test', 'shop.node-test.mjs'], /pass 1\n/],
])('the recipe for %s passes and leaves nothing open', async (_, files, runner, passed) => {
  if (runner === PLAYWRIGHT) await configurePlaywright();
  if (files.includes('start.js')) await project.write('connected.test.js', CONNECTED);
  await project.recipes(...files);
  await expectPass(runner, passed);
});

test.each([
  ['vitest', VITEST, /Tests +1 passed/],
  ['jest', JEST, /Tests: +1 passed/],
  ['playwright', PLAYWRIGHT, /1 passed/],
])('the files that init --%s writes pass unchanged', async (name, runner, passed) => {
  if (name === 'playwright') await configurePlaywright();
  expect((await project.run(['node_modules/.bin/gateway-sim', 'init', `--${name}`])).code).toBe(0);
  await expectPass(runner, passed);
});
