import { spawn } from 'node:child_process';
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
import { LOG_FILE } from '../store/folder.ts';
import { makeDataFolder } from '../store/make-folder.ts';
import type { ReadyEvent } from './banner.ts';

interface Started {
  ready: ReadyEvent;
  /** What it found worth telling. */
  notices: readonly string[];
}

/** What a detached process tells the one that started it: it answers, or why it cannot. */
type Report = Started | { failure: ErrorDetails & { code?: ErrorCode; message: string } };

/**
 * By this variable a process knows that it is the detached one. It is gone from its environment at once. Its value is
 * the log that has no data folder to lie in; empty where there is one.
 */
const MARK = 'GATEWAY_SIM_DETACHED';

/**
 * Runs this very command line again, in a session of its own, and waits until that process answers.
 *
 * @returns what it tells, and the file that takes what it says from now on
 * @throws GatewayError the one that it could not start for; `storage_failed` when there is no place for its log
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
 * The log lies in the data folder; an emulator in memory has none, and so writes to the system's temporary folder. It
 * is appended to: another emulator may have the folder, and what it says is not ours to clear.
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
    // One that came with the folder may be open to others.
    await file.chmod(0o600);
    return { log, file };
  });
}

async function startDetached(file: FileHandle, log: string, isTemporary: boolean): Promise<Started> {
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
        new GatewayError('internal', `the emulator ended with ${signal ?? code} before it answered`, {
          hint: hint`What it said is in ${log}`,
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
    /** @returns false when that one is gone and nobody knows of this emulator: it must not stay */
    ready: (started: Started) => tell(started),
    /** To be called at the end: nobody looks for the log of an emulator that was in memory. */
    stopped: async () => {
      if (temporaryLog) await rm(temporaryLog, { force: true });
    },
    failed: (thrown: unknown) => {
      if (!(thrown instanceof GatewayError)) return tell({ failure: { message: String(thrown) } });
      const { code, message, problems, hint: advice } = thrown;
      return tell({ failure: { code, message, problems, ...(advice && { hint: advice }) } });
    },
  };
}

function tell(report: Report): Promise<boolean> {
  return new Promise((resolve) => {
    let taken = false;
    process.once('message', () => {
      taken = true;
    });
    process.once('disconnect', () => resolve(taken));
    if (process.connected) process.send?.(report);
    else resolve(false);
  });
}

/** A log larger than this is begun anew by the next start. */
const MAX_LOG_BYTES = 4 * 2 ** 20;

/** Begins the log of a detached process anew when it has become too long. Only who has the data folder may. */
export function trimLog(): void {
  if (fstatSync(1).size > MAX_LOG_BYTES) ftruncateSync(1, 0);
}
