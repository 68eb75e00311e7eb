// Builds dist/ if a source has changed since the last build.
import { execSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];
/** The names include '', because a folder changes when a file in it is removed. */
const sources = ['.config', 'fixtures', 'src'].flatMap((folder) =>
  ['', ...readdirSync(folder, { recursive: true })].map((name) => join(folder, name)),
);
/** The last file that a build writes. */
const built = statSync('dist/index.d.cts', { throwIfNoEntry: false })?.mtimeMs ?? 0;

if ([...FILES, ...sources].some((path) => statSync(path).mtimeMs > built)) {
  process.stderr.write('gateway-sim: building, which takes up to a minute…\n');
  // If it fails, the error contains what it wrote to stderr.
  execSync('npm run --silent build', { stdio: 'pipe' });
}
