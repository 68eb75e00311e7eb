import { randomBytes } from 'node:crypto';
import { fstatSync, ftruncateSync } from 'node:fs';
import { type FileHandle, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ErrorCode, type ErrorDetails, GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import { isGivenByUser } from '../options/resolve.ts';
import type { ResolvedOptions } from '../options/table.ts';
import { onFolder, openFile, unwritable } from '../store/files.ts';
import { LOG_FILE, makeDataFolder } from '../store/folder.ts';
import type { ReadyEvent } from './banner.ts';

interface Started {
  ready: ReadyEvent;
  /** Notices for the user. */
  notices: readonly string[];
}

/** What a detached process reports to its parent: that it is ready, or why not. */
type Report = Started | { failure: ErrorDetails & { code?: ErrorCode; message: string } };

/**
 * A variable that marks the detached process, which deletes it immediately. Its value is the path of a temporary log,
 * or empty if the log is in the data folder.
 */
const MARK = 'GATEWAY_SIM_DETACHED';

/**
 * Runs the same command line again in its own session, and waits until that process is ready.
 *
 * @returns its report, and the path of its log
 * @throws GatewayError the error of its start; `storage_failed` if its log cannot be written
 */
export async function detach(options: ResolvedOptions): Promise<Started & { log: string }> {
  const { log, file } = await openLog(options);
  try {
    return { ...(await startDetached(file, log, options.inMemory)), log };
  } catch (error) {
    if (options.inMemory) await rm(log, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * The log is in the data folder, or in the system's temporary folder for an emulator in memory. It is opened for
 * appending, because another emulator may use the folder and its log.
 */
async function openLog(options: ResolvedOptions): Promise<{ log: string; file: FileHandle }> {
  const { inMemory, dataDir } = options;
  const log = inMemory
    ? join(tmpdir(), `gateway-sim-${randomBytes(6).toString('hex')}.log`)
    : join(resolve(dataDir), LOG_FILE);
  return onFolder(dirname(log), async () => {
    if (!inMemory) await makeDataFolder(dirname(log), isGivenByUser(options, 'dataDir'));
    const file = await openFile(log, 'append', { isOurs: true, isAlone: true }).catch((cause: Error) => {
      throw 'syscall' in cause ? cause : unwritable(log, cause, hint`Remove it.`);
    });
    // An existing file may be readable by others.
    await file.chmod(0o600);
    return { log, file };
  });
}

async function startDetached(file: FileHandle, log: string, isTemporary: boolean): Promise<Started> {
  // Loading it takes a millisecond, also of a start in the foreground.
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['ignore', file.fd, file.fd, 'ipc'],
    env: { ...process.env, [MARK]: isTemporary ? log : '' },
  });
  const report = await new Promise<Report>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Report));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(
        new GatewayError('internal', `the emulator exited with ${signal ?? code} before it was ready`, {
          hint: hint`See its log: ${log}`,
        }),
      ),
    );
  });
  await new Promise((resolve) => child.send('taken', resolve));
  if (child.connected) child.disconnect();
  child.unref();
  if ('ready' in report) return report;
  const { code, message, ...details } = report.failure;
  throw code === undefined ? new Error(message) : new GatewayError(code, message, details);
}

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
      const { code, message, problems, hint: advice } = thrown;
      return send({ failure: { code, message, problems, ...(advice && { hint: advice }) } });
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
