import { closeSync, openSync, readSync } from 'node:fs';
import { GatewayError } from '../contract/error.ts';

/**
 * The beginning of a file that an option names: the rest is not read, however long it is.
 *
 * @param label what to call it in an error
 * @throws GatewayError `usage` when it cannot be read
 */
export function readBeginning(path: string, label: string, maxBytes: number): string {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GatewayError('usage', `${label} cannot be read from ${path}: ${code}`, {
      cause: error,
    });
  }
}
