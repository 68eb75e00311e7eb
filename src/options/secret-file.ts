import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { usage } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { readBeginning } from './read-beginning.ts';

/** Added to the description of every flag that accepts a secret. */
export const SEEN_IN_PS =
  'flags are visible to other users, so use the environment variable or @file (its first line) instead';

/** Longer than any secret. */
const MAX_READ_BYTES = 4_096;

/**
 * Reads a secret, given as text or as `@file`, which means the first line of that file.
 *
 * @param label its name in errors
 * @param folder the folder of relative paths; default: the working directory
 * @param isFound whether the configuration file was discovered rather than named: then only a regular file below the folder
 *   is read
 * @throws GatewayError `usage` if the file cannot be read or its first line is empty
 */
export function readSecret(
  given: string,
  label: string,
  folder = '.',
  { isFound = false }: { isFound?: boolean } = {},
): string {
  if (!given.startsWith('@')) return given;
  const path = resolve(folder, given.slice(1));
  if (isFound) requireBelow(folder, path, label);
  const [line = ''] = readBeginning(path, label, MAX_READ_BYTES, isFound).split(/\r?\n/, 1);
  if (line) return line;
  throw usage(`${label} reads the first line of ${path}, which is empty`);
}

/**
 * Rejects a path outside a folder: a project from an unknown source must not choose which files are read on this
 * machine or which folder is used.
 *
 * @throws GatewayError `usage`
 */
export function requireBelow(folder: string, path: string, label: string): void {
  const real = (one: string): string => {
    try {
      return realpathSync(one);
    } catch {
      return dirname(one) === one ? one : join(real(dirname(one)), basename(one));
    }
  };
  const way = relative(real(resolve(folder)), real(resolve(path)));
  if (!/^\.\.(?:$|[\\/])/.test(way) && !isAbsolute(way)) return;
  throw usage(`${label} points outside its own folder: ${path}`, {
    hint: hint`Specify the configuration file with ${option('config')} or GATEWAY_SIM_CONFIG, or set this value with its flag or variable.`,
  });
}
