import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 20_000,
    // Processes, not threads: tests take locks by process id, send signals and bind sockets.
    pool: 'forks',
    maxWorkers: 2,
  },
});
