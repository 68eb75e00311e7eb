import { spawn } from 'node:child_process';

/**
 * Waits for the end of what it reads: that is the end of the process that began it, whatever ended that. It is a shell
 * because that takes a millisecond and no memory to speak of. Seconds are all that every `sleep` knows.
 */
const SCRIPT = `
read -r group || exit 0
read -r disarmed && exit 0
kill -TERM "-$group" || exit 0
sleep 1
kill -KILL "-$group"`;

/** Ends process groups that a killed process leaves behind. */
export interface GroupWatch {
  /** From now on, this group ends when the present process does. */
  over: (group: number) => void;
  /** Nothing is left to be ended. */
  disarm: () => void;
}

/**
 * Begins to watch over this process from another one, in a session of its own: a signal to all of our group does not
 * reach it.
 */
export function watchGroup(): GroupWatch {
  const watcher = spawn('/bin/sh', ['-c', SCRIPT], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Where there is no shell, nobody watches; and one that was killed takes no more words.
  watcher.on('error', () => {});
  watcher.stdin.on('error', () => {});
  watcher.unref();
  return {
    over: (group) => void watcher.stdin.write(`${group}\n`),
    disarm: () => void watcher.stdin.end('disarmed\n'),
  };
}
