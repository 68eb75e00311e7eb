import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { viteAssets } from '../.config/assets.mjs';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  plugins: [viteAssets],
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 20_000,
    // Processes, not threads: tests take locks by process id, send signals and bind sockets.
    pool: 'forks',
    maxWorkers: 2,
  },
});
