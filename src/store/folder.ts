import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isMade, onFolder, openFile, readText, replaced } from './files.ts';
import { Lock } from './lock.ts';
import { makeDataFolder } from './make-folder.ts';
import { DEFAULT_DATA_DIR, removeServerInfo, type ServerInfo, writeServerInfo } from './server-file.ts';

/** What a detached emulator says goes to this file of its data folder. */
export const LOG_FILE = 'start.log';

/** Keeps a data folder out of repositories. */
const IGNORE_ALL = '*\n';

/** What holds the state, in the order in which it may go: a snapshot that lost its journal would pass for a whole state. */
const STATE_FILES = ['db.json', 'journal.jsonl'];

/** A data folder that this process alone may write. */
export class DataFolder {
  readonly path: string;
  readonly #lock: Lock;

  private constructor(path: string, lock: Lock) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Makes the folder where it does not exist and takes its lock. Repositories ignore it when nothing is in it yet: in
   * a folder that others use too, that is not ours to decide.
   *
   * @param options.isNamed whether the user named it (default), and so means it whoever has it
   * @param options.patienceMs for a sign of an owner on another machine or in another container, in real time
   * @throws GatewayError `folder_in_use` when another process has it, `storage_failed` when it cannot be written, or was
   *   not named and belongs to somebody else
   */
  static async take(
    path: string,
    { isNamed = true, patienceMs }: { isNamed?: boolean; patienceMs?: number } = {},
  ): Promise<DataFolder> {
    const folder = resolve(path);
    return onFolder(folder, async () => {
      await makeDataFolder(folder, isNamed);
      const isNew = (await readdir(folder)).every(isOfStart);
      const lock = await Lock.take(folder, patienceMs);
      if (isNew) await writeFile(join(folder, '.gitignore'), IGNORE_ALL, { mode: 0o644 });
      return new DataFolder(folder, lock);
    });
  }

  /** What should be known of how it was taken. */
  get notices(): string[] {
    const { takenOverFrom } = this.#lock;
    if (takenOverFrom === undefined) return [];
    return [`took over ${this.path} from ${takenOverFrom}, which showed no sign of life`];
  }

  /** @throws GatewayError `storage_failed` when what is at its path now may belong to somebody else */
  readonly assertOurs = (): void => {
    if (!this.#lock.isHeld()) throw replaced(this.path);
  };

  /** Tells commands where the server is. @throws GatewayError `storage_failed` */
  announce(info: ServerInfo): Promise<void> {
    return onFolder(this.path, () => writeServerInfo(this.path, info));
  }

  /**
   * Moves the state into a folder of its own inside this one, so that the next start makes a new one. Returns that
   * folder; null when nothing is stored. @throws GatewayError `storage_failed`
   */
  async setStateAside(now: Date): Promise<string | null> {
    const stored = storedFiles(this.path);
    if (!stored.length) return null;
    const name = `backup-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`;
    return onFolder(this.path, async () => {
      const backup = await newFolder(join(this.path, name));
      for (const file of stored) await rename(join(this.path, file), join(backup, file));
      return backup;
    });
  }

  /** Leaves what is not ours any more as it is. @throws GatewayError `storage_failed` */
  release(): Promise<void> {
    return onFolder(this.path, () => this.#lock.release(() => removeServerInfo(this.path)));
  }
}

const storedFiles = (folder: string) => STATE_FILES.filter((file) => existsSync(join(folder, file)));

/** Makes a folder that was not there before. */
async function newFolder(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? path : `${path}-${number}`;
    if (await isMade(mkdir(free, { mode: 0o700 }))) return free;
  }
}

/** Whether a file is the log or the lock of a start: of this one, or of one that was killed before it had done more. */
const isOfStart = (name: string) => name === LOG_FILE || /^lock(\.|$)/.test(name);

/** Whether a folder holds nothing but `db.json`, and what a start begins with. */
export async function isAlone(folder: string): Promise<boolean> {
  return (await readdir(folder)).every((name) => name === 'db.json' || isOfStart(name));
}

/** How a state file begins; an empty one, such as mktemp makes, may be taken too. */
const BEGINNING = /^\s*$|^\s*\{\s*"version"\s*:\s*\d/;

/** Whether a file holds a state, or nothing: other tools have files of the same names. */
export async function beginsAsState(path: string): Promise<boolean> {
  const file = await openFile(path, 'read', { follows: true });
  const beginning: string[] = await file.createReadStream({ end: 63, encoding: 'utf8' }).toArray();
  return BEGINNING.test(beginning.join(''));
}

/** Whether a folder is one of ours: it has our name, a state, or at least state files and the `.gitignore` of a start. */
export async function isDataFolder(path: string): Promise<boolean> {
  const isFolder = (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
  if (!isFolder || basename(resolve(path)) === DEFAULT_DATA_DIR) return isFolder;
  if (await beginsAsState(join(path, 'db.json')).catch(() => false)) return true;
  const ignore = await readText(join(path, '.gitignore')).catch(() => '');
  return ignore === IGNORE_ALL && storedFiles(path).length > 0;
}
