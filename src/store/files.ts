import { constants, statSync } from 'node:fs';
import { type FileHandle, lstat, open, readlink, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ErrorCode, type ErrorDetails, GatewayError } from '../contract/error.ts';
import { command, type Hint, hint, option } from '../contract/hint.ts';

/** Which file a path leads to: equal for the same one only, as long as it is open. Undefined where there is none. */
export function fileId(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Of Unix alone: no link is followed, and a pipe holds nothing up. */
const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Much more than a small file of ours takes. */
const MAX_OWN_BYTES = 256 * 1024;
/** Much more than what people write, or any list of certificates. */
const MAX_TEXT_BYTES = 2 ** 20;

/** What a file must be beside a regular one. Owner and mode mean nothing on Windows, and are not looked at there. */
interface Guard {
  /** Whether the path may be a link to it. */
  follows?: boolean;
  /** Whether it must belong to this user (or to root): what is trusted must not have been put there by somebody else. */
  isOurs?: boolean | 'or-of-root';
  /** Whether it may have no other name, elsewhere. */
  isAlone?: boolean;
  /** Whether others may not read it either. */
  isSecret?: boolean;
  maxBytes?: number;
}

/**
 * Opens a regular file. A folder may have come from anywhere, with links to files outside, to pipes and to devices:
 * these are not opened, wait for nobody and are never written to.
 *
 * @throws Error whose message says why it is not taken, or that of the file system
 */
export async function openFile(
  path: string,
  flags: 'read' | 'append',
  { follows, isOurs, isAlone, isSecret, maxBytes = Number.POSITIVE_INFINITY }: Guard = {},
): Promise<FileHandle> {
  const way = flags === 'read' ? O_RDONLY : O_WRONLY | O_APPEND | O_CREAT;
  const file = await open(path, way | (follows ? 0 : O_NOFOLLOW) | O_NONBLOCK, 0o600).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP') throw new Error('it is a link', { cause: error });
      // What is written to a pipe that nobody reads, or to a socket.
      throw error.code === 'ENXIO' ? new Error(NOT_REGULAR, { cause: error }) : error;
    },
  );
  try {
    const found = await file.stat();
    const uid = process.getuid?.();
    if (found.isDirectory()) throw new Error(REASONS['EISDIR']);
    if (!found.isFile()) throw new Error(NOT_REGULAR);
    if (found.size > maxBytes) throw new Error('it is too large');
    const owners = isOurs === 'or-of-root' ? [uid, 0] : [uid];
    if (isOurs && uid !== undefined && !owners.includes(found.uid))
      throw new Error('it belongs to another user');
    if (isAlone && found.nlink > 1) throw new Error('it is a hard link');
    if (isSecret && uid !== undefined && found.mode & 0o077) throw new Error('others can read or change it');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const NOT_REGULAR = 'it is no regular file';

/** Reads a text that is no larger than people write. @throws as `openFile` */
export async function readText(path: string, guard: Guard = {}): Promise<string> {
  const file = await openFile(path, 'read', { maxBytes: MAX_TEXT_BYTES, ...guard });
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Reads a small file of our own. @throws as `openFile` */
export function readOwnFile(path: string, { isSecret = false } = {}): Promise<string> {
  return readText(path, { isOurs: true, isSecret, maxBytes: MAX_OWN_BYTES });
}

export function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** Whether something could be made: false when it was there already. */
export async function isMade(making: Promise<unknown>): Promise<boolean> {
  try {
    await making;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @throws GatewayError of this code for a link that leads to nothing: to the system it is there and is not there */
export async function requireNoDanglingLink(path: string, code: ErrorCode): Promise<void> {
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined || statSync(path, { throwIfNoEntry: false })) return;
  throw new GatewayError(code, `${path} is a dangling link: there is nothing at ${target}`, {
    hint: hint`Put back what it leads to, or remove the link.`,
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  EEXIST: 'a file is in the way',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  ERR_FS_EISDIR: 'it is a folder, not a file',
  EDQUOT: 'the disk quota is used up',
  ELOOP: 'it is a link',
  ENXIO: 'it is a pipe',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  EFBIG: 'the file would grow over the size that is allowed',
  EIO: 'the disk reports an input/output error',
};

/** The reason of a file system error in words that people know. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code && REASONS[code]) ?? message;
}

export function unwritable(what: string, cause: unknown, advice?: Hint): GatewayError {
  return new GatewayError('storage_failed', `${what} cannot be written: ${reason(cause)}`, {
    ...(advice && { hint: advice }),
    cause,
  });
}

export function unwritableFolder(path: string, cause: unknown): GatewayError {
  const advice = hint`Choose another one with ${option('dataDir')}, or use ${option('inMemory')}.`;
  return unwritable(`the data folder ${path}`, cause, advice);
}

/** Works on a data folder. @throws GatewayError `storage_failed` for what the file system throws */
export async function onFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isOfSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
    throw isOfSystem ? unwritableFolder(folder, error) : error;
  }
}

/** What was at a path when it was taken is not there any more. */
export function replaced(path: string): GatewayError {
  return new GatewayError(
    'storage_failed',
    `${path} was removed, moved or replaced while gateway-sim ran on it: nothing more is stored, and what is there now is left alone`,
    { hint: hint`Put it back where it was, or stop this emulator and start another one.` },
  );
}

/** A state that cannot be read. Unless `details` say so, the user can put it back or start over. */
export function damaged(problem: string, details: ErrorDetails = {}): GatewayError {
  const advice = hint`Put back a good copy, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;
  return new GatewayError('state_damaged', problem, { hint: advice, ...details });
}

/**
 * Writes a new file, readable by its owner only, which then takes the place of the one at `path`.
 *
 * @param swap does the last step, in its own time
 * @returns the new file, open for appending: no later failure can leave anybody writing to the old one
 * @throws the file system's error, with the old file in place
 */
export async function replaceFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  swap: (file: FileHandle, rename: () => Promise<void>) => Promise<void> = (_, rename) => rename(),
): Promise<FileHandle> {
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  // Not through a link that somebody puts there meanwhile.
  const file = await open(temporary, 'ax', 0o600);
  try {
    await write(file);
    await swap(file, () => rename(temporary, path));
    return file;
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Waits until the disk has the names of the files beside `path`, where the system can do that. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r').catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

/** Where a store keeps its state. */
export interface StoreFiles {
  /** The data folder, which must exist and be locked by the caller. */
  folder: string;
  /** Wait for the disk itself, not just for the system. */
  fsync: boolean;
  /** Throws when the folder is not the one that was locked any more. Takes microseconds: it is asked before each batch. */
  assertOurs?: () => void;
  /** Codes that the options know. Default: those of the state's wallets only. */
  currencies?: Iterable<string>;
  /** Gets told, once, when changes can no longer be stored. */
  warn?: (text: string) => void;
}
