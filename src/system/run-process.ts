import { spawn } from 'node:child_process';
import { clearTimeout, setTimeout } from './real-time.ts';

/** A command to run, with all of the processes that it starts. */
interface CommandToRun {
  /** A command line for a shell. */
  line: string;
  /** Variables, in addition to those of this process. */
  env: Readonly<Record<string, string | undefined>>;
  /** In real time, independent of the emulator's clock. */
  limitMs: number;
  /** Maximum characters of its output that are kept. */
  maxOutput: number;
  /** Ends it immediately. */
  cancelled?: AbortSignal | undefined;
}

/** What a process printed, and how it ended. */
interface ProcessResult {
  stdout: string;
  stderr: string;
  /** Whether it printed more than is kept. */
  isCut: boolean;
  /** Why it failed, in words; undefined if it ended with code 0. */
  problem: string | undefined;
}

/** Time to read a process's output after it exits: a process that left its group may keep the pipes open forever. */
const DRAIN_MS = 500;
/** A process and those that it starts are one group, which ends as a whole. Windows has no groups. */
export const OWN_GROUP = process.platform !== 'win32';

/** Runs a command until it and everything that it started has ended. @throws the reason of `cancelled` */
export function runProcess({
  line,
  env,
  limitMs,
  maxOutput,
  cancelled,
}: CommandToRun): Promise<ProcessResult> {
  const child = spawn(line, {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    detached: OWN_GROUP,
  });
  const result: ProcessResult = { stdout: '', stderr: '', isCut: false, problem: undefined };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      if (result[name].length < maxOutput) result[name] += text;
      else result.isCut = true;
    });
  }
  return new Promise((resolve, reject) => {
    const closePipes = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const end = (problem: string) => {
      resolve({ ...result, problem });
      endGroup(child.pid);
      closePipes();
    };
    const cancel = () => {
      reject(cancelled?.reason);
      end('was cancelled');
    };
    const timer = setTimeout(() => end(`did not finish within ${limitMs / 1_000} s`), limitMs);
    cancelled?.addEventListener('abort', cancel);
    child.on('error', ({ message }) => {
      clearTimeout(timer);
      resolve({ ...result, problem: `cannot be run: ${message}` });
    });
    child.on('exit', () => {
      clearTimeout(timer);
      // The background processes of a command must not outlive it.
      if (OWN_GROUP) endGroup(child.pid);
      const drain = setTimeout(closePipes, DRAIN_MS);
      child.on('close', () => clearTimeout(drain));
    });
    child.on('close', (code, signal) => {
      cancelled?.removeEventListener('abort', cancel);
      const how = signal ? `was killed by ${signal}` : `exited with code ${code}`;
      resolve({ ...result, problem: code === 0 ? undefined : how });
    });
  });
}

/** Ends a process, and on Unix all processes of its group. */
export function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(OWN_GROUP ? -pid : pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}
