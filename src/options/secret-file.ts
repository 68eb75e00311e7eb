import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { readBeginning } from './read-beginning.ts';

/** Said of every flag that takes a secret. */
export const SEEN_IN_PS =
  'every user of this machine sees a flag: take the variable, or @file (its first line)';

/** More than any secret has: the rest of a file is not read, however long it is. */
const MAX_READ_BYTES = 4_096;

/**
 * A secret as it was given: itself, or `@file`, whose first line it is.
 *
 * @param label what to call it in an error
 * @param folder where the path is meant from; default: the working directory
 * @param isFound whether nobody named what says so: then it must be a regular file below the folder
 * @throws GatewayError `usage` when the file cannot be read or begins with an empty line
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
  throw new GatewayError('usage', `${label} takes the first line of ${path}, which is empty`);
}

/**
 * Refuses a path that leads out of a folder: a project of somebody else must not choose which file of this machine is
 * read, or which folder is used.
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
  throw new GatewayError('usage', `${label} leads out of its own folder: ${path}`, {
    hint: hint`Name the configuration file itself, with ${option('config')} or GATEWAY_SIM_CONFIG, or give this by its flag or variable.`,
  });
}
