import { readFileSync } from 'node:fs';
import { isAlive, statOf } from '../store/process-identity.ts';

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
