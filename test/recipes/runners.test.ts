import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { launchOptions } from '../helpers/chromium.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { createProject, expectPass, missingRunner } from './project.ts';

const project = await createProject(['vitest', '@playwright/test']);
afterAll(() => project.remove());

const VITEST = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run'];
const PLAYWRIGHT = [process.execPath, 'node_modules/@playwright/test/cli.js', 'test'];

const INITIAL = new Set(await readdir(project.folder));

beforeEach(async () => {
  const files = await readdir(project.folder);
  for (const file of files) if (!INITIAL.has(file)) await rm(join(project.folder, file), { recursive: true });
  await project.shop();
});

async function configurePlaywright() {
  const options = await launchOptions(await temporaryFolder());
  await project.write(
    'playwright.config.mjs',
    `export default { reporter: 'line', use: { launchOptions: ${JSON.stringify(options)} } };`,
  );
}

test.each([
  ['Vitest with one emulator per file', ['shop.test.mjs'], VITEST, /Tests +1 passed/],
  [
    'Vitest with one emulator for all files',
    ['vitest.config.mjs', 'gateway.mjs', 'connected.test.mjs'],
    VITEST,
    /Tests +1 passed/,
  ],
  ['node:test', ['shop.node-test.mjs'], [process.execPath, '--test', 'shop.node-test.mjs'], /pass 1\n/],
])('the recipe for %s passes and leaves nothing open', async (_, files, runner, passed) => {
  await project.recipes(...files);
  await expectPass(project, runner, passed);
});

const init = (flag: string) => project.run(['node_modules/.bin/gateway-sim', 'init', flag]);

test('the files that init --vitest writes pass unchanged', async () => {
  expect((await init('--vitest')).code).toBe(0);
  await expectPass(project, VITEST, /Tests +1 passed/);
});

test('the files that init --node writes pass unchanged', async () => {
  expect((await init('--node')).code).toBe(0);
  await expectPass(project, [process.execPath, '--test'], /pass 1\n/);
});

const why = missingRunner('@playwright/test');

test.skipIf(why)(`the recipe for Playwright passes and leaves nothing open${why}`, async () => {
  await configurePlaywright();
  await project.recipes('shop.spec.mjs');
  await expectPass(project, PLAYWRIGHT, /1 passed/);
});

test.skipIf(why)(`the files that init --playwright writes pass unchanged${why}`, async () => {
  await configurePlaywright();
  expect((await init('--playwright')).code).toBe(0);
  await expectPass(project, PLAYWRIGHT, /1 passed/);
});
