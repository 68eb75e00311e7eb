import { rm } from 'node:fs/promises';
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

const FILES = [
  'shop.test.mjs',
  'vitest.config.mjs',
  'gateway.mjs',
  'connected.test.mjs',
  'shop.test.js',
  'connected.test.js',
  'jest.config.js',
  'start.js',
  'stop.js',
  'shop.spec.mjs',
  'shop.node-test.mjs',
  'playwright.config.mjs',
  'ipn.cjs',
  'gateway-sim.test.mjs',
  'gateway-sim.test.cjs',
  'gateway-sim.spec.mjs',
];

beforeEach(async () => {
  for (const file of FILES) await rm(join(project.folder, file), { force: true });
  await project.recipes('shop.cjs');
});

test('Vitest with one emulator per file', async () => {
  await project.recipes('shop.test.mjs');
  const { code, output } = await project.run([...VITEST]);
  expect(output).toMatch(/Tests +1 passed/);
  expect(code).toBe(0);
});

test('Vitest with one emulator for all files', async () => {
  await project.recipes('vitest.config.mjs', 'gateway.mjs', 'connected.test.mjs');
  const { code, output } = await project.run([...VITEST]);
  expect(output).toMatch(/Tests +1 passed/);
  expect(output).not.toMatch(/did not (exit|close)|close timed out/i);
  expect(code).toBe(0);
});

test('Jest with one emulator per file', async () => {
  await project.recipes('shop.test.js');
  const { code, output } = await project.run(JEST);
  expect(output).toMatch(/Tests: +1 passed/);
  expect(output).not.toMatch(/did not exit|open handle/i);
  expect(code).toBe(0);
});

test('Jest with one emulator for all files', async () => {
  await project.recipes('jest.config.js', 'start.js', 'stop.js');
  // The page's text about the tests of this set-up: they connect instead of starting their own.
  const connected = `
    const { connectGatewaySim } = require('gateway-sim');
    test('the emulator of the set-up answers', async () => {
      const sim = await connectGatewaySim();
      expect(await sim.payments.list()).toEqual({ data: [], nextCursor: null });
    });`;
  await project.write('connected.test.js', connected);
  const { code, output } = await project.run(JEST);
  expect(output).toMatch(/Tests: +1 passed/);
  expect(output).not.toMatch(/did not exit|open handle/i);
  expect(code).toBe(0);
});

async function configurePlaywright() {
  const options = await launchOptions(await temporaryFolder());
  await project.write(
    'playwright.config.mjs',
    `export default { reporter: 'line', use: { launchOptions: ${JSON.stringify(options)} } };`,
  );
}

test('Playwright with one emulator per worker', async () => {
  await configurePlaywright();
  await project.recipes('shop.spec.mjs');
  const { code, output } = await project.run(PLAYWRIGHT);
  expect(output).toMatch(/1 passed/);
  expect(code).toBe(0);
});

test('node:test', async () => {
  await project.recipes('shop.node-test.mjs');
  const { code, output } = await project.run([process.execPath, '--test', 'shop.node-test.mjs']);
  expect(output).toMatch(/pass 1\n/);
  expect(code).toBe(0);
});

test.each([
  { name: 'vitest', runner: VITEST, passed: /Tests +1 passed/ },
  { name: 'jest', runner: JEST, passed: /Tests: +1 passed/ },
  { name: 'playwright', runner: PLAYWRIGHT, passed: /1 passed/ },
])('the files that init --$name writes pass unchanged', async ({ name, runner, passed }) => {
  if (name === 'playwright') await configurePlaywright();
  expect((await project.run(['node_modules/.bin/gateway-sim', 'init', `--${name}`])).code).toBe(0);
  const { code, output } = await project.run(runner);
  expect([code, output]).toEqual([0, expect.stringMatching(passed)]);
  expect(output).not.toMatch(/did not (exit|close)|open handle/i);
});
