import { describe, expect, onTestFinished, test } from 'vitest';
import { createProject, expectPass, missingRunner } from './project.ts';

const why = missingRunner('jest');
const JEST = [process.execPath, 'node_modules/jest/bin/jest.js'];
const PASSED = /Tests: +1 passed/;

/** The page's text about the tests of this set-up: they connect instead of starting their own emulator. */
const CONNECTED = `
  const { connectGatewaySim } = require('gateway-sim');
  test('the emulator of the set-up answers', async () => {
    const sim = await connectGatewaySim();
    expect(await sim.payments.list()).toEqual({ data: [], nextCursor: null });
  });`;

async function shopProject() {
  const project = await createProject(['jest']);
  onTestFinished(project.remove);
  await project.shop();
  return project;
}

describe.skipIf(why)(`in Jest${why}`, () => {
  test('the recipe with one emulator per file passes and leaves nothing open', async () => {
    const project = await shopProject();
    await project.recipes('shop.test.js');
    await expectPass(project, JEST, PASSED);
  });

  test('the recipe with one emulator for all files passes and leaves nothing open', async () => {
    const project = await shopProject();
    await project.write('connected.test.js', CONNECTED);
    await project.recipes('jest.config.js', 'start.js', 'stop.js');
    await expectPass(project, JEST, PASSED);
  });

  test('the files that init --jest writes pass unchanged', async () => {
    const project = await shopProject();
    const init = ['node_modules/.bin/gateway-sim', 'init', '--jest'];
    expect((await project.run(init)).code).toBe(0);
    await expectPass(project, JEST, PASSED);
  });
});
