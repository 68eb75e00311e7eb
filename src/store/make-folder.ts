import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, relative } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { isMade, requireNoDanglingLink } from './files.ts';
import { DEFAULT_DATA_DIR } from './server-file.ts';

/**
 * Makes a folder and those above it, where they do not exist, with one attempt at each. Node's own recursion tries for
 * ever where a file system answers ENOENT although the parent is there, as /proc does.
 *
 * @param path absolute
 * @param mode of the folder itself; those above it get what the process gives
 * @throws the file system's error, or GatewayError `storage_failed` for a link that leads nowhere
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  // Somebody else may have made it meanwhile.
  if ((await isMade(mkdir(path, { mode }))) || (await isFolder(path))) return;
  await requireNoDanglingLink(path, 'storage_failed');
  await mkdir(path);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/**
 * Makes a data folder where there is none, for its owner only.
 *
 * @param path absolute
 * @param isNamed whether the user named it: else one that is there may have been put there by somebody else, or have
 *   come with a checkout, open to others
 * @throws as `makeFolder`, or GatewayError `storage_failed` for a folder that is not ours
 */
export async function makeDataFolder(path: string, isNamed: boolean): Promise<void> {
  await makeFolder(path, 0o700);
  if (isNamed) return;
  const found = await lstat(path);
  const uid = process.getuid?.() ?? found.uid;
  if (found.isSymbolicLink()) throw notOurs(path, 'is a link');
  if (found.uid !== uid) throw notOurs(path, 'belongs to another user');
  // What a configuration file calls it may have been there for something else.
  if (basename(path) === DEFAULT_DATA_DIR && found.mode & 0o077) await chmod(path, 0o700);
}

function notOurs(path: string, why: string): GatewayError {
  return new GatewayError('storage_failed', `the data folder ${path} ${why}: it was left alone`, {
    hint: hint`Use it on purpose with ${option('dataDir', relative('', path) || '.')}, or take another one.`,
  });
}
