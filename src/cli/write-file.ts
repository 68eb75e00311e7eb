import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { constants, lstat, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { GatewayError, hint, usage } from '../contract/error.ts';
import { looksLikeState } from '../store/folder.ts';
import { isLink, unwritable } from '../system/files.ts';
import type { CommandResult } from './output.ts';

/**
 * Writes a state to a file, completely or not at all. Only the owner can read a new file. A file with other content is
 * not changed (chosen). Anything but a file (a pipe, /dev/null) is written to directly.
 *
 * @returns its path
 * @throws GatewayError `usage` for a file that is not a state without `force`, `storage_failed` if it cannot be written
 */
export async function replaceFile(
  file: string,
  text: string,
  { force, cwd }: { force: boolean; cwd: string },
): Promise<string> {
  // For a link, the file that it points to.
  const named = resolve(cwd, file);
  const path = await realpath(named).catch(() => named);
  const old = await stat(path).catch(() => undefined);
  const write = async () => {
    if (old && !old.isFile() && !old.isDirectory()) return writeFile(path, text);
    // The journal would belong to another db.json, and the next start would fail.
    if (basename(path) === 'db.json' && existsSync(join(dirname(path), 'journal.jsonl'))) {
      throw usage(`${file} is the state of a data folder: nothing was written`, {
        hint: hint`Choose another name.`,
      });
    }
    if (old?.isFile() && !force && !(await looksLikeState(path))) {
      throw usage(`${file} already exists and is not a state: nothing was written`, {
        hint: hint`Choose another name, or overwrite it with --force.`,
      });
    }
    // Other users may have access to the target of a link, which the user did not name.
    return writeAtomically(path, text, old && !(await isLink(named)) ? old.mode & 0o777 : 0o600);
  };
  await orStorageFailed(write(), file);
  return path;
}

/** Writes a file completely or not at all. */
export async function writeAtomically(path: string, text: string, mode: number): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, text, { mode, flag: 'wx', flush: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

export function shownFrom(folder: string, path: string): string {
  const here = relative(folder, path);
  return here.startsWith('..') ? path : here || '.';
}

export async function orStorageFailed<Result>(writing: Promise<Result>, shown: string): Promise<Result> {
  return writing.catch((cause: Error) => {
    if (cause instanceof GatewayError) throw cause;
    throw unwritable(shown, cause);
  });
}

/** Unix only: follows no link, and does not block on a pipe without a reader. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const AS_REPORT = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/**
 * Checks that a report can be written before a long run, by opening its file.
 *
 * @throws GatewayError `storage_failed`
 */
export async function requireWritable(file: string, cwd: string): Promise<void> {
  const path = resolve(cwd, file);
  const there = await lstat(path).catch(() => undefined);
  // Closing a pipe after this check would end its reader before the report.
  if (there?.isFIFO()) throw unwritable(file, { code: 'ENXIO' });
  const opened = await open(path, AS_REPORT).catch((cause) => {
    throw unwritable(file, cause);
  });
  await opened.close();
  if (!there) await rm(path, { force: true });
}

/**
 * Writes all requested reports, even if one fails, so that the results of the run are not lost. Overwrites existing
 * files, but never follows a link.
 *
 * @returns the failure of the command if one cannot be written
 */
export async function writeReports(
  reports: readonly (readonly [file: string | undefined, text: () => string | Promise<string>])[],
  cwd: string,
): Promise<Pick<CommandResult, 'failure' | 'failureCode'>> {
  let failed = {};
  for (const [file, text] of reports) {
    if (file === undefined) continue;
    const writing = writeFile(resolve(cwd, file), await text(), { flag: AS_REPORT | O_TRUNC });
    await writing.catch((cause) => {
      failed = unwrittenFailure(file, cause);
    });
  }
  return failed;
}

/** The failure of a command that has its result, but could not write a file. */
export function unwrittenFailure(file: string, cause: NodeJS.ErrnoException) {
  const { message: failure, code: failureCode } = unwritable(file, cause);
  return { failure, failureCode };
}
