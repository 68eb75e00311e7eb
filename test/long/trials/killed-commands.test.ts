import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ReadyEvent } from '../../../src/cli/banner.ts';
import { isAlive } from '../../../src/store/process-identity.ts';
import { BINARY, launch, run, runJson, startBinary } from '../../helpers/binary.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { type Budget, trial } from '../trial.ts';

/** How long a process may take to end. */
const GONE_MS = 20_000;

/** A command that ignores signals, and prints the address of its emulator. */
const STUBBORN = `
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
  console.log('up', process.pid, process.env.GATEWAY_SIM_URL);`;

/** Waits until a condition is true. @returns false if that takes too long */
async function comesTrue(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const until = performance.now() + GONE_MS;
  while (performance.now() < until) {
    if (await holds()) return true;
    await sleep(20);
  }
  return false;
}

function isFree(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(Number(new URL(url).port), '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Kills an `exec` while it starts or while its command runs, alone or with its process group. */
async function killExec(cwd: string, budget: Budget): Promise<void> {
  const isGroup = budget.below(2) === 1;
  const isUp = budget.below(2) === 1;
  const child = spawn(
    process.execPath,
    [BINARY, 'exec', '--data-dir', 'data', '--', process.execPath, '-e', STUBBORN],
    { cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const { pid = 0, stdout } = child;
  let said = '';
  const up = new Promise<void>((resolve) =>
    stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      if (said.includes('\n')) resolve();
    }),
  );
  let isClosed = false;
  // The command also keeps this output open, so it closes only when the command has ended.
  child.on('close', () => {
    isClosed = true;
  });
  await (isUp ? up : sleep(budget.below(250)));
  process.kill(isGroup ? -pid : pid, 'SIGKILL');
  const isGone = await comesTrue(() => isClosed);
  const [, command = '', url = ''] = said.trim().split(' ');
  onTestFinished(() => {
    if (!Number(command) || !isAlive(Number(command))) return;
    try {
      process.kill(Number(command), 'SIGKILL');
    } catch {
      // The command has just ended.
    }
  });
  const how = `exec killed ${isGroup ? 'with its group' : 'alone'}, ${isUp ? 'while its command runs' : 'while it starts'}`;
  if (!isGone) budget.fail('other', `${how}: its command is still running`);
  if (url && !(await isFree(url))) budget.fail('other', `${how}: its port is still in use`);
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

trial('kills of exec and start --detach', { short: 2, least: 60, share: 2 }, async (budget) => {
  await budget.repeat(async () => {
    const cwd = await temporaryFolder();
    await (budget.below(4) ? killExec(cwd, budget) : killDetaching(cwd, budget));
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
