import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { viteAssets } from '../.config/assets.mjs';
import { LANES } from './lanes.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

export default defineConfig({
  root: ROOT,
  plugins: [viteAssets],
  test: {
    // Processes, not threads: tests take locks by process id, send signals and bind sockets.
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for a process or for time to pass.
    maxWorkers: 3,
    projects: Object.entries(LANES).map(([name, { include, exclude = [], timeout }]) => ({
      extends: true,
      test: {
        name,
        include: [...include],
        exclude: ['**/node_modules/**', ...exclude],
        testTimeout: timeout,
        hookTimeout: timeout,
        expect: { poll: { timeout: timeout / 2 } },
        setupFiles: name === 'unit' ? ['test/no-processes-no-sockets.ts'] : [],
      },
    })),
  },
});
