import { relative } from 'node:path';
import { GatewayError } from '../contract/error.ts';

/** A path as the user would write it in a folder. */
export function shownFrom(folder: string, path: string): string {
  const here = relative(folder, path);
  return here.startsWith('..') ? path : here || '.';
}

/** @throws GatewayError `storage_failed` */
export async function orStorageFailed(writing: Promise<unknown>, shown: string): Promise<void> {
  await writing.catch((error: Error) => {
    throw new GatewayError('storage_failed', `${shown} cannot be written: ${error.message}`, {
      cause: error,
    });
  });
}
