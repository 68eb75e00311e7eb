import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { assets } from './.config/assets.mjs';
import { LANES } from './test/lanes.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** For a test and for a hook: only a hang takes this long, even on a busy machine. */
const HANGS_MS = 120_000;

/** A plugin sets the order, because `--sequence.shuffle` overrides it in the configuration of a project. */
const AFTER_OTHERS: Plugin = {
  name: 'after-others',
  configureVitest: ({ project }) => {
    project.config.sequence.groupOrder = 1;
  },
};

export default defineConfig({
  root: ROOT,
  plugins: [assets],
  test: {
    env: { COLUMNS: '9999' },
    // Processes, not threads: tests take locks by process id, send signals and bind sockets.
    pool: 'forks',
    // More than the cores of a small machine: most tests wait for a process or for time to pass. But each worker loads and
    // compiles the program again.
    maxWorkers: 4,
    // Audits wait most of the time.
    maxConcurrency: 15,
    globalSetup: ['test/setup/run.ts'],
    // A rare failure must report everything.
    chaiConfig: { truncateThreshold: 2_000 },
    projects: Object.entries(LANES).map(([name, { include, exclude = [], needs = [], mocks, alone }]) => ({
      extends: true,
      plugins: alone ? [AFTER_OTHERS] : [],
      test: {
        name,
        include: [...include],
        exclude: ['**/node_modules/**', ...exclude],
        // A worker loads a module once for all of its files; files that replace modules cannot share a worker.
        isolate: mocks ?? false,
        ...(alone && { maxWorkers: 1 }),
        testTimeout: HANGS_MS,
        hookTimeout: HANGS_MS,
        expect: { poll: { timeout: HANGS_MS / 2, interval: 20 } },
        setupFiles: ['test/setup/file.ts', ...(name === 'unit' ? ['test/setup/no-sockets.ts'] : [])],
        globalSetup: needs.map((what) => `test/setup/${what}.ts`),
      },
    })),
  },
});
