import { readFileSync } from 'node:fs';
import { GatewayError } from '../contract/error.ts';
import { isAlive, statOf } from '../store/process-identity.ts';
import type { Io } from './io.ts';

const LOOK_EVERY_MS = 250;

/**
 * Tells when npm, which started this process, has been ended: npm hands a signal on to its shell only, and a shell
 * that ends by it leaves us behind on our port. What npm did not start is left alone, and so is what a script of npm
 * put into the background, as long as npm runs.
 */
export function onNpmExit(environment: Readonly<Record<string, string | undefined>>, tell: () => void): void {
  if (environment['npm_command'] === undefined) return;
  // A process with a session of its own is meant to stay.
  if (statOf(process.pid)[3] === String(process.pid)) return;
  const parent = process.ppid;
  const npm = isShell(parent) ? Number(statOf(parent)[1]) : parent;
  const timer = setInterval(() => {
    if (isAlive(npm)) return;
    clearInterval(timer);
    tell();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/**
 * Whether it is a shell that stands between npm and us: some put the command in their own place. Only Linux tells;
 * elsewhere the end of the parent has to be enough.
 */
function isShell(pid: number): boolean {
  try {
    return /sh$/m.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * To be called on SIGHUP: what has to be done at the end is done, but then the process ends by that signal. A plain
 * exit would have Node put the terminal in order, and abort because there is none any more.
 */
export function endByHangup(): void {
  if (!process.stdin.isTTY && !process.stdout.isTTY && !process.stderr.isTTY) return;
  process.once('exit', () => {
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
  });
}

/** npm and CI send a signal twice; only one that comes later means that the user has lost patience. */
export const DOUBLED_SIGNAL_MS = 1_000;
/** Of a process that a signal has ended (chosen, as shells have it). */
export const INTERRUPTED = 130;

/** How a command of ours is interrupted that runs commands of the user: they have a group of their own, and get no signal. */
export interface Interruption {
  /** By the first Ctrl-C: after what is under way. */
  soon: AbortSignal;
  /** By the second one, SIGTERM, SIGHUP and SIGQUIT: at once. Later signals end this process as it is. */
  now: AbortSignal;
  [Symbol.dispose](): void;
}

/** @param what what is interrupted, such as `the audit`: by a signal, or by the end of the npm that started it */
export function interruption(what: string, { env, signals }: Pick<Io, 'env' | 'signals'>): Interruption {
  const [soon, now] = [new AbortController(), new AbortController()];
  const why = new GatewayError('check_failed', `${what} was interrupted`);
  let interruptedAt = 0;
  const end = () => {
    interruptedAt = performance.now();
    now.abort(why);
    soon.abort(why);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (now.signal.aborted && performance.now() - interruptedAt > DOUBLED_SIGNAL_MS)
      process.exit(INTERRUPTED);
    if (now.signal.aborted) return;
    if (signal === 'SIGINT' && !soon.signal.aborted) return soon.abort(why);
    end();
    if (signal === 'SIGHUP') endByHangup();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const name of names) signals.on(name, onSignal);
  onNpmExit(env, end);
  return {
    soon: soon.signal,
    now: now.signal,
    [Symbol.dispose]: () => {
      for (const name of names) signals.off(name, onSignal);
    },
  };
}
