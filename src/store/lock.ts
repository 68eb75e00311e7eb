import { lstatSync, readlinkSync } from 'node:fs';
import { type FileHandle, open, rename, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { command, GatewayError, hint } from '../contract/error.ts';
import { fileId, readText, removeFile } from '../system/files.ts';
import { clearInterval, pause, performance, realNow, setInterval } from '../system/real-time.ts';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/*
 * The lock of a data folder: a file that only one process can create. It names its owner. An owner in the same
 * container can be looked up; any other one proves with the file's time that it is running.
 */

const LOCK_FILE = 'lock';

/** How often the owner updates the time of its lock. */
const HEARTBEAT_MS = 2_000;
/** A file that nobody changes for this time has no owner: a lock without heartbeat, or one that was never completed. */
const PATIENCE_MS = 6_000;
const POLL_MS = 50;

/** The content of a lock. */
interface Owner extends ProcessIdentity {
  /** Where the PID is valid: see `hostOf`. */
  host: string;
  /** The folder that it locked. A lock that came with a copy of the folder has another one. */
  folder: string | undefined;
}

/** A lock as it was found. */
interface Found {
  text: string;
  /** Changes when the lock is renewed or replaced. */
  stamp: string;
}

/** A lock that this process owns. */
export class Lock {
  /** Its owner before, which could not be looked up but no longer renewed it; undefined if there was none. */
  readonly takenOverFrom: string | undefined;
  readonly #path: string;
  /** Kept open, so that no later file can have the same identity. */
  readonly #file: FileHandle;
  readonly #id: string | undefined;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, file: FileHandle, takenOverFrom?: string) {
    this.#path = path;
    this.#file = file;
    this.#id = fileId(file.fd);
    this.takenOverFrom = takenOverFrom;
    const renew = async () => {
      if (this.isHeld()) await utimes(path, realNow() / 1_000, realNow() / 1_000);
    };
    this.#heartbeat = setInterval(() => void renew().catch(() => {}), HEARTBEAT_MS).unref();
  }

  /**
   * Locks a folder. Takes over the lock of an owner that is gone.
   *
   * @param patienceMs how long to wait, in real time, for a heartbeat of an owner on another machine or in another
   *   container
   * @throws GatewayError `folder_in_use` if another process uses it; or the file system's error
   */
  static async take(folder: string, patienceMs = PATIENCE_MS): Promise<Lock> {
    const path = join(folder, LOCK_FILE);
    const host = hostOf();
    const text = JSON.stringify({ ...identityOf(process.pid), host, folder: fileId(folder) } satisfies Owner);
    for (;;) {
      const file = await create(path, text);
      if (file) return new Lock(path, file);
      const found = await look(path);
      if (!found) continue;
      const owner = ownerIn(found);
      const isNear = owner?.host === host;
      const name = owner && `process ${owner.pid}${isNear ? '' : ` on ${owner.host.split(' ')[0]}`}`;
      if (isNear) {
        if (owner.folder === fileId(folder) && isRunning(owner)) throw inUse(folder, name);
      } else if (await isChanged(path, found, patienceMs)) {
        if ((await look(path))?.text === found.text) throw inUse(folder, name);
        continue;
      }
      const newer = await replace(path, found, text, patienceMs);
      if (newer) return new Lock(path, newer, isNear ? undefined : name);
    }
  }

  /** Whether the lock is still at its path. Takes microseconds. */
  isHeld(): boolean {
    return fileId(this.#path) === this.#id;
  }

  /** Stops the heartbeat. @param isOurs whether to remove the lock, too */
  async release(isOurs: boolean): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (isOurs) await removeFile(this.#path);
    } finally {
      await this.#file.close();
    }
  }
}

/** Whether a file in a data folder is its lock, or a claim to it that a killed process left. */
export function isLock(name: string): boolean {
  return /^lock(\.\d+)?$/.test(name);
}

/** The host name and, on Linux, the namespace of PIDs: two containers may have the same host name. */
function hostOf(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Creates a file with this text. @returns undefined if there is one */
async function create(path: string, text: string): Promise<FileHandle | undefined> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!file) return undefined;
  try {
    await file.writeFile(text);
    return file;
  } catch (error) {
    await file.close();
    await removeFile(path);
    throw error;
  }
}

/**
 * Replaces a lock whose owner is gone. The new lock is first a claim, `lock.1`, which only one process can create. While
 * it exists, no other process replaces the lock; so if the lock is still the same, it can be replaced. A claim that
 * stays was left by a killed process. It is not removed before the lock is replaced, because two processes could each
 * remove the other's: the next claim is `lock.2`.
 *
 * @returns undefined if another process was faster
 */
async function replace(
  path: string,
  stale: Found,
  text: string,
  patienceMs: number,
): Promise<FileHandle | undefined> {
  for (let number = 1; ; number++) {
    const claim = `${path}.${number}`;
    const file = await create(claim, text);
    if (file) {
      let isReplaced = false;
      try {
        if ((await look(path))?.stamp !== stale.stamp) return undefined;
        await rename(claim, path);
        isReplaced = true;
        for (let left = 1; left < number; left++) await removeFile(`${path}.${left}`).catch(() => {});
        return file;
      } finally {
        if (!isReplaced) {
          await file.close();
          await removeFile(claim);
        }
      }
    }
    const claimed = await look(claim);
    if (!claimed || (await isChanged(claim, claimed, patienceMs))) return undefined;
  }
}

/** Waits until a file changes or is gone. @returns false if it stays the same for this time */
async function isChanged(path: string, { stamp }: Found, patienceMs: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    await pause(POLL_MS);
    if ((await look(path))?.stamp !== stamp) return true;
  }
  return false;
}

/** Reads a lock. One that cannot be read, such as a link, has no text. Undefined if there is none. */
async function look(path: string): Promise<Found | undefined> {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const text = found && (await readText(path).catch(() => ''));
  return text === undefined ? undefined : { text, stamp: `${found?.mtimeNs} ${text}` };
}

/** Undefined for a lock that is incomplete or from another program. */
function ownerIn({ text }: Found): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Owner | null;
    return typeof owner?.host === 'string' && typeof owner.pid === 'number' ? owner : undefined;
  } catch {
    return undefined;
  }
}

function inUse(folder: string, owner = 'whose lock cannot be read'): GatewayError {
  // The command must work in any current folder.
  const stop =
    folder === resolve(DEFAULT_DATA_DIR) ? command('stop') : command('stop', '--data-dir', quoted(folder));
  return new GatewayError(
    'folder_in_use',
    `the data folder ${folder} is in use by another gateway-sim (${owner})`,
    {
      hint: hint`Stop it with: ${stop}`,
    },
  );
}
