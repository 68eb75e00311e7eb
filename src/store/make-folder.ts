import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMade, requireNoDanglingLink } from './files.ts';

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
