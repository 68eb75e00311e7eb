import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { GatewayError } from '../contract/error.ts';

/** Of Unix alone: a pipe holds nothing up. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/**
 * The beginning of a file that an option names: the rest is not read, however long it is.
 *
 * @param label what to call it in an error
 * @param isFound whether nobody named what says so: then it must be a regular file, and no pipe
 * @throws GatewayError `usage` when it cannot be read
 */
export function readBeginning(path: string, label: string, maxBytes: number, isFound = false): string {
  try {
    const file = openSync(path, isFound ? O_RDONLY | O_NONBLOCK : O_RDONLY);
    try {
      if (isFound && !fstatSync(file).isFile()) throw new Error('it is not a regular file');
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new GatewayError('usage', `${label} cannot be read from ${path}: ${code ?? message}`, {
      cause: error,
    });
  }
}
