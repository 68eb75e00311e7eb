import { EventEmitter } from 'node:events';
import { cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { onTestFinished } from 'vitest';
import { run as runCommandLine } from '../../src/cli/run.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { BINARY, runners, starter } from './binary.ts';
import { begun, inherited, type RunOptions } from './child.ts';
import { temporaryFolder } from './folder.ts';
import { type Sim, startSim } from './sim.ts';

interface Options extends RunOptions {
  /** Whether it writes to a terminal. */
  isTerminal?: boolean;
}

const ROOT = process.cwd();

/**
 * Runs a command in this process, as the binary would in its own. Commands that wait for a signal are stopped with the
 * test.
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
    // Nothing is left for a signal to stop.
    signals.removeAllListeners();
    // The last output is still in the stream.
    await new Promise((resolve) => setImmediate(resolve));
    return { code, ...written };
  });
  onTestFinished(async () => {
    process.chdir(ROOT);
    // It may be about to listen.
    signals.on('newListener', (name, listener: () => void) => {
      if (name === 'SIGTERM') setImmediate(listener);
    });
    if (signals.emit('SIGTERM', 'SIGTERM')) await running.ended;
  });
  return {
    ...running,
    /** The signal that ends the process. */
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

/** An emulator in this process with a state folder, where commands find it. */
export function startIn(cwd: string, options: StartOptions = {}): Promise<Sim> {
  return startSim({ inMemory: false, dataDir: join(cwd, '.gateway-sim'), ...options });
}

/** A working directory with the files that a kill at this moment would leave of an emulator in another one. */
export async function leftByKill(cwd: string): Promise<string> {
  const files = ['db.json', 'journal.jsonl'].map((name) => join(cwd, '.gateway-sim', name));
  const asOfNow = async () =>
    (await Promise.all(files.map((file) => stat(file)))).map(({ ino, size }) => [ino, size]);
  for (;;) {
    const copy = await temporaryFolder();
    const before = await asOfNow();
    // Its owner is alive and may be writing.
    const filter = (path: string) => !/\/lock$|\.tmp$/.test(path);
    await cp(join(cwd, '.gateway-sim'), join(copy, '.gateway-sim'), { recursive: true, filter });
    // A kill leaves the files of one moment, so no snapshot may happen in between.
    if (isDeepStrictEqual(await asOfNow(), before)) return copy;
  }
}
