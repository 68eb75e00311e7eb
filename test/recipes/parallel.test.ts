import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from './project.ts';

const SUITE = await readFile(new URL('suite.txt', import.meta.url), 'utf8');
const FILES = 5;

test('fifteen tests in five files, each with its own emulator, pass in parallel', async () => {
  const project = await createProject(['vitest']);
  onTestFinished(project.remove);
  await project.recipes('shop.cjs');
  for (let file = 1; file <= FILES; file++) await project.write(`suite-${file}.test.mjs`, SUITE);
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run', `--maxWorkers=${FILES}`];
  const { code, output } = await project.run(vitest);
  expect(output).toMatch(/Tests +15 passed/);
  expect(output).not.toMatch(/Unhandled|close timed out/);
  expect(code).toBe(0);
});
