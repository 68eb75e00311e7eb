import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { run as runCommandLine } from '../../src/cli/run.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { BINARY, runners, starter } from './binary.ts';
import { begun, inherited, type RunOptions } from './child.ts';
import { copyOfFiles, temporaryFolder } from './folder.ts';
import { type Sim, startSim } from './sim.ts';

interface Options extends RunOptions {
  /** Whether its stdout is a terminal. */
  isTerminal?: boolean;
}

const ROOT = process.cwd();

/**
 * Runs a command in this process, as the binary would in its own. At the end of the test, it stops commands that wait for
 * a signal.
 */
export function launch(args: readonly string[], { cwd, env = {}, input = '', isTerminal = false }: Options) {
  // As in the binary, paths are relative to the working directory, even if only the server uses them.
  process.chdir(cwd);
  const stdout = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const streams = { stdout, stderr: new PassThrough() };
  const signals = new EventEmitter();
  const running = begun(streams, async (written) => {
    const code = await runCommandLine([process.execPath, BINARY, ...args], {
      ...streams,
      stdin: Readable.from([Buffer.from(input)]),
      signals,
      env: { ...inherited(), ...env },
      cwd,
    });
    // A signal has nothing to stop any more.
    signals.removeAllListeners();
    // The last output is still in the stream.
    await new Promise((resolve) => setImmediate(resolve));
    return { code, ...written };
  });
  onTestFinished(async () => {
    process.chdir(ROOT);
    // The command does not necessarily listen for signals yet.
    signals.on('newListener', (name, listener: () => void) => {
      if (name === 'SIGTERM') setImmediate(listener);
    });
    if (signals.emit('SIGTERM', 'SIGTERM')) await running.ended;
  });
  return {
    ...running,
    /** Sends the signal that stops the command. */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => {
      signals.emit(signal, signal);
      return running.ended;
    },
  };
}

/** Runs a command in this process to its end. */
export const { run, runJson } = runners(launch);

/** The command `start` in this process. */
export const start = starter(launch);

/** Starts an emulator in this process whose state folder is in `cwd`, so that commands find it. */
export function startIn(cwd: string, options: StartOptions = {}): Promise<Sim> {
  return startSim({ inMemory: false, dataDir: join(cwd, '.gateway-sim'), ...options });
}

/** Starts an emulator as `startIn` does, in a new working directory. */
export async function startHere(options?: StartOptions): Promise<Sim & { cwd: string }> {
  const cwd = await temporaryFolder();
  return { cwd, ...(await startIn(cwd, options)) };
}

/** Creates a working directory with the files that a kill of the emulator in `cwd` would leave at this moment. */
export const leftByKill = (cwd: string): Promise<string> =>
  copyOfFiles(join(cwd, '.gateway-sim'), '.gateway-sim');
