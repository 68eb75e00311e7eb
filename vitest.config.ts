import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { viteAssets } from './.config/assets.mjs';
import { LANES } from './test/lanes.ts';
import { hostileIds } from './test/setup/hostile-ids.ts';
import { ShuffledProjects } from './test/setup/sequencer.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** A number: files and tests come in an order of its own. */
const SHUFFLE = process.env['TEST_SHUFFLE'];

/** Of a test and of a hook: only what hangs takes so long, however busy the machine is. */
const HANGS_MS = 120_000;

export default defineConfig({
  root: ROOT,
  plugins: [viteAssets, ...(process.env['TEST_HOSTILE_IDS'] ? [hostileIds] : [])],
  test: {
    // Processes, not threads: tests take locks by process id, send signals and bind sockets.
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for a process or for time to pass.
    maxWorkers: 3,
    globalSetup: ['test/setup/run.ts'],
    // A failure that is rare must tell all.
    chaiConfig: { truncateThreshold: 2_000 },
    ...(SHUFFLE && {
      sequence: { sequencer: ShuffledProjects, shuffle: { tests: true }, seed: Number(SHUFFLE) },
    }),
    projects: Object.entries(LANES).map(([name, { include, exclude = [], needs = [], mocks = false }]) => ({
      extends: true,
      test: {
        name,
        include: [...include],
        exclude: ['**/node_modules/**', ...exclude],
        // A worker loads a module once for all of its files; those that put another in a module's place cannot share.
        isolate: mocks,
        testTimeout: HANGS_MS,
        hookTimeout: HANGS_MS,
        expect: { poll: { timeout: HANGS_MS / 2, interval: 20 } },
        setupFiles: [
          'test/setup/file.ts',
          ...(name === 'unit' ? ['test/setup/no-sockets.ts'] : []),
          ...(process.env['TEST_DISTURB'] ? ['test/setup/disturb.ts'] : []),
        ],
        globalSetup: needs.map((what) => `test/setup/${what}.ts`),
      },
    })),
  },
});
