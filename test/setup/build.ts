import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds `dist/` if it is outdated. */
export default function setup(): void {
  execFileSync(process.execPath, ['.config/build-if-stale.mjs'], { cwd: ROOT, stdio: 'inherit' });
}
