import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  access,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { type CommandHint, command, hint, option } from '../contract/hint.ts';
import { quoted } from '../wire/curl.ts';
import { reason } from './journal.ts';

/** The folder that `start` uses unless it is told another. */
export const DEFAULT_DATA_DIR = '.gateway-sim';

/** What a detached emulator says goes to this file of its data folder. */
export const LOG_FILE = 'start.log';

/** Keeps a data folder out of repositories. */
const IGNORE_ALL = '*\n';

/** What a running server leaves in its folder for the commands that look for it. Readable by its owner only. */
export interface ServerInfo {
  url: string;
  pid: number;
  controlToken: string | null;
}

/** Who holds a lock: enough to tell a process from a later one with the same number. */
interface Holder {
  pid: number;
  /** When that process was started, in the system's own ticks; null where the system does not tell. */
  started: string | null;
}

/** What Linux tells of a process: its state, parent, group, session and so on (proc(5), from the third field). Empty elsewhere. */
export function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Counted behind the command name in brackets, which may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** The 22nd field. */
function startOf(pid: number): string | null {
  return statOf(pid)[19] ?? null;
}

/** Whether a process of this number runs. One that has ended but whose parent never asked (as in containers) does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return statOf(pid)[0] !== 'Z';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function holds(holder: Holder): boolean {
  if (!isAlive(holder.pid)) return false;
  return holder.started === null || holder.started === startOf(holder.pid);
}

/** How to stop the server of a folder, whichever folder that is said in. */
function stopCommand(path: string): CommandHint {
  return path === resolve(DEFAULT_DATA_DIR) ? command('stop') : command('stop', '--data-dir', quoted(path));
}

/** The error for a data folder that cannot be written. */
export function unwritableFolder(path: string, cause: unknown): GatewayError {
  return new GatewayError('storage_failed', `the data folder ${path} cannot be written: ${reason(cause)}`, {
    hint: hint`Choose another one with ${option('dataDir')}, or use ${option('inMemory')}.`,
    cause,
  });
}

/** Removing a stale lock takes less than a millisecond; others look again after so long, so often. */
const TURN_MS = 10;
const ATTEMPTS = 50;
/** Whoever takes longer was killed over it. */
const ABANDONED_MS = 5_000;

/** A data folder that this process alone may write. */
export class DataFolder {
  readonly path: string;
  readonly #lock: string;

  private constructor(path: string) {
    this.path = path;
    this.#lock = join(path, 'lock');
  }

  /**
   * Makes the folder where it does not exist and takes its lock. Repositories are told to ignore it when nothing is in
   * it yet: in a folder that others use too, that is not ours to decide.
   *
   * @throws GatewayError `folder_in_use` when another process has it, `storage_failed` when it cannot be written
   */
  static async take(path: string): Promise<DataFolder> {
    const folder = new DataFolder(resolve(path));
    try {
      await mkdir(folder.path, { recursive: true });
      const isNew = (await readdir(folder.path)).every((name) => name === LOG_FILE);
      await folder.#takeLock();
      if (isNew) await writeFile(join(folder.path, '.gitignore'), IGNORE_ALL);
    } catch (error) {
      throw error instanceof GatewayError ? error : unwritableFolder(folder.path, error);
    }
    return folder;
  }

  async #takeLock(): Promise<void> {
    const own: Holder = { pid: process.pid, started: startOf(process.pid) };
    const mine = `${this.#lock}.${process.pid}.${randomBytes(4).toString('hex')}`;
    // Linked into place, so that nobody ever reads a lock that is only half written.
    await writeFile(mine, JSON.stringify(own), { mode: 0o600 });
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        try {
          await link(mine, this.#lock);
          return;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        }
        await this.#removeStaleLock();
      }
      throw this.#inUse(undefined);
    } finally {
      await unlink(mine);
    }
  }

  /**
   * Removes the lock of a process that is gone. One at a time, who looks again when it is his turn: between a look and
   * the removal another could have done the same and taken the lock.
   */
  async #removeStaleLock(): Promise<void> {
    if (!(await this.#isStale())) return;
    const turn = `${this.#lock}.turn`;
    try {
      await writeFile(turn, '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const age = await stat(turn).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > ABANDONED_MS) await rm(turn, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      return;
    }
    try {
      if (await this.#isStale()) await rm(this.#lock, { force: true });
    } finally {
      await rm(turn, { force: true });
    }
  }

  /** @throws GatewayError `folder_in_use` when a process that runs holds the lock */
  async #isStale(): Promise<boolean> {
    const content = await readFile(this.#lock, 'utf8').catch(() => undefined);
    if (content === undefined) return false;
    const holder = parseHolder(content);
    if (holder && holds(holder)) throw this.#inUse(holder.pid);
    return true;
  }

  #inUse(pid: number | undefined): GatewayError {
    const who = pid === undefined ? 'another gateway-sim' : `another gateway-sim (process ${pid})`;
    return new GatewayError('folder_in_use', `the data folder ${this.path} is in use by ${who}`, {
      hint: hint`Stop it with: ${stopCommand(this.path)} (or choose another folder with ${option('dataDir')}, or use ${option('inMemory')})`,
    });
  }

  /** Tells commands where the server is. @throws GatewayError `storage_failed` */
  async announce(info: ServerInfo): Promise<void> {
    const file = join(this.path, 'server.json');
    const temporary = `${file}.tmp`;
    try {
      await rm(temporary, { force: true });
      const { pid } = info;
      await writeFile(temporary, `${JSON.stringify({ ...info, started: startOf(pid) })}\n`, { mode: 0o600 });
      await rename(temporary, file);
    } catch (error) {
      throw unwritableFolder(this.path, error);
    }
  }

  /**
   * Moves the state into a folder of its own inside this one, so that the next start makes a new one.
   *
   * @returns that folder; null when nothing is stored
   * @throws GatewayError `storage_failed`
   */
  async setStateAside(now: Date): Promise<string | null> {
    const stored = await storedFiles(this.path);
    if (!stored.length) return null;
    const name = `backup-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`;
    try {
      const backup = await newFolder(join(this.path, name));
      for (const file of stored) await rename(join(this.path, file), join(backup, file));
      return backup;
    } catch (error) {
      throw unwritableFolder(this.path, error);
    }
  }

  /** Lets go of the folder. */
  async release(): Promise<void> {
    await rm(join(this.path, 'server.json'), { force: true });
    await rm(this.#lock, { force: true });
  }
}

/** What holds the state, in the order in which it may go: a snapshot that lost its journal would pass for a whole state. */
const STATE_FILES = ['db.json', 'journal.jsonl'];

async function storedFiles(folder: string): Promise<string[]> {
  const there = await Promise.all(
    STATE_FILES.map((file) =>
      access(join(folder, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return STATE_FILES.filter((_, index) => there[index]);
}

/** Makes a folder that was not there before. */
async function newFolder(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? path : `${path}-${number}`;
    try {
      await mkdir(free, { mode: 0o700 });
      return free;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** How a state file begins; an empty one, such as mktemp makes, may be taken too. */
const BEGINNING = /^\s*$|^\s*\{\s*"version"\s*:\s*\d/;

/** Whether a file holds a state, or nothing: other tools have files of the same names. */
export async function beginsAsState(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return BEGINNING.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Whether a folder is one of ours: it has our name, a state, or at least state files and the `.gitignore` of a start. */
export async function isDataFolder(path: string): Promise<boolean> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder || basename(resolve(path)) === DEFAULT_DATA_DIR) return isFolder;
  if (await beginsAsState(join(path, 'db.json')).catch(() => false)) return true;
  const ignore = await readFile(join(path, '.gitignore'), 'utf8').catch(() => '');
  return ignore === IGNORE_ALL && (await storedFiles(path)).length > 0;
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder = JSON.parse(content) as Holder;
    return Number.isInteger(holder.pid) ? holder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The server that runs on this folder, or undefined when there is none. One whose process is gone, or is another one
 * with the same number, is ignored.
 */
export async function readServerInfo(folder: string): Promise<ServerInfo | undefined> {
  try {
    const { started = null, ...info } = JSON.parse(
      await readFile(join(folder, 'server.json'), 'utf8'),
    ) as ServerInfo & Holder;
    return typeof info.url === 'string' && holds({ pid: info.pid, started }) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Looks for a running server in `.gateway-sim` of this folder and of each one above it. */
export async function findServer(from: string): Promise<ServerInfo | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const info = await readServerInfo(join(folder, DEFAULT_DATA_DIR));
    if (info || folder === dirname(folder)) return info;
  }
}
