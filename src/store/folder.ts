import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import {
  chmod,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { command, GatewayError, hint, option } from '../contract/error.ts';
import { clearInterval, performance, realNow, setInterval, setTimeout } from '../system/real-time.ts';
import {
  fileId,
  isCreated,
  isFolder,
  makeFolder,
  onFolder,
  openFile,
  readText,
  removeFile,
  replaced,
} from './files.ts';
import {
  identityOf,
  isElsewhere,
  isRunning,
  type PidScope,
  type ProcessIdentity,
  pidScope,
} from './process-identity.ts';
import { DEFAULT_DATA_DIR, removeServerInfo, type ServerInfo, writeServerInfo } from './server-file.ts';

/** The file in the data folder for the output of a detached emulator. */
export const LOG_FILE = 'start.log';

const LOCK_FILE = 'lock';

/** A `.gitignore` that keeps a data folder out of repositories. */
const IGNORE_ALL = '*\n';

/** In the order to move them: a snapshot without its journal would look like a complete state. */
const STATE_FILES = ['db.json', 'journal.jsonl'];

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

/** A data folder that only this process writes to, because it owns the file `lock` in it. */
export class DataFolder {
  readonly path: string;
  /** Messages for the user about the lock. */
  readonly notices: readonly string[];
  readonly #lock: string;
  /** The lock. Kept open, so that no later file can have the same identity. */
  readonly #file: FileHandle;
  readonly #lockId: string | undefined;
  readonly #folderId: string | undefined;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, file: FileHandle, takenOverFrom: string | undefined) {
    this.path = path;
    this.notices =
      takenOverFrom === undefined
        ? []
        : [`took over ${path} from ${takenOverFrom}, which no longer responds`];
    this.#lock = join(path, LOCK_FILE);
    this.#file = file;
    this.#lockId = fileId(this.#lock);
    this.#folderId = fileId(path);
    this.#heartbeat = setInterval(() => {
      const now = new Date();
      file.utimes(now, now).catch(() => {});
    }, HEARTBEAT_MS).unref();
  }

  /**
   * Creates the folder if it does not exist, and locks it. An empty folder gets a `.gitignore`. A folder with other files
   * does not, because it may belong in a repository.
   *
   * @param options.isNamed whether the user named the folder (default). A named folder may belong to another user.
   * @param options.patienceMs how long to wait, in real time, for a heartbeat of an owner on another machine or in
   *   another container
   * @throws GatewayError `folder_in_use` if another process uses it; `storage_failed` if it cannot be written, or was
   *   not named and belongs to another user
   */
  static async acquire(
    path: string,
    { isNamed = true, patienceMs = PATIENCE_MS }: { isNamed?: boolean; patienceMs?: number } = {},
  ): Promise<DataFolder> {
    const folder = resolve(path);
    return onFolder(folder, async () => {
      await makeDataFolder(folder, isNamed);
      const isNew = (await readdir(folder)).every(isOfStart);
      const { file, takenOverFrom } = await acquireLock(folder, patienceMs);
      // Two bytes: three calls of the thread pool would take longer than the write.
      if (isNew) writeFileSync(join(folder, '.gitignore'), IGNORE_ALL, { mode: 0o644 });
      return new DataFolder(folder, file, takenOverFrom);
    });
  }

  /** Whether the folder is still the locked one: not removed, moved or replaced. Takes microseconds. */
  #isHeld(): boolean {
    // Another folder can have a hard link to the same lock.
    const isSameFolder = fileId(this.path) === this.#folderId;
    return this.#lockId !== undefined && fileId(this.#lock) === this.#lockId && isSameFolder;
  }

  /** @throws GatewayError `storage_failed` if the folder at this path is no longer the locked one */
  readonly assertOurs = (): void => {
    if (!this.#isHeld()) throw replaced(this.path);
  };

  /** Writes the server's address for commands. @throws GatewayError `storage_failed` */
  announce(info: ServerInfo): Promise<void> {
    return onFolder(this.path, () => writeServerInfo(this.path, info));
  }

  /**
   * Moves the state into a new backup folder inside this one, so that the next start creates a new state.
   *
   * @returns the backup folder; null if nothing is stored
   * @throws GatewayError `storage_failed`
   */
  async backUpState(now: Date): Promise<string | null> {
    const stored = storedFiles(this.path);
    if (!stored.length) return null;
    const name = `backup-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`;
    return onFolder(this.path, async () => {
      const backup = await newFolder(join(this.path, name));
      for (const file of stored) await rename(join(this.path, file), join(backup, file));
      return backup;
    });
  }

  /**
   * Removes our files, and the lock even if that fails. Changes nothing if the folder is no longer the locked one.
   *
   * @throws GatewayError `storage_failed`
   */
  release(): Promise<void> {
    clearInterval(this.#heartbeat);
    return onFolder(this.path, async () => {
      try {
        if (!this.#isHeld()) return;
        await removeServerInfo(this.path).finally(() => removeFile(this.#lock));
      } finally {
        await this.#file.close();
      }
    });
  }
}

/**
 * Creates a data folder, for its owner only, if it does not exist.
 *
 * @param path absolute
 * @param isNamed whether the user named the folder. If not, an existing folder may belong to another user, or come from
 *   a checkout and be open to others.
 * @throws the same errors as `makeFolder`, or GatewayError `storage_failed` for another user's folder
 */
export async function makeDataFolder(path: string, isNamed: boolean): Promise<void> {
  await makeFolder(path, 0o700);
  if (isNamed) return;
  const found = await lstat(path);
  const uid = process.getuid?.() ?? found.uid;
  if (found.isSymbolicLink()) throw notOurs(path, 'is a link');
  if (found.uid !== uid) throw notOurs(path, 'belongs to another user');
  // A folder with another name, from a configuration file, may also have another purpose.
  if (basename(path) === DEFAULT_DATA_DIR && found.mode & 0o077) await chmod(path, 0o700);
}

function notOurs(path: string, why: string): GatewayError {
  return new GatewayError('storage_failed', `the data folder ${path} ${why} and was not used`, {
    hint: hint`To use it anyway, specify it with ${option('dataDir', relative('', path) || '.')}, or choose another one.`,
  });
}

const storedFiles = (folder: string) => STATE_FILES.filter((file) => existsSync(join(folder, file)));

/** Creates a folder with an unused name. */
async function newFolder(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? path : `${path}-${number}`;
    if (await isCreated(mkdir(free, { mode: 0o700 }))) return free;
  }
}

/** Whether a file is the log or lock of a start, maybe of an earlier one that was killed. */
const isOfStart = (name: string) => name === LOG_FILE || /^lock(\.|$)/.test(name);

/** Whether a folder has only `db.json`, apart from a start's log and lock, and a journal that it was about to create. */
export async function hasOnlySnapshot(folder: string): Promise<boolean> {
  const others = (await readdir(folder)).filter((name) => !isOfStart(name));
  return others.every((name) => name === 'db.json' || name === 'journal.jsonl.tmp');
}

/** The beginning of a state file. An empty file, such as from mktemp, also matches. */
const BEGINNING = /^\s*$|^\s*\{\s*"version"\s*:\s*\d/;

/** Whether a file is a state or empty: other tools use the same file names. */
export async function looksLikeState(path: string): Promise<boolean> {
  const file = await openFile(path, 'read', { follows: true });
  const beginning: string[] = await file.createReadStream({ end: 63, encoding: 'utf8' }).toArray();
  return BEGINNING.test(beginning.join(''));
}

/** Whether a folder is a data folder: by its default name, by a state, or by state files and our `.gitignore`. */
export async function isDataFolder(path: string): Promise<boolean> {
  if (!(await isFolder(path))) return false;
  if (basename(resolve(path)) === DEFAULT_DATA_DIR) return true;
  if (await looksLikeState(join(path, 'db.json')).catch(() => false)) return true;
  const ignore = await readText(join(path, '.gitignore')).catch(() => '');
  return ignore === IGNORE_ALL && storedFiles(path).length > 0;
}

/**
 * @returns the lock, and its previous owner on another machine or in another container if its lock was stale
 * @throws GatewayError `folder_in_use` if another process uses the folder; or the file system's error
 */
async function acquireLock(folder: string, patienceMs: number) {
  const lock = join(folder, LOCK_FILE);
  const mine = `${lock}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = await open(mine, 'wx', 0o600);
  try {
    // Write first, then link: no process can read an incomplete lock.
    await file.writeFile(ownerText(folder));
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await isCreated(link(mine, lock))) return { file, takenOverFrom: undefined };
      const stale = await findStale(lock, patienceMs);
      if (stale && (await replaceStale(lock, stale.stamp, mine)))
        return { file, takenOverFrom: stale.elsewhere };
    }
    throw inUse(folder, 'another gateway-sim');
  } catch (error) {
    await file.close();
    throw error;
  } finally {
    await removeFile(mine);
  }
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
  if (hasEnded || realNow() - found.mtimeMs > ABANDONED_MS) return replaceStale(claim, stamp, mine);
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
