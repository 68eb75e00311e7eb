import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A program bundled into one file for Node. Its imports are relative to the repository's root. */
export interface Program {
  path: string;
  remove: () => Promise<void>;
}

/** @param contents TypeScript, which may import no helpers except `records.ts` */
export async function bundled(contents: string): Promise<Program> {
  const path = join(tmpdir(), `gateway-sim-program-${randomUUID()}.mjs`);
  const entry = join(ROOT, 'program.ts');
  const entryPlugin = {
    name: 'entry',
    resolveId: (id: string) => (id === entry ? id : undefined),
    load: (id: string) => (id === entry ? contents : undefined),
  };
  await build({
    input: entry,
    plugins: [entryPlugin],
    platform: 'node',
    external: ['vitest'],
    logLevel: 'silent',
    output: { file: path, format: 'esm', codeSplitting: false },
  });
  return { path, remove: () => rm(path, { force: true }) };
}
