import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, relative } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { isCreated, requireNoDanglingLink } from './files.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

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
  await requireNoDanglingLink(path, 'storage_failed');
  await mkdir(path);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
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
