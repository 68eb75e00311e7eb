import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { run as runCommandLine } from '../../src/cli/run.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { BINARY, begun, type RunOptions, runners } from './binary.ts';
import { type Sim, startSim } from './sim.ts';

/** Runs a command in this process, as the binary would in one of its own. */
export function launch(args: readonly string[], { cwd, env = {}, input = '' }: RunOptions) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const { PATH = '', HOME = '' } = process.env;
  return begun(streams, async (written) => {
    const code = await runCommandLine([process.execPath, BINARY, ...args], {
      ...streams,
      stdin: Readable.from([Buffer.from(input)]),
      env: { PATH, HOME, ...env },
      cwd,
    });
    // What was written last is on its way through the stream.
    await new Promise((resolve) => setImmediate(resolve));
    return { code, ...written };
  });
}

/** Run a command in this process to its end. */
export const { run, runJson } = runners(launch);

/** An emulator in this process that keeps its state in a folder, where commands find it. */
export function startIn(cwd: string, options: StartOptions = {}): Promise<Sim> {
  return startSim({ inMemory: false, dataDir: join(cwd, '.gateway-sim'), ...options });
}
