import { randomBytes } from 'node:crypto';
import { type FileHandle, link, lstat, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { fileId, isMade, readText } from './files.ts';
import {
  identityOf,
  isElsewhere,
  isRunning,
  type Place,
  type ProcessIdentity,
  placeOf,
} from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/** Replacing a stale lock takes about a millisecond; others look again after this long, */
const TURN_MS = 10;
/** at most this often. */
const ATTEMPTS = 50;
/** A process that takes longer was killed over it, wherever it ran. */
const ABANDONED_MS = 5_000;

/** The owner renews the time of its lock this often, for those who cannot see its process. */
const HEARTBEAT_MS = 2_000;
/** A lock from elsewhere (another machine or container) is left behind when its time stands still for this long. */
const PATIENCE_MS = 6_000;
const LOOK_MS = 100;

/** Who holds a lock, and of which folder. */
type Holder = ProcessIdentity & Partial<Place> & { folder?: string };

/** What makes a data folder the property of one process. */
export class Lock {
  readonly #path: string;
  /** Open, so that no later file can get its identity while this one is compared with it. */
  readonly #file: FileHandle;
  readonly #id: string | undefined;
  readonly #folderId: string | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  /** The owner elsewhere that gave no sign any more, in words. */
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
   * @param patienceMs for a sign of an owner elsewhere, in real time
   * @throws GatewayError `folder_in_use` when another process has it; or the file system's error
   */
  static async take(folder: string, patienceMs = PATIENCE_MS): Promise<Lock> {
    const path = join(folder, 'lock');
    const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    const file = await open(mine, 'wx', 0o600);
    try {
      // Linked into place, so that nobody ever reads a lock that is only half written.
      await file.writeFile(ourselves(folder));
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await isMade(link(mine, path))) return new Lock(path, file, undefined);
        const left = await takeOver(path, mine, patienceMs);
        if (left) return new Lock(path, file, left.from);
      }
      throw inUse(folder, 'another gateway-sim');
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await rm(mine, { force: true });
    }
  }

  /** Whether the folder is still the one that was taken: neither removed nor moved nor replaced. Takes microseconds. */
  isHeld(): boolean {
    // Another folder may hold the same lock, by a hard link.
    const isSameFolder = fileId(dirname(this.#path)) === this.#folderId;
    return this.#id !== undefined && fileId(this.#path) === this.#id && isSameFolder;
  }

  /**
   * A lock that is not ours any more stays.
   *
   * @param before removes what else is ours; where it cannot, the lock is removed nevertheless
   * @throws the file system's error
   */
  async release(before: () => Promise<void>): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (!this.isHeld()) return;
      try {
        await before();
      } finally {
        await rm(this.#path, { force: true });
      }
    } finally {
      await this.#file.close();
    }
  }
}

/**
 * Puts our lock in the place of one whose process is gone.
 *
 * @returns the owner elsewhere whose lock it was; undefined when the lock is not ours, and is worth another look
 */
async function takeOver(
  lock: string,
  mine: string,
  patienceMs: number,
): Promise<{ from: string | undefined } | undefined> {
  const stale = await findStale(lock, patienceMs);
  if (!stale) return undefined;
  return (await replaceJudged(lock, stale.sign, mine)) ? { from: stale.elsewhere } : undefined;
}

/**
 * Puts a file in the place of one that was judged to be left behind. The right to do so is itself a file, named after
 * the one judged: there is one for each, so whoever comes late with an old judgement finds a lock that is not the one
 * it judged, and leaves it. A right that was left behind is replaced in the same way.
 *
 * @returns whether it was still that file
 */
async function replaceJudged(path: string, sign: string, by: string): Promise<boolean> {
  const right = join(dirname(path), `lock.${sign}`);
  const claim = `${right}.${randomBytes(4).toString('hex')}`;
  await writeFile(claim, ourselves(dirname(path)), { mode: 0o600 });
  try {
    if (!(await isMade(link(claim, right))) && !(await takeRight(right, claim))) return false;
    try {
      // Neither renewed nor replaced since it was judged; from here on nobody else may.
      if ((await signOf(path)) !== sign) return false;
      await rename(by, path);
      return true;
    } finally {
      await rm(right, { force: true });
    }
  } finally {
    await rm(claim, { force: true });
  }
}

/** @returns whether the right is ours: another process has it, or was killed while it had it */
async function takeRight(right: string, claim: string): Promise<boolean> {
  const sign = await signOf(right);
  const since = await lstat(right).catch(() => undefined);
  if (sign === undefined || !since) return false;
  const holder = parseHolder((await contentOf(right)) ?? '');
  const isGone = holder !== undefined && !isElsewhere(holder) && !isRunning(holder);
  if (isGone || Date.now() - since.mtimeMs > ABANDONED_MS) return replaceJudged(right, sign, claim);
  await new Promise((resolve) => setTimeout(resolve, TURN_MS));
  return false;
}

/** @throws GatewayError `folder_in_use` when a process that runs holds the lock */
async function findStale(lock: string, patienceMs: number) {
  const sign = await signOf(lock);
  const content = await contentOf(lock);
  if (sign === undefined || content === undefined) return undefined;
  const holder = parseHolder(content);
  if (holder && isElsewhere(holder)) {
    const elsewhere = `process ${holder.pid} on ${holder.host}`;
    if (await moves(lock, sign, patienceMs)) {
      throw inUse(dirname(lock), `another gateway-sim (${elsewhere})`);
    }
    return { sign, elsewhere };
  }
  // One of another folder came here with a copy of it, or with a checkout: that its owner runs says nothing of this one.
  const isOfHere = holder?.folder === fileId(dirname(lock));
  if (holder && isOfHere && isRunning(holder))
    throw inUse(dirname(lock), `another gateway-sim (process ${holder.pid})`);
  return { sign };
}

/** Whether the holder gives a sign: by nothing else is one on another machine or in another container known to run. */
async function moves(lock: string, sign: string, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const now = await signOf(lock);
    if (now === undefined) return false;
    if (now !== sign) return true;
  }
  return false;
}

/** What changes when a lock is renewed or replaced; undefined without one. */
async function signOf(lock: string): Promise<string | undefined> {
  const found = await lstat(lock, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}-${found.ino}-${found.mtimeNs}`;
}

/** Undefined where it cannot be read; empty for what is no lock of ours, such as a link. */
function contentOf(lock: string): Promise<string | undefined> {
  return readText(lock).catch((error: NodeJS.ErrnoException) => (error.syscall ? undefined : ''));
}

function ourselves(folder: string): string {
  return JSON.stringify({ ...identityOf(process.pid), ...placeOf(), folder: fileId(folder) });
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder = JSON.parse(content) as Holder;
    const texts = [holder.started, holder.host, holder.boot, holder.pidNamespace, holder.folder];
    const isOurs = texts.every((text) => text === undefined || text === null || typeof text === 'string');
    return isOurs && Number.isInteger(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

function inUse(folder: string, holder: string): GatewayError {
  // The command works in whichever folder it is read.
  const stop =
    folder === resolve(DEFAULT_DATA_DIR) ? command('stop') : command('stop', '--data-dir', quoted(folder));
  return new GatewayError('folder_in_use', `the data folder ${folder} is in use by ${holder}`, {
    hint: hint`Stop it with: ${stop} (or choose another folder with ${option('dataDir')}, or use ${option('inMemory')})`,
  });
}
