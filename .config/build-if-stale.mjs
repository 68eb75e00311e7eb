// Builds dist/ if a source has changed since the last build.
import { execSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];
const FOLDERS = ['.config', 'fixtures', 'src'];
/** The last file that a build writes. */
const BUILT = 'dist/index.d.cts';

const changedAt = (path) => statSync(path).mtimeMs;
/** With the folder itself, which changes when a file in it is removed. */
const pathsIn = (folder) =>
  ['', ...readdirSync(folder, { recursive: true })].map((name) => join(folder, name));
const sources = [...FILES, ...FOLDERS.flatMap(pathsIn)];

const isFirst = !existsSync(BUILT);
if (isFirst || sources.some((path) => changedAt(path) > changedAt(BUILT))) {
  const why = isFirst ? 'first start' : 'its sources have changed';
  process.stderr.write(`gateway-sim: building (${why}), which takes up to a minute…\n`);
  // If it fails, the error contains what it wrote to stderr.
  execSync('npm run --silent build', { stdio: 'pipe' });
}
