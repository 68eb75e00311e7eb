import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import type { ReadyEvent } from '../../../src/cli/banner.ts';
import { BINARY, launch, startBinary } from '../../helpers/binary.ts';
import type { Finished } from '../../helpers/child.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { Ledger } from '../ledger.ts';
import { Merchant } from '../merchant.ts';
import { type Budget, trial } from '../trial.ts';

const IN_USE = 5;
const START = ['start', '--port', '0', '--json', '--quiet'];

function refused({ code, stderr }: Finished, where: string, budget: Budget): void {
  if (code !== IN_USE || !stderr.includes('in use by another gateway-sim') || /^\s+at /m.test(stderr))
    budget.fail('other', `${where} ended with ${code}: ${stderr}`);
}

const UNSHARE = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
const elsewhere = spawnSync('unshare', [...UNSHARE, 'true']);

/** Runs `start` in another PID namespace. Killing the returned process ends it. */
async function startElsewhere(cwd: string): Promise<{ child: ChildProcess; ready: ReadyEvent }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('unshare', [...UNSHARE, process.execPath, BINARY, ...START], {
    cwd,
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, ready: JSON.parse(line.toString()) as ReadyEvent };
}

/** Checks that a folder in use by another container is rejected, and can be used after that emulator was killed. */
async function acrossContainers(budget: Budget): Promise<void> {
  const cwd = await temporaryFolder();
  const ledger = new Ledger();
  const { child, ready } = await startElsewhere(cwd);
  const merchant = new Merchant(ready, ledger, budget);
  await merchant.initiate('elsewhere');
  refused(await launch(START, { cwd }).ended, 'a start in another PID namespace', budget);
  await merchant.initiate('elsewhere-2');
  const killed = once(child, 'exit');
  child.kill('SIGKILL');
  await killed;
  // The next start waits six seconds for a heartbeat.
  if (!budget.short) {
    const next = await startBinary(['--quiet'], { cwd });
    await new Merchant(next.ready, ledger, budget).expectNothingLost('after a takeover');
    if (!next.stderr().includes('took over'))
      budget.fail('other', `the takeover was not reported: ${next.stderr()}`);
    next.child.kill('SIGKILL');
    await next.ended;
  }
  await rm(cwd, { recursive: true, maxRetries: 10 });
}

trial(
  'two emulators in two containers',
  {
    short: 1,
    least: 20,
    share: 2,
    ...(elsewhere.status !== 0 && { cannot: 'unshare cannot create a PID namespace for this user' }),
  },
  async (budget) => {
    await budget.repeat(() => acrossContainers(budget), budget.short ? 1 : 6);
  },
);
