import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A variable in the environment of every process that a test starts, and of its children. */
const MARK = 'TEST_RUN';

/** Since 22.8, Node stores the compiled code of the command there. */
const NODES_OWN = 'node-compile-cache';

interface Run {
  id: string;
  folder: string;
  /** The number of projects that still run: only the last one checks what is left behind. */
  projects: number;
}
const global: typeof globalThis & { testRun?: Run } = globalThis;

/** Gives the run its own temporary folder. At the end of the run, no file and no process may be left. */
export default function setup(): () => Promise<void> {
  global.testRun ??= {
    id: randomUUID(),
    folder: mkdtempSync(join(baseFolder(), 'gateway-sim-tests-')),
    projects: 0,
  };
  const run = global.testRun;
  run.projects++;
  Object.assign(process.env, { TMPDIR: run.folder, [MARK]: run.id });
  return async () => {
    if (--run.projects) return;
    const left = [
      ...(await leftProcesses(run.id)),
      ...readdirSync(run.folder)
        .filter((name) => name !== NODES_OWN)
        .map((name) => `folder ${join(run.folder, name)}`),
    ];
    rmSync(run.folder, { recursive: true, force: true, maxRetries: 10 });
    if (left.length) throw new Error(`left behind by the tests:\n${left.join('\n')}`);
  };
}

/** The folder for temporary folders. No parent may contain a data folder, because commands in tests would find it. */
function baseFolder(): string {
  const isFree = (folder: string): boolean =>
    !existsSync(join(folder, '.gateway-sim')) && (folder === dirname(folder) || isFree(dirname(folder)));
  return [tmpdir(), '/var/tmp'].find((folder) => existsSync(folder) && isFree(folder)) ?? tmpdir();
}

/** How long an ended process may still be listed. */
const ENDING_MS = 10_000;

/** Kills the processes that are left, and describes them. */
async function leftProcesses(run: string): Promise<string[]> {
  const until = performance.now() + ENDING_MS;
  for (;;) {
    const left = markedProcesses(run);
    if (left.length && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    return left.map(({ pid, command }) => `process ${pid}: ${command}`);
  }
}

/** Processes with this mark, except the runner and its own children. Requires /proc. */
function markedProcesses(run: string): { pid: number; command: string }[] {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return [];
  }
  return names
    .map(Number)
    .filter(Number.isInteger)
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
        const isOurs = pid !== process.pid && environment.includes(`${MARK}=${run}`);
        if (!isOurs || parentOf(pid) === process.pid) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        // A zombie process has no command.
        return command ? [{ pid, command }] : [];
      } catch {
        // The process ended in the meantime.
        return [];
      }
    });
}

const parentOf = (pid: number) =>
  Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
