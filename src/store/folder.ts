import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isCreated, onFolder, openFile, readText, replaced } from './files.ts';
import { Lock } from './lock.ts';
import { makeDataFolder } from './make-folder.ts';
import { DEFAULT_DATA_DIR, removeServerInfo, type ServerInfo, writeServerInfo } from './server-file.ts';

/** The file in the data folder for the output of a detached emulator. */
export const LOG_FILE = 'start.log';

/** A `.gitignore` that keeps a data folder out of repositories. */
const IGNORE_ALL = '*\n';

/** In the order to move them: a snapshot without its journal would look like a complete state. */
const STATE_FILES = ['db.json', 'journal.jsonl'];

/** A data folder that only this process writes to. */
export class DataFolder {
  readonly path: string;
  readonly #lock: Lock;

  private constructor(path: string, lock: Lock) {
    this.path = path;
    this.#lock = lock;
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
    { isNamed = true, patienceMs }: { isNamed?: boolean; patienceMs?: number } = {},
  ): Promise<DataFolder> {
    const folder = resolve(path);
    return onFolder(folder, async () => {
      await makeDataFolder(folder, isNamed);
      const isNew = (await readdir(folder)).every(isOfStart);
      const lock = await Lock.acquire(folder, patienceMs);
      // Two bytes: three calls of the thread pool would take longer than the write.
      if (isNew) writeFileSync(join(folder, '.gitignore'), IGNORE_ALL, { mode: 0o644 });
      return new DataFolder(folder, lock);
    });
  }

  /** Messages for the user about the lock. */
  get notices(): string[] {
    const { takenOverFrom } = this.#lock;
    if (takenOverFrom === undefined) return [];
    return [`took over ${this.path} from ${takenOverFrom}, which no longer responds`];
  }

  /** @throws GatewayError `storage_failed` if the folder at this path is no longer the locked one */
  readonly assertOurs = (): void => {
    if (!this.#lock.isHeld()) throw replaced(this.path);
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

  /** Changes nothing if the folder is no longer the locked one. @throws GatewayError `storage_failed` */
  release(): Promise<void> {
    return onFolder(this.path, () => this.#lock.release(() => removeServerInfo(this.path)));
  }
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

/** Whether a folder has only `db.json`, apart from a start's log and lock. */
export async function hasOnlySnapshot(folder: string): Promise<boolean> {
  return (await readdir(folder)).every((name) => name === 'db.json' || isOfStart(name));
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
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
  if (!isFolder || basename(resolve(path)) === DEFAULT_DATA_DIR) return isFolder;
  if (await looksLikeState(join(path, 'db.json')).catch(() => false)) return true;
  const ignore = await readText(join(path, '.gitignore')).catch(() => '');
  return ignore === IGNORE_ALL && storedFiles(path).length > 0;
}
