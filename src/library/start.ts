import { Worker } from 'node:worker_threads';
import { type ErrorCode, type ErrorDetails, GatewayError, type HintStyle, NPX } from '../contract/error.ts';
import { resolveOptions } from '../options/resolve.ts';
import { EMULATOR_OPTIONS } from '../options/start-options.ts';
import type { RunningServer } from '../server.ts';
import { packaged } from '../system/package-info.ts';

type StartedEmulator = Pick<
  RunningServer,
  'url' | 'port' | 'publicKey' | 'secretKey' | 'dataDir' | 'controlToken' | 'tlsCa' | 'notices' | 'stop'
> & { stopped: Promise<unknown> };

/** Names options as in code: `autoDelay`, not `--auto-delay`. */
export const STYLE: HintStyle = {
  ...NPX,
  option: ({ option: name, value }) => (value === undefined ? name : `${name} (${value})`),
};

/** What the thread of an emulator reports: that it is ready, or why not. */
export type ThreadReport =
  | { started: Omit<StartedEmulator, 'stop' | 'stopped'> }
  | { failure: ErrorDetails & { code: ErrorCode; message: string } };

/** Starts an emulator in a thread, whose globals and timers a test does not change, and which changes none of the test's. */
export async function startEmulator(values: Readonly<Record<string, unknown>>): Promise<StartedEmulator> {
  // A value that no option takes, such as a function, could not be passed to the thread.
  resolveOptions([{ label: (name) => name, values }], EMULATOR_OPTIONS);
  const thread = new Worker(packaged('dist/thread.cjs'), { workerData: values });
  const stopped = new Promise((resolve) => thread.once('exit', resolve));
  const report = await new Promise<ThreadReport>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  if ('failure' in report) {
    const { code, message, ...details } = report.failure;
    throw new GatewayError(code, message, details);
  }
  thread.on('error', (error) => process.emitWarning(error));
  return {
    ...report.started,
    stopped,
    stop: async () => {
      thread.postMessage('stop');
      await stopped;
    },
  };
}
