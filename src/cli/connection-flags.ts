import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { DEFAULT_URL } from '../contract/address.ts';
import { shellWord } from '../contract/curl.ts';
import { DEFAULT_DATA_DIR } from '../store/server-file.ts';
import { findConfiguration, foldersAbove } from './configuration.ts';
import type { Io } from './io.ts';

/** Commands that change the emulator itself, and therefore never fall back to the default address. */
export const NEVER_GUESS: ReadonlySet<string> = new Set([
  'stop',
  'state reset',
  'state import',
  'keys generate',
  'faults set',
  'faults clear',
  'clock advance',
  'clock freeze',
  'clock resume',
  'clock reset',
  'wallets fund',
]);

/** How an emulator can be found. */
export interface Findable {
  url: string | undefined;
  /** Null in memory. */
  dataDir: string | null;
  /** The certificate to trust; null for plain HTTP. */
  tlsCa: string | null;
}

/**
 * The flags with which a command in this folder finds an emulator; none where it would find it without. An emulator in
 * memory is found by its URL only.
 *
 * @returns a function from the name of a command to its flags
 */
export function connectionFlags(
  { url, dataDir, tlsCa }: Findable,
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): (command: string) => string {
  if (dataDir !== null) {
    const folder = resolve(cwd, dataDir);
    const named = env['GATEWAY_SIM_DATA_DIR'];
    const found = named ? resolve(cwd, named) : nearestDataDir(cwd);
    const flag = folder === found ? '' : `--data-dir ${shellWord(relative(cwd, folder) || '.')}`;
    return () => flag;
  }
  if (url === undefined) return () => '';
  const trust = tlsCa === null ? '' : ` --tls-ca ${shellWord(tlsCa)}`;
  const isElsewhere = ['URL', 'DATA_DIR', 'PORT', 'CONFIG'].some((name) => env[`GATEWAY_SIM_${name}`]);
  const isGuessed =
    url.replace(/\/$/, '') === DEFAULT_URL &&
    !isElsewhere &&
    !existsSync(join(nearestDataDir(cwd), 'server.json')) &&
    findConfiguration(cwd) === undefined;
  return (command) => (isGuessed && !NEVER_GUESS.has(command) ? '' : `--url ${shellWord(url)}${trust}`);
}

/** The data folder in which a command without flags looks first: of this folder, or of a parent with an emulator. */
function nearestDataDir(cwd: string): string {
  const folders = foldersAbove(cwd).map((folder) => join(folder, DEFAULT_DATA_DIR));
  return folders.find((path) => existsSync(join(path, 'server.json'))) ?? join(cwd, DEFAULT_DATA_DIR);
}
