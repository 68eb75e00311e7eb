import { readFileSync } from 'node:fs';
import { GatewayError } from '../contract/error.ts';
import { isAlive, statOf } from '../store/process-identity.ts';
import type { Io } from './io.ts';
import { INTERRUPTED } from './output.ts';

const LOOK_EVERY_MS = 250;

/**
 * Calls back when npm, which started this process, has ended. npm forwards a signal only to its shell, and when the shell
 * ends, this process would keep running on its port. Ignores processes that npm did not start, and background processes
 * of an npm script while npm runs.
 */
export function onNpmExit(
  environment: Readonly<Record<string, string | undefined>>,
  onExit: () => void,
): void {
  if (environment['npm_command'] === undefined) return;
  // A process with its own session should keep running.
  if (statOf(process.pid)[3] === String(process.pid)) return;
  const parent = process.ppid;
  const npm = isShell(parent) ? Number(statOf(parent)[1]) : parent;
  const timer = setInterval(() => {
    if (isAlive(npm)) return;
    clearInterval(timer);
    onExit();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/**
 * Whether a process is a shell between npm and us. Some shells replace themselves with the command. Only Linux has this
 * information; elsewhere, only the parent is watched.
 */
function isShell(pid: number): boolean {
  try {
    return /sh$/m.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Call it on SIGHUP. The process cleans up, and then lets that signal end it. On a normal exit, Node would reset the
 * terminal, and abort because the terminal no longer exists.
 */
export function endByHangup(): void {
  if (!process.stdin.isTTY && !process.stdout.isTTY && !process.stderr.isTTY) return;
  process.once('exit', () => {
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}

/** npm and CI send a signal twice. Only a later signal means that the user wants to stop immediately. */
const DOUBLED_SIGNAL_MS = 1_000;

/** @returns a function that calls back the first time, and ends this process on a later signal */
export function onceThenExit(end: (signal?: NodeJS.Signals) => void): typeof end {
  let endedAt: number | undefined;
  return (signal) => {
    if (endedAt === undefined) {
      endedAt = performance.now();
      end(signal);
    } else if (performance.now() - endedAt > DOUBLED_SIGNAL_MS) process.exit(INTERRUPTED);
  };
}

/**
 * How a command that runs the user's commands is interrupted. They have their own process group and get no signals.
 *
 * @param what the work that a signal or the end of npm interrupts, such as `the audit`
 */
export function interruption(what: string, { env, signals }: Pick<Io, 'env' | 'signals'>) {
  const [soon, now] = [new AbortController(), new AbortController()];
  const why = new GatewayError('check_failed', `${what} was interrupted`);
  const end = onceThenExit((signal) => {
    now.abort(why);
    soon.abort(why);
    if (signal === 'SIGHUP') endByHangup();
  });
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && !soon.signal.aborted) soon.abort(why);
    else end(signal);
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const name of names) signals.on(name, onSignal);
  onNpmExit(env, () => {
    if (!now.signal.aborted) end();
  });
  return {
    /** Aborted by the first Ctrl-C: finish the current work. */
    soon: soon.signal,
    /** Aborted by a second Ctrl-C, SIGTERM, SIGHUP and SIGQUIT: stop immediately. Later signals end this process. */
    now: now.signal,
    [Symbol.dispose]: () => {
      for (const name of names) signals.off(name, onSignal);
    },
  };
}
