import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { run as runCommandLine } from '../../src/cli/run.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { BINARY, type RunOptions } from './binary.ts';
import { type Sim, startSim } from './sim.ts';

/** What a command left behind. */
export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that runs in this process. */
export interface Running {
  stdout: () => string;
  /** Resolves with the first output for which the condition holds. */
  until: (holds: (stdout: string) => boolean) => Promise<void>;
  ended: Promise<Finished>;
}

/** Runs a command in this process, as the binary would in one of its own. */
export function launch(args: readonly string[], { cwd, env = {}, input = '' }: RunOptions): Running {
  const written = { stdout: '', stderr: '' };
  const onChange = new Set<() => void>();
  const stream = (name: keyof typeof written) =>
    new PassThrough().on('data', (chunk: Buffer) => {
      written[name] += chunk.toString();
      for (const look of onChange) look();
    });
  const { PATH = '', HOME = '' } = process.env;
  const ended = runCommandLine([process.execPath, BINARY, ...args], {
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    env: { PATH, HOME, ...env },
    cwd,
  }).then(async (code) => {
    // What was written last is on its way through the stream.
    await new Promise((resolve) => setImmediate(resolve));
    return { code, ...written };
  });
  return {
    stdout: () => written.stdout,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (holds(written.stdout)) resolve();
        };
        onChange.add(look);
        void ended.then(() => reject(new Error(`the command ended before: ${written.stdout}`)));
        look();
      }),
    ended,
  };
}

/** Runs a command in this process to its end. */
export function run(args: readonly string[], options: RunOptions): Promise<Finished> {
  return launch(args, options).ended;
}

/** Runs a command with `--json` and reads the one document it prints. */
export async function runJson<Body>(
  args: readonly string[],
  options: RunOptions,
): Promise<Finished & { body: Body }> {
  const finished = await run([...args, '--json'], options);
  return { ...finished, body: JSON.parse(finished.stdout || 'null') as Body };
}

/** An emulator in this process that keeps its state in a folder, where commands find it. */
export function startIn(cwd: string, options: StartOptions = {}): Promise<Sim> {
  return startSim({ inMemory: false, dataDir: join(cwd, '.gateway-sim'), ...options });
}
