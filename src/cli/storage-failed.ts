import { relative } from 'node:path';
import { GatewayError } from '../contract/error.ts';

export function shownFrom(folder: string, path: string): string {
  const here = relative(folder, path);
  return here.startsWith('..') ? path : here || '.';
}

export async function orStorageFailed(writing: Promise<unknown>, shown: string): Promise<void> {
  await writing.catch((error: Error) => {
    throw new GatewayError('storage_failed', `${shown} cannot be written: ${error.message}`, {
      cause: error,
    });
  });
}
