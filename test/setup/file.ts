import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, vi } from 'vitest';

/** The same in every run, so that results do not vary. `npm run test:long` uses others. */
const SEED = Number(process.env['TEST_SEED'] ?? 1);

fc.configureGlobal({ seed: SEED });

// Files share workers: resets what an earlier file may have left after a failure.
const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
process.chdir(ROOT);
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllEnvs();
vi.unstubAllGlobals();

const OURS = ['TCPServerWrap', 'ProcessWrap'];
const openResources = () => process.getActiveResourcesInfo().filter((name) => OURS.includes(name));
const before = openResources().length;
const ENDING_MS = 10_000;

afterAll(async () => {
  const until = performance.now() + ENDING_MS;
  while (openResources().length > before && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (process.cwd() !== ROOT)
    throw new Error(`the tests of this file did not return to the working folder ${ROOT}`);
  if (openResources().length > before)
    throw new Error(`the tests of this file left open: ${openResources().join(', ')}`);
});
