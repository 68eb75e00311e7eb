import { randomBytes } from 'node:crypto';
import { link, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { quoted } from '../contract/curl.ts';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { isMade } from './files.ts';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/** Removing a stale lock takes less than a millisecond; others look again after this long, */
const TURN_MS = 10;
/** at most this often. */
const ATTEMPTS = 50;
/** A process that takes longer was killed over it. */
const ABANDONED_MS = 5_000;

const lockOf = (folder: string) => join(folder, 'lock');

/** @throws GatewayError `folder_in_use` when another process has it; or the file system's error */
export async function takeLock(folder: string): Promise<void> {
  const lock = lockOf(folder);
  const mine = `${lock}.${process.pid}.${randomBytes(4).toString('hex')}`;
  // Linked into place, so that nobody ever reads a lock that is only half written.
  await writeFile(mine, JSON.stringify(identityOf(process.pid)), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await isMade(link(mine, lock))) return;
      await removeStaleLock(lock);
    }
    throw inUse(folder, 'another gateway-sim');
  } finally {
    await unlink(mine);
  }
}

export async function releaseLock(folder: string): Promise<void> {
  await rm(lockOf(folder), { force: true });
}

/**
 * Removes the lock of a process that is gone. One process at a time, which looks again when it is its turn: between a
 * look and the removal another could have done the same and taken the lock.
 */
async function removeStaleLock(lock: string): Promise<void> {
  if (!(await isStale(lock))) return;
  const turn = `${lock}.turn`;
  if (!(await isMade(writeFile(turn, '', { flag: 'wx', mode: 0o600 })))) return waitForTurn(turn);
  try {
    if (await isStale(lock)) await rm(lock, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
}

async function waitForTurn(turn: string): Promise<void> {
  const { mtimeMs: since } = await stat(turn).catch(() => ({ mtimeMs: Date.now() }));
  if (Date.now() - since > ABANDONED_MS) await rm(turn, { force: true });
  else await new Promise((resolve) => setTimeout(resolve, TURN_MS));
}

/** @throws GatewayError `folder_in_use` when a process that runs holds the lock */
async function isStale(lock: string): Promise<boolean> {
  const content = await readFile(lock, 'utf8').catch(() => undefined);
  if (content === undefined) return false;
  const holder = parseHolder(content);
  if (holder && isRunning(holder)) throw inUse(dirname(lock), `another gateway-sim (process ${holder.pid})`);
  return true;
}

function parseHolder(content: string): ProcessIdentity | undefined {
  try {
    const holder = JSON.parse(content) as ProcessIdentity;
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
