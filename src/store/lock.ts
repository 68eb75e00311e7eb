import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { fileId, isMade } from './files.ts';
import {
  identityOf,
  isElsewhere,
  isRunning,
  type Place,
  type ProcessIdentity,
  placeOf,
} from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/** Removing a stale lock takes less than a millisecond; others look again after this long, */
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

/** Who holds a lock. One of an early version tells no place: it was held here. */
type Holder = ProcessIdentity & Partial<Place>;

/** What makes a data folder the property of one process. */
export class Lock {
  readonly #path: string;
  /** Open, so that no later file can get its identity while this one is compared with it. */
  readonly #file: FileHandle;
  readonly #id: string | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  /** The owner elsewhere that gave no sign any more, in words. */
  readonly takenOverFrom: string | undefined;

  private constructor(path: string, file: FileHandle, takenOverFrom: string | undefined) {
    this.#path = path;
    this.#file = file;
    this.#id = fileId(path);
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
    let left: string | undefined;
    try {
      // Linked into place, so that nobody ever reads a lock that is only half written.
      await file.writeFile(JSON.stringify({ ...identityOf(process.pid), ...placeOf() }));
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await isMade(link(mine, path))) return new Lock(path, file, left);
        left = (await removeStaleLock(path, mine, patienceMs)) ?? left;
      }
      throw inUse(folder, 'another gateway-sim');
    } catch (error) {
      await file.close();
      throw error;
    } finally {
      await unlink(mine);
    }
  }

  /** Whether the folder is still the one that was taken: neither removed nor moved nor replaced. Takes microseconds. */
  isHeld(): boolean {
    return this.#id !== undefined && fileId(this.#path) === this.#id;
  }

  /**
   * A lock that is not ours any more stays.
   *
   * @param before removes what else is ours
   * @throws the file system's error
   */
  async release(before: () => Promise<void>): Promise<void> {
    clearInterval(this.#heartbeat);
    try {
      if (!this.isHeld()) return;
      await before();
      await rm(this.#path, { force: true });
    } finally {
      await this.#file.close();
    }
  }
}

/**
 * Removes the lock of a process that is gone. One process at a time, which looks again when it is its turn: between a
 * look and the removal another could have done the same and taken the lock.
 *
 * @param mine a file that tells who we are
 * @returns the owner elsewhere whose lock it was
 */
async function removeStaleLock(lock: string, mine: string, patienceMs: number): Promise<string | undefined> {
  const stale = await findStale(lock, patienceMs);
  if (!stale) return undefined;
  const turn = `${lock}.turn`;
  if (!(await isMade(link(mine, turn)))) {
    await waitForTurn(turn);
    return undefined;
  }
  try {
    // Neither renewed nor replaced since.
    if ((await signOf(lock)) !== stale.sign) return undefined;
    await rm(lock, { force: true });
    return stale.elsewhere;
  } finally {
    await rm(turn, { force: true });
  }
}

/** Passes over one that was killed in its turn. */
async function waitForTurn(turn: string): Promise<void> {
  const { ctimeMs: since } = await stat(turn).catch(() => ({ ctimeMs: Date.now() }));
  const holder = parseHolder(await readFile(turn, 'utf8').catch(() => ''));
  const isGone = holder !== undefined && !isElsewhere(holder) && !isRunning(holder);
  if (isGone || Date.now() - since > ABANDONED_MS) await rm(turn, { force: true });
  else await new Promise((resolve) => setTimeout(resolve, TURN_MS));
}

/** @throws GatewayError `folder_in_use` when a process that runs holds the lock */
async function findStale(lock: string, patienceMs: number) {
  const sign = await signOf(lock);
  const content = await readFile(lock, 'utf8').catch(() => undefined);
  if (sign === undefined || content === undefined) return undefined;
  const holder = parseHolder(content);
  if (holder && isElsewhere(holder)) {
    const elsewhere = `process ${holder.pid} on ${holder.host}`;
    if (await moves(lock, sign, patienceMs)) {
      throw inUse(dirname(lock), `another gateway-sim (${elsewhere})`);
    }
    return { sign, elsewhere };
  }
  if (holder && isRunning(holder)) throw inUse(dirname(lock), `another gateway-sim (process ${holder.pid})`);
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
  const found = await stat(lock, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}:${found.mtimeNs}`;
}

function parseHolder(content: string): Holder | undefined {
  try {
    const holder = JSON.parse(content) as Holder;
    return Number.isInteger(holder.pid) ? holder : undefined;
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
