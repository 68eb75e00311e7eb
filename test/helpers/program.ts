import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A program bundled into one file for Node. Its imports are relative to the repository's root. */
export interface Program {
  path: string;
  remove: () => Promise<void>;
}

/** @param contents TypeScript, which may import no helpers except `records.ts` */
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
