import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A program with imports from the repository's root, bundled into one file for Node. */
export interface Program {
  path: string;
  remove: () => Promise<void>;
}

/** @param contents TypeScript; of the helpers, it may import the record builders only */
export async function bundled(contents: string): Promise<Program> {
  const path = join(tmpdir(), `gateway-sim-program-${randomUUID()}.mjs`);
  await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['vitest'],
    outfile: path,
    logLevel: 'error',
  });
  return { path, remove: () => rm(path, { force: true }) };
}
