import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { constants as system } from 'node:os';
import { delimiter, join } from 'node:path';
import { retry } from './connect.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import { endByHangup, onNpmExit } from './signals.ts';

/** Signals that a terminal sends to every foreground process, on Ctrl-C and Ctrl-\: the command already has them. */
const SENT_BY_TERMINAL = ['SIGINT', 'SIGQUIT'] as const;
const ALWAYS_FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/** The same exit codes as in shells and env (chosen). */
const CANNOT_BE_RUN = 126;
const NOT_FOUND = 127;
const ENDED_BY_SIGNAL = 128;

/** Time for the command's remaining processes to end after a signal, in real time. */
const PATIENCE_MS = 1_000;

/**
 * Runs a command with our stdin, stdout and stderr, and forwards our signals to it. We never end before it does, and we
 * end its remaining processes. Without a terminal, it has its own process group, which ends even if we are killed. On a
 * terminal it stays in our group: otherwise it could neither read from the terminal nor be interrupted.
 *
 * @param environment the variables in addition to ours
 * @returns its exit code; 128 plus the number of the signal that ended it; 127 or 126 if it could not be run
 */
export async function runCommand(
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
  { io, output }: { io: Io; output: Output },
): Promise<number> {
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // Windows has no groups, and some containers have no shell to watch them.
  const ownGroup = !onTerminal && existsSync('/bin/sh');
  const env = { ...io.env, ...environment };
  let disarm: (() => void) | undefined;
  try {
    let child: ChildProcess;
    if (ownGroup) {
      assertExecutable(command, env['PATH']);
      ({ child, disarm } = spawnWatched([command, ...args], env));
    } else child = spawn(command, args, { stdio: 'inherit', env });
    const signal = (name: NodeJS.Signals) => (ownGroup ? signalGroup(child, name) : child.kill(name));
    // From here on no signal ends this process: it ends when the command has ended.
    for (const name of ALWAYS_FORWARDED) io.signals.on(name, () => signal(name));
    for (const name of SENT_BY_TERMINAL) {
      io.signals.on(name, () => {
        if (!onTerminal) signal(name);
      });
    }
    io.signals.once('SIGHUP', endByHangup);
    onNpmExit(io.env, () => signal('SIGTERM'));
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', (error) => {
        // A signal that could not be forwarded also emits an error, but the child keeps running.
        if (child.pid === undefined) reject(error);
      });
      child.once('exit', (code, by) =>
        resolve(by === null ? (code ?? 0) : ENDED_BY_SIGNAL + system.signals[by]),
      );
    });
    if (ownGroup) await endGroup(child);
    return code;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') {
      output.notice(`gateway-sim: ${command} cannot be run: ${message}`);
      return CANNOT_BE_RUN;
    }
    output.notice(`gateway-sim: command "${command}" was not found`);
    if (/\s/.test(command))
      output.notice("  Pass the command and its arguments as separate words, or use: sh -c '…'");
    return NOT_FOUND;
  } finally {
    disarm?.();
  }
}

/** Throws as spawn would: the shell that starts a watched command would only print its own message. */
function assertExecutable(command: string, path = ''): void {
  const folders = command.includes('/') ? [''] : path.split(delimiter);
  const problems = folders.map((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return undefined;
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
  });
  if (!problems.includes(undefined))
    throw problems.find((problem) => problem?.code === 'EACCES') ?? problems[0];
}

/**
 * Waits until its input ends, which is when the parent process ends for any reason. It is a shell script, because a shell
 * starts in a millisecond and needs little memory. Some versions of `sleep` accept only whole seconds.
 */
const WATCHER = `
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

/**
 * Starts a command on our stdin, stdout and stderr, in its own process group. Another process watches this one, and ends
 * the group if this one is killed. The watcher has its own session, so a signal to our group does not reach it.
 */
function spawnWatched(command: readonly string[], env: NodeJS.ProcessEnv) {
  const watcher = spawn('/bin/sh', ['-c', WATCHER], {
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

/** Signals a command and all its processes. @returns whether any were left */
function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

async function endGroup(child: ChildProcess): Promise<void> {
  const requireEnded = async () => {
    if (signalGroup(child, 0)) throw new Error('a process of the command is still running');
  };
  signalGroup(child, 'SIGTERM');
  await retry(PATIENCE_MS, requireEnded, () => true).catch(() => signalGroup(child, 'SIGKILL'));
}
