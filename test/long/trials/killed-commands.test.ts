import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadyEvent } from '../../../src/cli/banner.ts';
import { isAlive } from '../../../src/store/process-identity.ts';
import { launch, run, runJson, startBinary } from '../../helpers/binary.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { type Budget, trial } from '../trial.ts';

/** How long a process may take to end. */
const GONE_MS = 20_000;

/** Waits until a condition is true. @returns false if that takes too long */
async function comesTrue(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const until = performance.now() + GONE_MS;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(20);
  }
  return false;
}

/** Kills `start --detach` while it detaches. */
async function killDetaching(cwd: string, budget: Budget): Promise<void> {
  const { child, ended } = launch(['start', '--detach', '--port', '0', '--data-dir', 'data'], { cwd });
  await sleep(budget.below(300));
  child.kill('SIGKILL');
  await ended;
  // An emulator that has detached keeps running, and `stop` finds it. One that has not detached ends automatically.
  const isOver = await comesTrue(async () => {
    await run(['stop', '--data-dir', 'data'], { cwd });
    const next = await runJson<ReadyEvent | null>(
      ['start', '--detach', '--port', '0', '--data-dir', 'data'],
      {
        cwd,
      },
    );
    if (next.code !== 0) return false;
    const pid = next.body?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    return comesTrue(() => !isAlive(pid));
  });
  if (!isOver) budget.fail('other', 'a killed start --detach blocks the next one');
}

trial('kills of start --detach', { short: 2, least: 60, share: 2 }, async (budget) => {
  await budget.repeat(async () => {
    const cwd = await temporaryFolder();
    await killDetaching(cwd, budget);
    await startBinary(['--data-dir', 'data', '--quiet'], { cwd }).then(
      async ({ child, ended }) => {
        child.kill('SIGKILL');
        await ended;
      },
      (error: Error) => budget.fail('other', `the next start: ${error.message}`),
    );
    await rm(cwd, { recursive: true, maxRetries: 10 });
  }, 2);
});
