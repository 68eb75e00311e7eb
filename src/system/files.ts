import { randomBytes } from 'node:crypto';
import { constants, fdatasync, fstatSync, fsync, renameSync, statSync, unlinkSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GatewayError, type Hint, hint, option } from '../contract/error.ts';

/** The identity of an open file, or of the file at a path; unique while it is open. Undefined if there is no file. */
export function fileId(file: string | number): string | undefined {
  const found =
    typeof file === 'number'
      ? fstatSync(file, { bigint: true })
      : statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** O_NOFOLLOW and O_NONBLOCK exist on Unix only: no link is followed, and opening a pipe does not block. */
const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Much larger than any small file that gateway-sim writes. */
const MAX_OWN_BYTES = 256 * 1024;
/** Much larger than a file that a person writes, or any list of certificates. */
const MAX_TEXT_BYTES = 2 ** 20;

/** The requirements for a file, in addition to being a regular file. Owner and mode are not checked on Windows. */
interface Guard {
  /** Whether the path may be a link to the file. */
  follows?: boolean;
  /** Whether it must belong to this user, so that no other user can plant a trusted file. */
  isOurs?: boolean;
  /** Whether it must have no other hard links. */
  isAlone?: boolean;
  /** Whether other users must not have access. */
  isSecret?: boolean;
  maxBytes?: number;
}

/**
 * Opens a regular file. A folder from an unknown source can have links to files outside, pipes or devices. These are
 * rejected without waiting or writing.
 *
 * @throws Error that says why the file is rejected, or the file system's error
 */
export async function openFile(
  path: string,
  flags: 'read' | 'append',
  { follows, isOurs, isAlone, isSecret, maxBytes = Number.POSITIVE_INFINITY }: Guard = {},
): Promise<FileHandle> {
  const mode = flags === 'read' ? O_RDONLY : O_RDWR | O_APPEND | O_CREAT;
  const file = await open(path, mode | (follows ? 0 : O_NOFOLLOW) | O_NONBLOCK, 0o600).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ELOOP') throw new Error('it is a link', { cause: error });
      // The error for writing to a socket, or to a pipe without a reader.
      throw error.code === 'ENXIO' ? new Error(NOT_REGULAR, { cause: error }) : error;
    },
  );
  try {
    const found = await file.stat();
    const uid = process.getuid?.();
    if (found.isDirectory()) throw new Error(REASONS['EISDIR']);
    if (!found.isFile()) throw new Error(NOT_REGULAR);
    if (found.size > maxBytes) throw new Error('it is too large');
    if (isOurs && uid !== undefined && found.uid !== uid) throw new Error('it belongs to another user');
    if (isAlone && found.nlink > 1) throw new Error('it is a hard link');
    if (isSecret && uid !== undefined && found.mode & 0o077) throw new Error('others can read or change it');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const NOT_REGULAR = 'it is not a regular file';

/** Reads a regular file of at most 1 MiB by default. @throws the same errors as `openFile` */
export async function readBytes(path: string, guard: Guard = {}): Promise<Buffer> {
  const file = await openFile(path, 'read', { maxBytes: MAX_TEXT_BYTES, ...guard });
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Reads a text file as `readBytes` does. @throws the same errors */
export async function readText(path: string, guard: Guard = {}): Promise<string> {
  return (await readBytes(path, guard)).toString('utf8');
}

/** Reads a small file that this user owns. @throws the same errors as `openFile` */
export function readOwnFile(path: string, { isSecret = false } = {}): Promise<string> {
  return readText(path, { isOurs: true, isSecret, maxBytes: MAX_OWN_BYTES });
}

export function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** Whether a file or folder was created: false if it already existed. */
export async function isCreated(creation: Promise<unknown>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Creates a folder and its missing parents, with one attempt each. Node's recursive mkdir never ends on a file system
 * that returns ENOENT although the parent exists, such as /proc.
 *
 * @param path absolute
 * @param mode the mode of the folder itself. Its parents get the default mode.
 * @throws the file system's error, or GatewayError `storage_failed` for a dangling link
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  // Another process may have created it in the meantime.
  if ((await isCreated(mkdir(path, { mode }))) || (await isFolder(path))) return;
  // The system reports a dangling link as both existing and missing.
  const target = await readlink(path).catch(() => undefined);
  if (target === undefined) return mkdir(path);
  throw new GatewayError('storage_failed', `${path} is a dangling link: there is nothing at ${target}`, {
    hint: hint`Restore the target, or remove the link.`,
  });
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  EEXIST: 'a file with this name already exists',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  ERR_FS_EISDIR: 'it is a folder, not a file',
  EDQUOT: 'the disk quota is exceeded',
  ELOOP: 'it is a link',
  ENXIO: 'it is a pipe',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
  EFBIG: 'the file would exceed the maximum size',
  EIO: 'the disk reports an input/output error',
};

/** The reason for a file system error, for humans. */
export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code && REASONS[code]) ?? message;
}

export function unwritable(what: string, cause: unknown, fix?: Hint): GatewayError {
  return new GatewayError('storage_failed', `${what} cannot be written: ${reason(cause)}`, {
    ...(fix && { hint: fix }),
    cause,
  });
}

/** Runs work on a data folder. @throws GatewayError `storage_failed` for file system errors */
export async function onFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).syscall !== 'string') throw error;
    const fix = hint`Choose another one with ${option('dataDir')}, or use ${option('inMemory')}.`;
    throw unwritable(`the data folder ${folder}`, error, fix);
  }
}

/** Removes a file if it exists. Synchronous, so that nothing can happen after a check that it is ours. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Whether a file is a temporary one of `replaceFile`, of which a killed process leaves the last. */
export const isTemporary = (name: string): boolean => /\.[0-9a-f]{12}\.tmp$/.test(name);

/**
 * Writes a new file, readable by its owner only, and then replaces the one at `path`.
 *
 * @param check called immediately before the old file is replaced, which does not happen if it throws
 * @returns the new file, open for appending, so that no caller continues to write to the old one
 * @throws the file system's error, with the old file unchanged
 */
export async function replaceFile(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  check: () => void = () => {},
): Promise<FileHandle> {
  // Another process may replace the same file.
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'ax+', 0o600);
  try {
    await write(file);
    check();
    // Synchronous: the check must still hold.
    renameSync(temporary, path);
    return file;
  } catch (error) {
    await file.close();
    try {
      removeFile(temporary);
    } catch {
      // The first error is the one to report.
    }
    throw error;
  }
}

/** Waits until an open file is on disk. Under Yarn's Plug'n'Play, the methods of file handles cannot do that. */
export function syncFile({ fd }: FileHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => (error ? reject(error) : resolve()));
  });
}

/** Waits until the folder of `path` is on disk, if the system supports it. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r').catch(() => undefined);
  if (!folder) return;
  await new Promise((resolve) => fsync(folder.fd, resolve));
  await folder.close();
}
