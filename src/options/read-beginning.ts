import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { usage } from '../contract/error.ts';

/** O_NONBLOCK exists only on Unix. With it, opening a pipe does not block. */
const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/**
 * Reads the first bytes of a file that an option names, so that a huge file costs nothing.
 *
 * @param label its name in errors
 * @param isFound whether the configuration file was discovered rather than named: then only a regular file is read
 * @throws GatewayError `usage` if it cannot be read
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
    throw usage(`${label} cannot be read from ${path}: ${code ?? message}`, {
      cause: error,
    });
  }
}
