import { resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
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
 * @throws GatewayError `usage` when the file cannot be read or begins with an empty line
 */
export function readSecret(given: string, label: string, folder = '.'): string {
  if (!given.startsWith('@')) return given;
  const path = resolve(folder, given.slice(1));
  const [line = ''] = readBeginning(path, label, MAX_READ_BYTES).split(/\r?\n/, 1);
  if (line) return line;
  throw new GatewayError('usage', `${label} takes the first line of ${path}, which is empty`);
}
