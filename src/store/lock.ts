import { existsSync, fstatSync, lstatSync, readFileSync, renameSync } from 'node:fs';
import { type FileHandle, open, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { quoted } from '../contract/curl.ts';
import { command, GatewayError, hint, SECOND_EMULATOR } from '../contract/error.ts';
import { fileId, readText, removeFile } from '../system/files.ts';
import { identityOf, isAlive, isRunning, type ProcessIdentity } from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/*
 * The lock of a data folder: a file that only one process can create. It names its owner, and its time is a heartbeat.
 * The heartbeat decides whether the owner still uses the folder, unless the owner can be looked up from here.
 */

const LOCK_FILE = 'lock';

/** How often the owner updates the time of its lock. */
const HEARTBEAT_MS = 2_000;
/** A file that nobody changes for this time has no owner: a lock without heartbeat, or one that was never completed. */
const PATIENCE_MS = 6_000;
const POLL_MS = 50;

/** The content of a lock. */
interface Owner extends ProcessIdentity {
  host: string;
  /** Where the owner can be looked up: see `placeOf`. */
  place: string | null;
  /** The folder that it locked. A lock that came with a copy of the folder has another one. */
  folder: string | undefined;
}

/** A lock as it was found. */
interface Found {
  text: string;
  /** Changes when the lock is renewed or replaced. */
  stamp: string;
}

/** How a start waits for the lock of another owner. */
export interface Waiting {
  /** How long to wait for a heartbeat, in real time; default: three of them. */
  patienceMs?: number | undefined;
  /** Called with the reason before a wait. */
  warn?: ((text: string) => void) | undefined;
}

/** A lock that this process owns. */
export class Lock {
  /** Its owner before, which had no heartbeat; undefined if there was none, or it had certainly ended. */
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
      if (this.isHeld()) await utimes(path, Date.now() / 1_000, Date.now() / 1_000);
    };
    this.#heartbeat = setInterval(() => void renew().catch(() => {}), HEARTBEAT_MS).unref();
  }

  /**
   * Locks a folder. Takes over the lock of an owner that is gone.
   *
   * @throws GatewayError `folder_in_use` if another process uses it; or the file system's error
   */
  static async take(folder: string, { patienceMs = PATIENCE_MS, warn = () => {} }: Waiting): Promise<Lock> {
    const path = join(folder, LOCK_FILE);
    const own = {
      ...identityOf(process.pid),
      host: hostname(),
      place: placeOf(),
      folder: fileId(folder),
    } satisfies Owner;
    const text = JSON.stringify(own);
    for (;;) {
      const file = await create(path, text);
      if (file) return new Lock(path, file);
      const found = await look(path);
      if (!found) continue;
      const owner = ownerIn(found);
      const isUsed = owner && isUsing(owner, own);
      const name = owner && nameOf(owner, own);
      if (isUsed === undefined) {
        warn(`waiting up to ${patienceMs / 1_000} s to see whether ${name ?? 'anyone'} still uses ${folder}`);
        if (await isChanged(path, found, patienceMs)) {
          if ((await look(path))?.text === found.text) throw inUse(folder, name);
          continue;
        }
      } else if (isUsed) throw inUse(folder, name);
      const newer = await replace(path, found, text, patienceMs);
      if (newer) return new Lock(path, newer, isUsed === undefined ? name : undefined);
    }
  }

  /** Whether the lock is still at its path. Takes microseconds. */
  isHeld(): boolean {
    return fileId(this.#path) === this.#id;
  }

  /** Whether another process may have locked the same folder: this lock is gone, and there is another one. */
  isTakenOver(): boolean {
    return fstatSync(this.#file.fd).nlink === 0 && existsSync(this.#path);
  }

  /** Stops the heartbeat. @param isOurs whether to remove the lock, too */
  async release(isOurs: boolean): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (isOurs) removeFile(this.#path);
    } finally {
      await this.#file.close();
    }
  }
}

/** Whether a file in a data folder is its lock, or a claim to it that a killed process left. */
export function isLock(name: string): boolean {
  return /^lock(\.\d+)?$/.test(name);
}

/**
 * Where a process id names the same process: on this machine until its next boot, and in a container, which has a first
 * process of its own, only there. Null if unknown. Without /proc, only the host name tells.
 */
function placeOf(): string | null {
  if (process.platform !== 'linux') return hostname();
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const { started } = identityOf(1);
    return started && `${boot} ${started}`;
  } catch {
    return null;
  }
}

const isNear = (owner: Owner, own: Owner) => own.place !== null && owner.place === own.place;

/** Whether the owner of a lock uses the folder; undefined if only its heartbeat can tell. */
function isUsing(owner: Owner, own: Owner): boolean | undefined {
  if (!isNear(owner, own)) return undefined;
  if (owner.folder !== own.folder || !isAlive(owner.pid)) return false;
  // Without a start time, it may be a later process with the same id.
  return owner.started === null ? undefined : isRunning(owner);
}

/** The owner in words. Two machines may have the same host name. */
function nameOf(owner: Owner, own: Owner): string {
  const where = isNear(owner, own) ? '' : ` on ${owner.host}, which is another machine or container`;
  return `process ${owner.pid}${where}`;
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
    removeFile(path);
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
        if (stampOf(path) !== stale.stamp) return undefined;
        renameSync(claim, path);
        isReplaced = true;
        for (let left = 1; left < number; left++) removeFile(`${path}.${left}`);
        return file;
      } finally {
        if (!isReplaced) {
          await file.close();
          removeFile(claim);
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
    if (stampOf(path) !== stamp) return true;
  }
  return false;
}

/** Reads a lock. One that cannot be read, such as a link, has no text. Undefined if there is none. */
async function look(path: string): Promise<Found | undefined> {
  const stamp = stampOf(path);
  return stamp === undefined ? undefined : { stamp, text: await readText(path).catch(() => '') };
}

function stampOf(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino}:${found.mtimeNs}`;
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
      hint: hint`${SECOND_EMULATOR}, or stop this one with: ${stop}`,
    },
  );
}
