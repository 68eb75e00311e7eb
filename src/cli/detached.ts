import { fstatSync, ftruncateSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type ErrorCode, type ErrorDetails, GatewayError } from '../contract/error.ts';
import type { ReadyEvent } from './banner.ts';

/*
 * The detached process, from its own side.
 */

export interface Started {
  ready: ReadyEvent;
  notices: readonly string[];
}

/** What a detached process reports to its parent: that it is ready, or why not. */
export type Report = Started | { failure: ErrorDetails & { code?: ErrorCode; message: string } };

/**
 * A variable that marks the detached process, which deletes it immediately. Its value is the path of a temporary log,
 * or empty if the log is in the data folder.
 */
export const MARK = 'GATEWAY_SIM_DETACHED';

export type ParentProcess = NonNullable<ReturnType<typeof parentProcess>>;

/** The process that started this one detached; undefined in every other process. */
export function parentProcess() {
  const temporaryLog = process.env[MARK];
  if (temporaryLog === undefined || process.send === undefined) return undefined;
  delete process.env[MARK];
  return {
    /** @returns false if the parent has ended: no process knows this emulator, so it must stop */
    ready: (started: Started) => send(started),
    /** Removes the temporary log. Call it at the end. */
    stopped: async () => {
      if (temporaryLog) await rm(temporaryLog, { force: true });
    },
    failed: (thrown: unknown) => {
      if (!(thrown instanceof GatewayError)) return send({ failure: { message: String(thrown) } });
      const { code, message, problems, hint: fix } = thrown;
      return send({ failure: { code, message, problems, ...(fix && { hint: fix }) } });
    },
  };
}

function send(report: Report): Promise<boolean> {
  return new Promise((resolve) => {
    let isReceived = false;
    process.once('message', () => {
      isReceived = true;
    });
    process.once('disconnect', () => resolve(isReceived));
    if (process.connected) process.send?.(report);
    else resolve(false);
  });
}

/** The next start empties a larger log. */
const MAX_LOG_BYTES = 4 * 2 ** 20;

/** Empties the log of a detached process if it is too long. Requires the lock of the data folder. */
export function trimLog(): void {
  if (fstatSync(1).size > MAX_LOG_BYTES) ftruncateSync(1, 0);
}
