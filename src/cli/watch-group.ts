import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Waits until its input ends, which is when the parent process ends for any reason. It is a shell script, because a shell
 * starts in a millisecond and needs little memory. Some versions of `sleep` accept only whole seconds.
 */
const SCRIPT = `
read -r group || exit 0
read -r disarmed && exit 0
kill -TERM "-$group" || exit 0
sleep 1
kill -KILL "-$group"`;

/**
 * Sends its own process group to the watcher, then becomes the command. If this process sent the group instead, a kill
 * before that could leave the command running.
 */
const LAUNCHER = 'echo "$$" >&3; exec 3>&-; exec "$0" "$@"';

/** A command in its own process group, which ends if this process is killed. */
export interface WatchedCommand {
  child: ChildProcess;
  /** Stops watching. */
  disarm: () => void;
}

/**
 * Starts a command on our stdin, stdout and stderr. Another process watches this one. It has its own session, so a
 * signal to our group does not reach it.
 */
export function spawnWatched(command: readonly string[], env: NodeJS.ProcessEnv): WatchedCommand {
  const watcher = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // A killed watcher accepts no input.
  watcher.stdin.on('error', () => {});
  watcher.unref();
  const child = spawn('/bin/sh', ['-c', LAUNCHER, ...command], {
    detached: true,
    env,
    stdio: ['inherit', 'inherit', 'inherit', watcher.stdin],
  });
  return { child, disarm: () => void watcher.stdin.end('disarmed\n') };
}
