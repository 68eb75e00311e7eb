import { isAlive, statOf } from '../store/folder.ts';

const LOOK_EVERY_MS = 250;

/**
 * Tells when npm, which started this process, has been ended: npm hands a signal on to its shell only, and a shell
 * that ends by it leaves us behind on our port. What npm did not start is left alone, and so is what a script of npm
 * put into the background, as long as npm runs.
 *
 * @param environment process.env
 */
export function whenNpmIsGone(
  environment: Readonly<Record<string, string | undefined>>,
  tell: () => void,
): void {
  if (environment['npm_command'] === undefined) return;
  // Whoever gave this process a session of its own wants it to stay.
  if (statOf(process.pid)[3] === String(process.pid)) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell || (npm !== undefined && isAlive(npm))) return;
    clearInterval(timer);
    tell();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Linux tells without another process; elsewhere the end of the shell has to be enough. */
function parentOf(pid: number): number | undefined {
  const parent = statOf(pid)[1];
  return parent === undefined ? undefined : Number(parent);
}
