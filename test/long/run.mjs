// Runs every trial of the documented promises for half an hour, and prints the results as a table:
//
//   npm run test:long -- [--minutes <n>] [--seed <n>] [<part of a trial's file name> …]
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? randomInt(2 ** 31));
const minutes = Number(values.minutes);
if (!(minutes > 0) || !Number.isInteger(seed)) {
  process.stderr.write('--minutes must be a number above 0, and --seed a whole number.\n');
  process.exit(2);
}

if (process.env.TRIAL_SEED === undefined) lead();
else await run();

/** Runs the trials in their own process group. Otherwise, Ctrl-C would also end the emulators of the current trial. */
function lead() {
  const args = ['--minutes', String(minutes), '--seed', String(seed), ...positionals];
  process.stdout.write(`To repeat this run: npm run test:long -- ${args.join(' ')}\n`);
  const trials = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      TRIAL_MINUTES: String(minutes),
      TRIAL_SEED: String(seed),
      TEST_SEED: String(seed),
    },
  });
  let interrupts = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // After the first signal, the current trial stops its processes. A second signal kills it immediately.
      if (interrupts++ === 0) trials.kill('SIGINT');
      else process.kill(-trials.pid, 'SIGKILL');
    });
  }
  trials.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

async function run() {
  const vitest = await createVitest('test', {
    project: 'trials',
    watch: false,
    // One at a time, so that no trial disturbs the measurements of another.
    fileParallelism: false,
    reporters: ['verbose', 'test/long/table.ts'],
  });
  // Vitest's own listener would end the process immediately, without a table.
  process.removeAllListeners('SIGINT');
  process.once('SIGINT', () => {
    void vitest.cancelCurrentRun('keyboard-input');
  });
  await vitest.start(positionals);
  await vitest.close();
}
