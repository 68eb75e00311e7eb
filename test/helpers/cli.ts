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
  /** Whether it writes to one. */
  isTerminal?: boolean;
}

const ROOT = process.cwd();

/** Runs a command in this process, as the binary would in one of its own. What waits for a signal is stopped with the test. */
export function launch(args: readonly string[], { cwd, env = {}, input = '', isTerminal = false }: Options) {
  // As there, paths are meant from the working folder, also those that only the server looks at.
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
    // Nothing is left that a signal could stop.
    signals.removeAllListeners();
    // What was written last is on its way through the stream.
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
    /** What comes when somebody ends the process. */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => {
      signals.emit(signal, signal);
      return running.ended;
    },
  };
}

/** Run a command in this process to its end. */
export const { run, runJson } = runners(launch);

/** The command `start` in this process. */
export const start = starter(launch);

/** An emulator in this process that keeps its state in a folder, where commands find it. */
export function startIn(cwd: string, options: StartOptions = {}): Promise<Sim> {
  return startSim({ inMemory: false, dataDir: join(cwd, '.gateway-sim'), ...options });
}

/** A working folder with what a kill at this moment would leave of the emulator of another one. */
export async function leftByKill(cwd: string): Promise<string> {
  const files = ['db.json', 'journal.jsonl'].map((name) => join(cwd, '.gateway-sim', name));
  const asOfNow = async () =>
    (await Promise.all(files.map((file) => stat(file)))).map(({ ino, size }) => [ino, size]);
  for (;;) {
    const copy = await temporaryFolder();
    const before = await asOfNow();
    // Its owner lives, and may be writing.
    const filter = (path: string) => !/\/lock$|\.tmp$/.test(path);
    await cp(join(cwd, '.gateway-sim'), join(copy, '.gateway-sim'), { recursive: true, filter });
    // A kill leaves the files of one moment: no snapshot may come in between.
    if (isDeepStrictEqual(await asOfNow(), before)) return copy;
  }
}
