import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

/** The output of a command so far. */
export interface Written {
  stdout: string;
  stderr: string;
}

/** The result of a finished process. */
export interface Finished extends Written {
  /** null if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running command. */
export interface Begun<End extends Written> {
  stdout: () => string;
  stderr: () => string;
  /** Resolves as soon as the output meets the condition. Rejects if the command ends first. */
  until: (holds: (stdout: string, stderr: string) => boolean) => Promise<void>;
  ended: Promise<End>;
}

/** A process. */
export interface Running extends Begun<Finished> {
  child: ChildProcess;
  pid: number;
}

export interface RunOptions {
  /** Working directory. */
  cwd: string;
  /** The only variables that the process sees in addition to `inherited`. */
  env?: Record<string, string | undefined>;
  /** The stdin of the process; default: empty. */
  input?: string;
}

/** Collects the output of a command. @param end resolves when the command has ended */
export function begun<End extends Written>(
  streams: Readonly<Record<keyof Written, Readable | null>>,
  end: (written: Readonly<Written>) => Promise<End>,
): Begun<End> {
  const written: Written = { stdout: '', stderr: '' };
  const onChange = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    streams[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const check of onChange) check();
    });
  }
  const ended = end(written);
  return {
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!holds(written.stdout, written.stderr)) return;
          onChange.delete(check);
          resolve();
        };
        onChange.add(check);
        void ended.then(
          (finished) => reject(new Error(`it ended before: ${JSON.stringify(finished)}`)),
          reject,
        );
        check();
      }),
    ended,
  };
}

/** Columns of a terminal in which no line is wrapped. */
const WIDE = '9999';

/** The variables that every program needs, and TEST_RUN, which identifies processes left behind by a test run. */
export function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEST_RUN'];
  const known = Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
  // Long lines stay whole, so that tests find sentences in them.
  return { ...known, COLUMNS: WIDE };
}

/**
 * Starts a program in its own process group. The whole group is killed at the end of the test.
 *
 * @param options.keepsInput whether its stdin stays open
 */
export function launchProgram(
  [command = '', ...args]: readonly string[],
  { cwd, env = {}, input, keepsInput = false }: Partial<RunOptions> & { keepsInput?: boolean } = {},
): Running {
  const child = spawn(command, args, {
    cwd,
    env: { ...inherited(), ...env },
    stdio: [input === undefined && !keepsInput ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  if (!keepsInput) child.stdin?.end(input);
  const { stdout, stderr } = child;
  const running = begun(
    { stdout, stderr },
    (written) =>
      new Promise<Finished>((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (code, signal) => resolve({ code, signal, ...written }));
      }),
  );
  onTestFinished(async () => {
    if (child.pid === undefined) return;
    killGroup(child.pid);
    await running.ended;
  });
  return { ...running, child, pid: child.pid ?? 0 };
}

/** Runs a program to its end. */
export const runProgram = (command: readonly string[], options?: Partial<RunOptions>): Promise<Finished> =>
  launchProgram(command, options).ended;

/** Kills a process and all others in its group. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The words into which a shell splits a command line. */
export function shellWords(line: string, env: Record<string, string> = {}): string[] {
  const options = { encoding: 'utf8', env: { ...inherited(), ...env } } as const;
  return execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], options)
    .split('\0')
    .slice(0, -1);
}

/** The PID of a process that has ended. */
export async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return pidOf(child);
}

/** The PID of a process that runs until the end of the test. */
export function livingPid(): number {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
  onTestFinished(() => void child.kill('SIGKILL'));
  return pidOf(child);
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('it did not start');
  return pid;
}
