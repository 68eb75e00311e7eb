import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import strip from 'strip-json-comments';
import { kebab, usage } from '../contract/error.ts';
import {
  environmentName,
  environmentSource,
  isGivenByUser,
  type OptionSource,
  realPath,
  requireBelow,
  resolveOptions,
  untrusted,
} from '../options/resolve.ts';
import {
  type OptionName,
  type OptionSpec,
  type ResolvedOptions,
  START_OPTIONS,
} from '../options/start-options.ts';
import { DEFAULT_DATA_DIR } from '../store/server-file.ts';
import { readText, reason } from '../system/files.ts';
import type { Io } from './io.ts';

export const CONFIGURATION_FILE = 'gateway-sim.config.json';

type Flags = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The options of `start`. Flags override the environment, which overrides the file and the default.
 *
 * @param flags only the flags on the command line
 * @param file the result of `readConfiguration`
 * @throws GatewayError `usage` for an unknown option (with the nearest known name) or an invalid value
 */
export function startConfiguration(
  flags: Flags,
  environment: Environment,
  file: OptionSource | undefined,
  aboveEnvironment: readonly OptionSource[] = [],
): ResolvedOptions {
  const values = Object.fromEntries(Object.entries(flags).filter(([name]) => name in START_OPTIONS));
  const options = resolveOptions([
    { values, label: (name) => `--${kebab(name)}`, folder: '.' },
    ...aboveEnvironment,
    environmentSource(environment),
    ...(file ? [file] : []),
  ]);
  if (file?.isFound && options.fixtures !== undefined && !isGivenByUser(options, 'fixtures'))
    requireOwnFixtures(file, options.fixtures, options.dataDir);
  return options;
}

/**
 * The options of `exec`: like `start`, but in memory and on a free port. Only flags override that, because the port and the
 * data folder in the environment or the file belong to the user's own emulator. Options of the `start` process do not
 * apply.
 */
export function execConfiguration(flags: Flags, environment: Environment, file: OptionSource | undefined) {
  const aboutStart = Object.entries<OptionSpec>(START_OPTIONS).filter(([, { commandOnly }]) => commandOnly);
  const values = {
    ...Object.fromEntries(aboutStart.map(([name, spec]) => [name, spec.default])),
    port: 0,
    dataDir: START_OPTIONS.dataDir.default,
    inMemory: flags['dataDir'] === undefined,
  };
  return startConfiguration(flags, environment, file, [{ values, label: (name) => name }]);
}

const PATHS: readonly OptionName[] = ['fixtures', 'dataDir', 'tlsCert', 'tlsKey', 'ipnCa'];

/** A folder with one of these is the root of a project. */
const ROOTS = ['.git', 'package.json'];

/**
 * The configuration file of a folder: its own, or that of the nearest parent in the same project. Above the project,
 * the folders may belong to others.
 */
export function findConfiguration(cwd: string): string | undefined {
  const folders = foldersAbove(cwd);
  const root = folders.findIndex((folder) => ROOTS.some((name) => existsSync(join(folder, name))));
  const inProject = folders.slice(0, Math.max(root, 0) + 1);
  return inProject.map((folder) => join(folder, CONFIGURATION_FILE)).find((path) => existsSync(path));
}

/**
 * Reads the configuration file that GATEWAY_SIM_CONFIG names, or else the one that belongs to the working
 * folder. Paths in it are relative to its own folder.
 *
 * @returns undefined if no file is named and none is found
 * @throws GatewayError `usage` if it cannot be read or is not a JSON object
 */
export async function readConfiguration({
  env,
  cwd,
}: Pick<Io, 'env' | 'cwd'>): Promise<OptionSource | undefined> {
  const named = env[environmentName('config')] || undefined;
  const path = named === undefined ? findConfiguration(cwd) : resolve(cwd, named);
  if (path === undefined) return undefined;
  const isFound = named === undefined;
  const values = await readObject(path);
  // Only for editors.
  delete values['$schema'];
  const folder = dirname(path);
  const label = (name: string) => `"${name}" in ${isFound ? relative(cwd, path) : basename(path)}`;
  const { dataDir } = values;
  if (isFound && typeof dataDir === 'string')
    requireBelow(folder, resolve(folder, dataDir), label('dataDir'));
  for (const name of PATHS) {
    const given = values[name];
    if (typeof given === 'string' && given) values[name] = relative(cwd, resolve(folder, given)) || '.';
  }
  return { values, label, folder, isFound };
}

/**
 * Rejects the fixtures of a discovered file outside its repository, or in the data folder of another project: a start
 * would print its keys.
 */
function requireOwnFixtures({ folder = '.', label }: OptionSource, fixtures: string, dataDir: string): void {
  const path = resolve(fixtures);
  const repository = foldersAbove(folder).find((one) => existsSync(join(one, '.git'))) ?? folder;
  requireBelow(repository, path, label('fixtures'), 'repository');
  const isOther = (one: string) =>
    one !== realPath(dataDir) &&
    (basename(one) === DEFAULT_DATA_DIR ||
      ['db.json', 'journal.jsonl'].every((name) => existsSync(join(one, name))));
  if (foldersAbove(dirname(realPath(path))).some(isOther))
    throw untrusted(`${label('fixtures')} points into the data folder of another emulator: ${path}`);
}

/** A folder and every folder above it. */
export function foldersAbove(path: string): string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...foldersAbove(above)];
}

async function readObject(path: string): Promise<Record<string, unknown>> {
  try {
    const text = await readText(path, { follows: true });
    // Every second byte of ASCII text in UTF-16.
    if (text.includes('\0')) throw new Error('it is UTF-16: save it as UTF-8');
    const parsed = parseJsonc(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
    throw new Error('it is not a JSON object');
  } catch (error) {
    throw usage(`${path} cannot be used: ${reason(error)}`, { cause: error });
  }
}

/**
 * Parses JSON with comments, trailing commas and a byte order mark.
 *
 * @throws SyntaxError with the line, if the engine reports a position
 */
export function parseJsonc(text: string): unknown {
  // Comments become spaces, so that the positions in an error match the file.
  const plain = strip(text.replace(/^\uFEFF/, ''), { trailingCommas: true });
  try {
    return JSON.parse(plain);
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)(?!.*\bline\b)/.exec(message)?.[1];
    if (position === undefined) throw error;
    const line = plain.slice(0, Number(position)).split('\n').length;
    throw new SyntaxError(`${message} (line ${line})`, { cause: error });
  }
}
