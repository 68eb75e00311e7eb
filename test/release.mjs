// Runs the tests for a release on every installed Node: `npm test` with every combination, the other test runners, and a
// few cases of each trial. If they pass, it updates the pictures in the documentation. Installs Jest and Playwright for the
// time of the run.
//
//   npm run test:release -- [vitest's arguments]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** The current Node, all versions in nvm, and the paths in NODES, which is separated like PATH. */
function installed() {
  const nvm = join(process.env['NVM_DIR'] ?? join(homedir(), '.nvm'), 'versions', 'node');
  const ofNvm = existsSync(nvm) ? readdirSync(nvm).map((name) => join(nvm, name, 'bin', 'node')) : [];
  const named = (process.env['NODES'] ?? '').split(delimiter).filter(Boolean);
  return [process.execPath, ...ofNvm, ...named];
}

/** One Node of each supported major version. */
function byMajor(paths) {
  const found = new Map();
  for (const path of paths) {
    const { stdout, status } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    const [, major = 0] = /^v(\d+)\./.exec(stdout ?? '') ?? [];
    if (status === 0 && Number(major) >= 20 && !found.has(major))
      found.set(major, { path, version: stdout.trim() });
  }
  return [...found.values()];
}

const tools = mkdtempSync(join(tmpdir(), 'gateway-sim-runners-'));
spawnSync('bash', ['.ci/runners', tools], { cwd: ROOT, stdio: 'inherit' });
const PATH = `${tools}${delimiter}${process.env['PATH']}`;

const failed = [];
for (const { path, version } of byMajor(installed())) {
  process.stdout.write(`\n== Node ${version.slice(1)}\n`);
  const { status } = spawnSync(path, [VITEST, 'run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, PATH, TEST_SCOPE: 'release' },
  });
  if (status !== 0) failed.push(version);
}
if (!failed.length) {
  const { status } = spawnSync('npm', ['run', '--silent', 'pictures'], { stdio: 'inherit' });
  if (status !== 0) failed.push('the pictures');
}
rmSync(tools, { recursive: true });
process.stdout.write(failed.length ? `\nfailed: ${failed.join(', ')}\n` : '\nall passed\n');
process.exitCode = failed.length ? 1 : 0;
