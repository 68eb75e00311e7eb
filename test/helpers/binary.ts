import { fileURLToPath } from 'node:url';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { launchProgram, type Running, type RunOptions, type Written } from './child.ts';

export const BINARY = fileURLToPath(new URL('../../bin/gateway-sim.js', import.meta.url));

/** Functions that run a command to its end, based on one that starts it. */
export function runners<End extends Written, Options extends RunOptions>(
  launch: (args: readonly string[], options: Options) => { ended: Promise<End> },
) {
  const run = (args: readonly string[], options: Options) => launch(args, options).ended;
  return {
    run,
    /** Runs a command with `--json` and parses its output. */
    runJson: async <Body>(args: readonly string[], options: Options): Promise<End & { body: Body }> => {
      const finished = await run([...args, '--json'], options);
      return { ...finished, body: JSON.parse(finished.stdout || 'null') as Body };
    },
  };
}

/** A function that starts an emulator on a free port, based on one that starts a command. */
export function starter<Started extends Pick<Running, 'until' | 'stdout'>>(
  launch: (args: readonly string[], options: RunOptions) => Started,
) {
  /** Runs `start --json` and waits until it is ready. */
  return async (args: readonly string[], options: RunOptions): Promise<Started & { ready: ReadyEvent }> => {
    const running = launch(['start', '--port', '0', '--json', ...args], options);
    await running.until((stdout) => stdout.includes('\n'));
    return { ...running, ready: JSON.parse(running.stdout().split('\n', 1)[0] ?? '') as ReadyEvent };
  };
}

/** Runs the real binary. Its processes are killed at the end of the test. */
export const launch = (args: readonly string[], options: RunOptions): Running =>
  launchProgram([process.execPath, BINARY, ...args], options);

export const { run, runJson } = runners(launch);

export const startBinary = starter(launch);
