import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { fileId, isCreated, readText, removeFile } from './files.ts';
import {
  identityOf,
  isElsewhere,
  isRunning,
  type PidScope,
  type ProcessIdentity,
  pidScope,
} from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/** Replacing a stale lock takes about a millisecond. Other processes retry after this time. */
const RETRY_MS = 10;
/** Maximum attempts to acquire a lock. */
const ATTEMPTS = 50;
/** A claim older than this is from a killed process, on this or another machine. */
const ABANDONED_MS = 5_000;

/** How often the owner updates its lock's time, for processes that cannot see the owner's process. */
const HEARTBEAT_MS = 2_000;
/** A lock of another machine or container is stale after this time without a heartbeat. */
const PATIENCE_MS = 6_000;
const POLL_MS = 100;

/** The process that owns a lock, and the folder that it locked. */
type Owner = ProcessIdentity & Partial<PidScope> & { folder?: string };

/** The lock that reserves a data folder for one process. */
export class Lock {
  readonly #path: string;
  /** Kept open, so that no later file can have the same identity. */
  readonly #file: FileHandle;
  readonly #id: string | undefined;
  readonly #folderId: string | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  /** The previous owner on another machine or in another container, if its lock was stale. For humans. */
  readonly takenOverFrom: string | undefined;

  private constructor(path: string, file: FileHandle, takenOverFrom: string | undefined) {
    this.#path = path;
    this.#file = file;
    this.#id = fileId(path);
    this.#folderId = fileId(dirname(path));
    this.takenOverFrom = takenOverFrom;
    this.#heartbeat = setInterval(() => {
      const now = new Date();
      file.utimes(now, now).catch(() => {});
    }, HEARTBEAT_MS).unref();
  }

  /**
   * @param patienceMs how long to wait, in real time, for a heartbeat from another machine or container
   * @throws GatewayError `folder_in_use` if another process uses the folder; or the file system's error
   */
  static async acquire(folder: string, patienceMs = PATIENCE_MS): Promise<Lock> {
    const path = join(folder, 'lock');
    const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    const file = await open(mine, 'wx', 0o600);
    try {
      // Write first, then link: no process can read an incomplete lock.
      await file.writeFile(ownerText(folder));
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await isCreated(link(mine, path))) return new Lock(path, file, undefined);
        const left = await takeOver(path, mine, patienceMs);
        if (left) return new Lock(path, file, left.from);
      }
      throw inUse(folder, 'another gateway-sim');
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await removeFile(mine);
    }
  }

  /** Whether the folder is still the locked one: not removed, moved or replaced. Takes microseconds. */
  isHeld(): boolean {
    // Another folder can have a hard link to the same lock.
    const isSameFolder = fileId(dirname(this.#path)) === this.#folderId;
    return this.#id !== undefined && fileId(this.#path) === this.#id && isSameFolder;
  }

  /**
   * Removes the lock if this process still owns it.
   *
   * @param before removes our other files first. The lock is removed even if this fails.
   * @throws the file system's error
   */
  async release(before: () => Promise<void>): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (!this.isHeld()) return;
      try {
        await before();
      } finally {
        await removeFile(this.#path);
      }
    } finally {
      await this.#file.close();
    }
  }
}

/**
 * Replaces a stale lock with ours.
 *
 * @returns the previous owner, if it was on another machine or in another container. Undefined if the lock was not
 *   replaced and the caller should try again.
 */
async function takeOver(
  lock: string,
  mine: string,
  patienceMs: number,
): Promise<{ from: string | undefined } | undefined> {
  const stale = await findStale(lock, patienceMs);
  if (!stale) return undefined;
  return (await replaceStale(lock, stale.stamp, mine)) ? { from: stale.elsewhere } : undefined;
}

/**
 * Replaces a stale file. A process may do so only while it owns the claim for that file. A claim is a file that has
 * the stale file's stamp in its name. A process with an outdated stamp finds a different file and leaves it alone. A
 * stale claim is replaced in the same way.
 *
 * @returns whether the file was still the stale one
 */
async function replaceStale(path: string, stamp: string, by: string): Promise<boolean> {
  const claim = join(dirname(path), `lock.${stamp}`);
  const mine = `${claim}.${randomBytes(4).toString('hex')}`;
  await writeFile(mine, ownerText(dirname(path)), { mode: 0o600 });
  try {
    if (!(await isCreated(link(mine, claim))) && !(await takeOverClaim(claim, mine))) return false;
    try {
      // Check that it is unchanged. From here on, no other process may replace it.
      if ((await stampOf(path)) !== stamp) return false;
      await rename(by, path);
      return true;
    } finally {
      await removeFile(claim);
    }
  } finally {
    await removeFile(mine);
  }
}

/** Replaces an existing claim that was abandoned. @returns whether the claim is now ours */
async function takeOverClaim(claim: string, mine: string): Promise<boolean> {
  const stamp = await stampOf(claim);
  const found = await lstat(claim).catch(() => undefined);
  if (stamp === undefined || !found) return false;
  const owner = parseOwner((await contentOf(claim)) ?? '');
  const hasEnded = owner !== undefined && !isElsewhere(owner) && !isRunning(owner);
  if (hasEnded || Date.now() - found.mtimeMs > ABANDONED_MS) return replaceStale(claim, stamp, mine);
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  return false;
}

/** @throws GatewayError `folder_in_use` if the owner of the lock is running */
async function findStale(lock: string, patienceMs: number) {
  const stamp = await stampOf(lock);
  const content = await contentOf(lock);
  if (stamp === undefined || content === undefined) return undefined;
  const owner = parseOwner(content);
  if (owner && isElsewhere(owner)) {
    const elsewhere = `process ${owner.pid} on ${owner.host}`;
    if (await hasHeartbeat(lock, stamp, patienceMs)) {
      throw inUse(dirname(lock), `another gateway-sim (${elsewhere})`);
    }
    return { stamp, elsewhere };
  }
  // A lock from another folder came with a copy or a checkout, so its owner does not use this folder.
  const isOfThisFolder = owner?.folder === fileId(dirname(lock));
  if (owner && isOfThisFolder && isRunning(owner))
    throw inUse(dirname(lock), `another gateway-sim (process ${owner.pid})`);
  return { stamp };
}

/** Whether the lock is renewed in time. Nothing else shows that its owner on another machine or container is running. */
async function hasHeartbeat(lock: string, stamp: string, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = await stampOf(lock);
    if (now === undefined) return false;
    if (now !== stamp) return true;
  }
  return false;
}

/** A value that changes when a lock is renewed or replaced; undefined if there is no lock. */
async function stampOf(lock: string): Promise<string | undefined> {
  const found = await lstat(lock, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}-${found.ino}-${found.mtimeNs}`;
}

/** Undefined if the lock cannot be read; empty if it is not a valid lock, such as a link. */
function contentOf(lock: string): Promise<string | undefined> {
  return readText(lock).catch((error: NodeJS.ErrnoException) => (error.syscall ? undefined : ''));
}

/** The content of a lock or claim of this process. */
function ownerText(folder: string): string {
  return JSON.stringify({ ...identityOf(process.pid), ...pidScope(), folder: fileId(folder) });
}

function parseOwner(content: string): Owner | undefined {
  try {
    const owner = JSON.parse(content) as Owner;
    const texts = [owner.started, owner.host, owner.boot, owner.pidNamespace, owner.folder];
    const isOurs = texts.every((text) => text === undefined || text === null || typeof text === 'string');
    return isOurs && Number.isInteger(owner.pid) ? owner : undefined;
  } catch {
    return undefined;
  }
}

function inUse(folder: string, owner: string): GatewayError {
  // The command must work in any current folder.
  const stop =
    folder === resolve(DEFAULT_DATA_DIR) ? command('stop') : command('stop', '--data-dir', quoted(folder));
  return new GatewayError('folder_in_use', `the data folder ${folder} is in use by ${owner}`, {
    hint: hint`Stop it with: ${stop} (or choose another folder with ${option('dataDir')}, or use ${option('inMemory')})`,
  });
}
