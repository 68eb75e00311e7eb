import { readFile } from 'node:fs/promises';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { startBinary } from '../helpers/binary.ts';
import type { Running } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import type { Budget } from './trial.ts';

/** An emulator in its own process, so that a fault can end it and its memory can be read. */
export interface Emulator extends ReadyEvent {
  running: Running;
  /** Sends a request to the control API, a POST if it has a body, and returns the body of the response. */
  control: <Body>(path: string, body?: object, method?: string) => Promise<Body>;
  /** Resident memory in MiB; 0 if the system does not report it. */
  memory: () => Promise<number>;
  /** Records a broken promise if the emulator ended, does not respond, or printed a stack trace. */
  check: (budget: Budget, after: string) => Promise<void>;
}

/** Longer than any response of a healthy emulator on a busy machine. */
const HANG_MS = 20_000;

/**
 * Starts an emulator on a free port. It is stopped at the end of the test.
 *
 * @param args the further options of `start`
 * @param state where the state is stored; if that is a folder, it is removed afterwards
 */
export async function startEmulator(
  args: readonly string[] = ['--quiet'],
  state: 'memory' | 'folder' = 'memory',
): Promise<Emulator> {
  const cwd = await temporaryFolder();
  const { ready, ...running } = await startBinary([...(state === 'memory' ? ['--in-memory'] : []), ...args], {
    cwd,
  });
  const { url, controlToken, pid } = ready;
  return {
    ...ready,
    running,
    control: async <Body>(path: string, body?: object, method = body ? 'POST' : 'GET') => {
      const headers = {
        'Content-Type': 'application/json',
        ...(controlToken !== null && { Authorization: `Bearer ${controlToken}` }),
      };
      const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const text = await (await fetch(`${url}/_sim${path}`, sent)).text();
      return JSON.parse(text.startsWith('{') ? text : '{}') as Body;
    },
    memory: async () => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
    },
    check: async (budget, after) => {
      const { child } = running;
      const ended = child.exitCode ?? child.signalCode;
      if (ended !== null) {
        budget.fail('ended', `${after}: it ended with ${ended}`);
        return;
      }
      const alive = await fetch(`${url}/_sim/livez`, { signal: AbortSignal.timeout(HANG_MS) }).catch(String);
      if (typeof alive === 'string') budget.fail('hang', `${after}: ${alive}`);
      const [stack] = /.*\n +at .*/.exec(running.stderr()) ?? [];
      if (stack) budget.fail('other', `${after}: a stack trace on stderr: ${stack}`);
    },
  };
}
