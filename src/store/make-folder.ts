import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMade } from './files.ts';

/**
 * Makes a folder and those above it, where they do not exist, with one attempt at each. Node's own recursion tries for
 * ever where a file system answers ENOENT although the parent is there, as /proc does.
 *
 * @param path absolute
 * @throws the file system's error
 */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  // Somebody else may have made it meanwhile.
  if (!(await isMade(mkdir(path))) && !(await isFolder(path))) await mkdir(path);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}
