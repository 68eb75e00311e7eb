import { spawn } from 'node:child_process';

/**
 * Waits for the end of its input, which is the end of the parent process, for any reason. A shell script, because a shell
 * starts in a millisecond and needs little memory. Every `sleep` accepts whole seconds only.
 */
const SCRIPT = `
read -r group || exit 0
read -r disarmed && exit 0
kill -TERM "-$group" || exit 0
sleep 1
kill -KILL "-$group"`;

/** Ends the process groups of a killed process. */
export interface GroupWatch {
  /** Ends this group when the current process ends. */
  over: (group: number) => void;
  /** Stops watching. */
  disarm: () => void;
}

/**
 * Watches this process from another process in its own session, so that a signal to our group does not reach it.
 */
export function watchGroup(): GroupWatch {
  const watcher = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is no watcher, and a killed watcher accepts no input.
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  return {
    over: (group) => void watcher.stdin.write(`${group}\n`),
    disarm: () => void watcher.stdin.end('disarmed\n'),
  };
}
