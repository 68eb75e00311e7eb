import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import strip from 'strip-json-comments';
import { GatewayError } from '../contract/error.ts';
import { kebab } from '../contract/hint.ts';
import { environmentName, environmentSource, type OptionSource, resolveOptions } from '../options/resolve.ts';
import { requireBelow } from '../options/secret-file.ts';
import { type OptionName, type OptionSpec, type ResolvedOptions, START_OPTIONS } from '../options/table.ts';
import { readText, reason } from '../store/files.ts';
import { CONFIGURATION_FILE } from './config-template.ts';
import type { Io } from './io.ts';

type Flags = Readonly<Record<string, unknown>>;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What `start` runs with: flag beats environment beats file beats default.
 *
 * @param flags those of the command line alone
 * @param file of `readConfiguration`
 * @throws GatewayError `usage` for what is unknown (with the nearest known name) or cannot be
 */
export function startConfiguration(
  flags: Flags,
  environment: Environment,
  file: OptionSource | undefined,
  aboveEnvironment: readonly OptionSource[] = [],
): ResolvedOptions {
  const values = Object.fromEntries(Object.entries(flags).filter(([name]) => name in START_OPTIONS));
  return resolveOptions([
    { values, label: (name) => `--${kebab(name)}`, folder: '.' },
    ...aboveEnvironment,
    environmentSource(environment),
    ...(file ? [file] : []),
  ]);
}

/**
 * What `exec` runs with: as `start`, but in memory and on a free port. Only a flag can say otherwise: the port and the
 * data folder that an environment or a file names are those of the emulator that somebody works with, and how `start`
 * is to behave is nothing to `exec`.
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

/** Options whose values are paths. */
const PATHS: readonly OptionName[] = ['fixtures', 'dataDir', 'tlsCert', 'tlsKey', 'ipnCa'];

/**
 * Reads the configuration file that was named by the flag or by GATEWAY_SIM_CONFIG, else gateway-sim.config.json of this folder. Paths in it are meant from
 * its own folder.
 *
 * @returns undefined when none was named and there is none
 * @throws GatewayError `usage` when it cannot be read or is no JSON object
 */
export async function readConfiguration(
  flag: string | undefined,
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
): Promise<OptionSource | undefined> {
  const named = flag ?? (env[environmentName('config')] || undefined);
  const path = resolve(cwd, named ?? CONFIGURATION_FILE);
  if (named === undefined && !existsSync(path)) return undefined;
  const values = await readObject(path, named !== undefined);
  // Editors take the schema from here.
  delete values['$schema'];
  const isFound = named === undefined;
  const label = (name: string) => `"${name}" in ${basename(path)}`;
  const { dataDir } = values;
  if (isFound && typeof dataDir === 'string')
    requireBelow(dirname(path), resolve(dirname(path), dataDir), label('dataDir'));
  for (const name of PATHS) {
    const given = values[name];
    if (typeof given === 'string' && given)
      values[name] = relative(cwd, resolve(dirname(path), given)) || '.';
  }
  return {
    values,
    label,
    folder: dirname(path),
    isFound,
  };
}

/** @param isNamed whether the user named it, and so may mean a pipe */
async function readObject(path: string, isNamed: boolean): Promise<Record<string, unknown>> {
  try {
    const parsed = parseJsonc(await (isNamed ? readFile(path, 'utf8') : readText(path, { follows: true })));
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
    throw new Error('it is not a JSON object');
  } catch (error) {
    throw new GatewayError('usage', `${path} cannot be used: ${reason(error)}`, { cause: error });
  }
}

/**
 * Reads JSON as people write configuration files: comments, trailing commas and a byte order mark are fine.
 *
 * @throws SyntaxError that names the line, where the engine tells it
 */
export function parseJsonc(text: string): unknown {
  // Comments become blanks, so that the positions in an error are those of the file.
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
