import { mkdir, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';

/** A file that was written, and as the user would write its path. */
export interface WrittenFile {
  path: string;
  shown: string;
}

/**
 * Writes texts to files.
 *
 * @param files paths as they are meant from a folder, with their texts
 * @throws GatewayError `storage_failed`
 */
export async function writeFiles(
  from: string,
  files: readonly (readonly [file: string, text: string])[],
): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const [file, text] of files) {
    const path = resolve(from, file);
    await orStorageFailed(writeFile(path, text), shownFrom(from, path));
    written.push({ path, shown: shownFrom(from, path) });
  }
  return written;
}

/** @throws GatewayError `storage_failed` */
export async function makeFolder(from: string, path: string): Promise<void> {
  await orStorageFailed(mkdir(path, { recursive: true }), shownFrom(from, path));
}

/** A path as the user would write it in a folder. */
export function shownFrom(from: string, path: string): string {
  const here = relative(from, path);
  return here.startsWith('..') ? path : here || '.';
}

async function orStorageFailed(writing: Promise<unknown>, shown: string): Promise<void> {
  await writing.catch((error: Error) => {
    throw new GatewayError('storage_failed', `${shown} cannot be written: ${error.message}`, {
      cause: error,
    });
  });
}
