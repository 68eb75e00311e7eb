// Builds dist/ if its sources have changed since the last build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = ['src', 'fixtures', '.config', 'package.json', 'package-lock.json'];
/** Describes the sources of the current `dist/`. Every build writes it. */
export const STAMP = join(ROOT, 'dist', '.sources');

function filesIn(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

export function stampOfSources() {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((name) => filesIn(join(ROOT, name)))) {
    hash.update(file.slice(ROOT.length)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function stampOfBuild() {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}

/** Throws if the build fails; the previous dist/ stays unchanged. */
export function buildIfStale() {
  if (stampOfSources() === stampOfBuild()) return;
  const { status } = spawnSync(process.execPath, ['.config/build.mjs'], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildIfStale();
