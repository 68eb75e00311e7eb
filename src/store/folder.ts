import { existsSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { GatewayError, hint, option } from '../contract/error.ts';
import {
  fileId,
  isCreated,
  isFolder,
  isTemporary,
  makeFolder,
  onFolder,
  openFile,
  readText,
  removeFile,
} from '../system/files.ts';
import { replaced } from './errors.ts';
import { isLock, Lock, type Waiting } from './lock.ts';
import { DEFAULT_DATA_DIR, removeServerInfo, type ServerInfo, writeServerInfo } from './server-file.ts';

/** The file in the data folder for the output of a detached emulator. */
export const LOG_FILE = 'start.log';

/** A `.gitignore` that keeps a data folder out of repositories. */
const IGNORE_ALL = '*\n';

/** In the order to move them: a snapshot without its journal would look like a complete state. */
const STATE_FILES = ['db.json', 'journal.jsonl', 'journal.needed'];

/** A data folder that only this process writes to, because it owns the file `lock` in it. */
export class DataFolder {
  readonly path: string;
  /** Messages for the user about the lock. */
  readonly notices: readonly string[];
  readonly #lock: Lock;
  readonly #id: string | undefined;

  private constructor(path: string, lock: Lock) {
    this.path = path;
    this.notices =
      lock.takenOverFrom === undefined
        ? []
        : [`took over ${path} from ${lock.takenOverFrom}, which no longer responds`];
    this.#lock = lock;
    this.#id = fileId(path);
  }

  /**
   * Creates the folder if it does not exist, and locks it. An empty folder gets a `.gitignore`. A folder with other files
   * does not, because it may belong in a repository.
   *
   * @param options.isNamed whether the user named the folder (default). A named folder may belong to another user.
   * @throws GatewayError `folder_in_use` if another process uses it; `storage_failed` if it cannot be written, or was
   *   not named and belongs to another user
   */
  static async acquire(
    path: string,
    { isNamed = true, ...waiting }: { isNamed?: boolean } & Waiting = {},
  ): Promise<DataFolder> {
    const folder = resolve(path);
    return onFolder(folder, async () => {
      await makeDataFolder(folder, isNamed);
      const isNew = (await readdir(folder)).every(isOfStart);
      // Two bytes: three calls of the thread pool would take longer than the write.
      if (isNew) writeFileSync(join(folder, '.gitignore'), IGNORE_ALL, { mode: 0o644 });
      const owned = new DataFolder(folder, await Lock.take(folder, waiting));
      await owned.#removeLeftOvers().catch(async (error) => {
        await owned.release();
        throw error;
      });
      return owned;
    });
  }

  /** Removes the temporary files of killed owners, which would otherwise add up. */
  async #removeLeftOvers(): Promise<void> {
    for (const name of await readdir(this.path)) {
      if (!isTemporary(name)) continue;
      this.assertOurs();
      removeFile(join(this.path, name));
    }
  }

  /** Whether the folder is still the locked one: not removed, moved or replaced. Takes microseconds. */
  #isHeld(): boolean {
    // Another folder can have a hard link to the same lock.
    return this.#lock.isHeld() && fileId(this.path) === this.#id;
  }

  /** @throws GatewayError `storage_failed` if the folder at this path is no longer the locked one */
  readonly assertOurs = (): void => {
    if (!this.#isHeld()) throw replaced(this.path);
  };

  readonly isTakenOver = (): boolean => this.#lock.isTakenOver();

  /** Writes the server's address for commands. @throws GatewayError `storage_failed` */
  announce(info: ServerInfo): Promise<void> {
    return onFolder(this.path, () => writeServerInfo(this.path, info, this.assertOurs));
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
    return onFolder(this.path, async () => {
      let isOurs = false;
      try {
        isOurs = this.#isHeld();
        if (isOurs) removeServerInfo(this.path);
      } finally {
        await this.#lock.release(isOurs);
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
const isOfStart = (name: string) => name === LOG_FILE || isLock(name);

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
