// Runs the tests repeatedly, with delays, in random order and with different random bytes, and prints the failures:
//
//   npm run test:flakes -- [--minutes <n>] [--seed <n>] [<vitest's arguments> …]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const VITEST = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const minutes = Number(values.minutes);
const first = Number(values.seed ?? Math.floor(Math.random() * 1e6));
if (!(minutes > 0) || !Number.isInteger(first)) {
  process.stderr.write('--minutes must be a number above 0, and --seed a whole number.\n');
  process.exit(2);
}

/** The lanes of `npm test`. */
const LANES = ['unit', 'mocks', 'system'];

/** The disturbances, one per round in turn. The order and the random bytes change in every round. */
const ROUNDS = [
  { name: 'late', env: { TEST_DISTURB: '1' }, load: 0 },
  { name: 'hostile ids', env: { TEST_HOSTILE_IDS: '1', TZ: 'Pacific/Kiritimati' }, load: 0 },
  { name: 'load', env: { TZ: 'America/St_Johns' }, load: 4 },
  { name: 'late, hostile ids, load', env: { TEST_DISTURB: '1', TEST_HOSTILE_IDS: '1' }, load: 2 },
];

const folder = mkdtempSync(join(tmpdir(), 'gateway-sim-flakes-'));
const failures = new Map();
const until = performance.now() + minutes * 60_000;
let rounds = 0;

for (; rounds === 0 || performance.now() < until; rounds++) {
  const { name, env, load } = ROUNDS[rounds % ROUNDS.length];
  const seed = first + rounds;
  const began = performance.now();
  const failed = await runUnder(load, () =>
    runTests({ ...env, TEST_SEED: String(seed), TEST_SHUFFLE: String(seed) }),
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  process.stdout.write(`${name}, seed ${seed}: ${failed.length} failed, ${seconds} s\n`);
  for (const { test, message } of failed) {
    process.stdout.write(`  ${test}\n    ${message}\n`);
    failures.set(test, [...(failures.get(test) ?? []), `${name} ${seed}`]);
  }
}
rmSync(folder, { recursive: true });
process.stdout.write(
  `\n${rounds} rounds on ${availableParallelism()} cores, ${failures.size} tests failed\n`,
);
for (const [test, when] of failures) process.stdout.write(`${when.length} x ${test} (${when.join('; ')})\n`);
process.exitCode = failures.size ? 1 : 0;

/** Runs the tests. @returns the failed ones; the run itself if it left something behind or a file did not load */
async function runTests(env) {
  const report = join(folder, `${rounds}.json`);
  const output = await new Promise((resolve) => {
    const args = [VITEST, 'run', '--reporter=json', `--outputFile=${report}`, ...scope()];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...env } });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
    }
    child.on('close', (code) => resolve({ code, text }));
  });
  const failed = readReport(report).flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((one) => one.status === 'failed');
    const file = name.slice(ROOT.length);
    if (status === 'failed' && !tests.length) return [{ test: file, message: reason(message) }];
    return tests.map(({ fullName, failureMessages }) => ({
      test: `${file} > ${fullName}`,
      message: reason(failureMessages[0]),
    }));
  });
  if (output.code !== 0 && !failed.length)
    failed.push({ test: 'the run', message: output.text.trim().slice(-2_000) });
  return failed;
}

function scope() {
  return positionals.length ? positionals : LANES.flatMap((name) => ['--project', name]);
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults;
  } catch {
    return [];
  }
}

/** The error without its location, shortened. */
function reason(text = '') {
  const [what] = text.split(/\n\s+at /, 1);
  return what.slice(0, 1_500).replaceAll('\n', '\n    ');
}

/** Runs a function while other processes keep the CPU busy. */
async function runUnder(count, run) {
  const busy = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    return await run();
  } finally {
    for (const child of busy) child.kill('SIGKILL');
  }
}
