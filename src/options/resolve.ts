import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { urlOf } from '../contract/address.ts';
import { type GatewayError, type HintStyle, hint, kebab, nearestName, usage } from '../contract/error.ts';
import { invisibleIn } from '../contract/invisible.ts';
import { PLACEHOLDERS } from '../contract/placeholders.ts';
import { type Choices, LOOSE, PROFILES, type ProfileName } from '../contract/profiles.ts';
import { shortJson } from '../contract/text.ts';
import { parseDuration } from '../contract/time.ts';
import {
  isFileOnly,
  type OptionKind,
  type OptionName,
  type OptionSpec,
  PATTERNS,
  type ResolvedOptions,
  START_OPTIONS,
} from './start-options.ts';

/** A source of option values, by option name. The option's kind decides how text is parsed. */
export interface OptionSource {
  /** The name of a value in errors: its flag, variable, or file and key. */
  label: (name: string) => string;
  values: Readonly<Record<string, unknown>>;
  /** The folder of relative paths. If omitted, no secret is read from a file. */
  folder?: string;
  /** Whether the file was discovered, not named by the user. Then it is not trusted. */
  isFound?: boolean;
}

/** `dataDir` → `GATEWAY_SIM_DATA_DIR`. */
export function environmentName(name: string): string {
  return `GATEWAY_SIM_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
}

/** Our variables that are not options of `start`. */
const OTHER_VARIABLES: readonly string[] = [
  'GATEWAY_SIM_CONFIG',
  'GATEWAY_SIM_URL',
  'GATEWAY_SIM_INITIATE_URL',
  'GATEWAY_SIM_TLS_CA',
  ...Object.values(PLACEHOLDERS),
];

/**
 * The option values in an environment, by option name. Empty variables count as unset.
 *
 * @throws GatewayError `usage` for a variable whose name resembles an option's. Other unknown variables are
 *   ignored: a pipeline may have its own GATEWAY_SIM_VERSION
 */
export function environmentSource(environment: Readonly<Record<string, string | undefined>>): OptionSource {
  const values: Record<string, string> = {};
  for (const [variable, value] of Object.entries(environment)) if (value) requireNoSlip(variable);
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    const value = spec.fileOnly ? undefined : environment[environmentName(name)];
    if (value) values[name] = value;
  }
  return { label: environmentName, values, folder: '.' };
}

function requireNoSlip(variable: string): void {
  const [, written] = /^GATEWAY_SIM_(\w+)$/.exec(variable) ?? [];
  if (written === undefined || OTHER_VARIABLES.includes(variable)) return;
  // Short names resemble many words: TOKEN is not a typo of OPEN. Typos rarely change the first letter.
  const names = (Object.keys(START_OPTIONS) as OptionName[]).filter(
    (name) => name[0] === written[0]?.toLowerCase(),
  );
  const meant = nearestName(written.replaceAll('_', '-'), names.map(kebab));
  const name = names.find((one) => kebab(one) === meant);
  if (name === undefined) return;
  const fileOnly = isFileOnly(name);
  if (variable === environmentName(name) && !fileOnly) return;
  const fix = fileOnly
    ? `: set "${name}" in the configuration file`
    : `: did you mean ${environmentName(name)}?`;
  throw usage(`unknown variable ${variable}${fix}`);
}

/**
 * Resolves every option to one value. Flags override the environment, which overrides the file, the profile and the
 * default.
 *
 * @param sources in order of precedence
 * @param known the names that a source may have; every other option uses its default
 * @throws GatewayError `usage` for an unknown name (with the nearest known one) or an invalid value
 */
export function resolveOptions(
  sources: readonly OptionSource[],
  known: readonly string[] = Object.keys(START_OPTIONS),
): ResolvedOptions {
  for (const { values, label } of sources) {
    for (const name of Object.keys(values)) {
      if (known.includes(name)) continue;
      const meant = nearestName(name, known);
      throw usage(`unknown option ${label(name)}${meant ? `: did you mean ${label(meant)}?` : ''}`);
    }
  }
  const sourceOf = (name: string, among = sources) => among.find(({ values }) => values[name] !== undefined);
  const labelOf = (name: string, source = sourceOf(name)) => source?.label(name) ?? name;
  const given = sourceOf('profile')?.values['profile'] ?? START_OPTIONS.profile.default;
  const profile = PROFILES[readValue(START_OPTIONS.profile, given, labelOf('profile')) as ProfileName];
  const all = [...sources, { values: profile.options, label: (name: string) => name }];
  const resolved: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    const source = sourceOf(name, all);
    const label = labelOf(name, source);
    const given = source?.values[name] ?? spec.default ?? (spec.kind === 'list' ? [] : undefined);
    const isInFile = spec.kind === 'secret' && typeof given === 'string' && source?.folder !== undefined;
    const value = isInFile ? readSecret(given, label, source.folder, source) : given;
    resolved[name] = value === undefined ? undefined : readValue(spec, value, label);
  }
  if (!sourceOf('ipnRetries') && sourceOf('ipnSchedule'))
    resolved['ipnRetries'] = (resolved['ipnSchedule'] as readonly unknown[]).length;
  const choices: Choices = { ...profile.choices, ...(resolved['loose'] === true && LOOSE) };
  const options = { ...resolved, choices } as ResolvedOptions;
  SOURCES.set(options, sourceOf);
  return options;
}

const SOURCES = new WeakMap<ResolvedOptions, (name: OptionName) => OptionSource | undefined>();

/** The name of an option in errors: its flag, variable or key in the file. Undefined if it was not set. */
export function givenAs(options: ResolvedOptions, name: OptionName): string | undefined {
  return SOURCES.get(options)?.(name)?.label(name);
}

/** An option as the user would write it: its flag, or its key if it has none. */
export function spellingOf(name: OptionName, style: HintStyle): string {
  return isFileOnly(name) ? name : style.option({ option: name });
}

/** Whether the user set an option. A discovered configuration file does not count. */
export function isGivenByUser(options: ResolvedOptions, name: OptionName): boolean {
  const source = SOURCES.get(options)?.(name);
  return source !== undefined && !source.isFound;
}

/**
 * Converts a value to the type of its option.
 *
 * @param label its name in errors
 * @throws GatewayError `usage`
 */
export function readValue(spec: OptionSpec, value: unknown, label: string): unknown {
  if (spec.kind === 'structure') return value;
  const read = fitting(spec, value);
  if (read !== undefined) return read;
  // Errors never show a secret.
  const got = spec.kind === 'secret' ? '' : ` (got ${shortJson(value)})`;
  const invisible = typeof value === 'string' ? invisibleIn(value) : undefined;
  throw usage(
    `${label} must ${EXPECTED[spec.kind](spec)}${got}${invisible === undefined ? '' : `: it ${invisible}`}`,
  );
}

/** The number of a port in an option. @throws GatewayError `usage` */
export function portOf(written: string, label: string): number {
  return readValue(START_OPTIONS.port, written, label) as number;
}

const EXPECTED: Readonly<Record<Exclude<OptionKind, 'structure'>, (spec: OptionSpec) => string>> = {
  text: () => 'be text without control characters',
  secret: ({ max }) => `be 1 to ${max} ASCII letters, digits and symbols, without spaces`,
  integer: ({ max }) => `be a whole number from 0 to ${max}`,
  boolean: () => 'be true or false',
  choice: ({ choices }) => `be one of ${choices?.join(', ')}`,
  list: () => 'be a list of strings',
  baseUrl: () => 'be an absolute http or https address without a user name, query or fragment',
  duration: () => 'be a duration such as 500ms, 2s, 1m or 1h',
};

/** Undefined for an invalid value. */
function fitting({ kind, max = Number.POSITIVE_INFINITY, choices }: OptionSpec, value: unknown): unknown {
  switch (kind) {
    case 'integer': {
      const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
      return isCount(number) && number <= max ? number : undefined;
    }
    case 'boolean':
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      return typeof value === 'boolean' ? value : undefined;
    case 'list': {
      const list = typeof value === 'string' ? value.split(',') : value;
      const isList = Array.isArray(list) && list.every((item) => typeof item === 'string' && item.trim());
      return isList ? list.map((item: string) => item.trim()) : undefined;
    }
    case 'duration':
      return isCount(value) ? value : parseDuration(value);
    default: {
      const isFit = typeof value === 'string' && value !== '' && value.length <= max;
      if (!isFit || !new RegExp(PATTERNS[kind] ?? '').test(value)) return undefined;
      // Left by a file with Windows line ends, for example. The value would look right and never match.
      if (/[\p{Cc}\uFEFF]/u.test(value)) return undefined;
      if (kind === 'baseUrl') return URL.canParse(value) ? value : undefined;
      return !choices || choices.includes(value) ? value : undefined;
    }
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** Added to the description of every flag that accepts a secret. */
export const SEEN_IN_PS = 'flags are visible to other users: use the variable, or @file (its first line)';

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
  { isFound }: { isFound?: boolean } = {},
): string {
  if (!given.startsWith('@')) return given;
  const path = resolve(folder, given.slice(1));
  if (isFound) requireBelow(folder, path, label);
  const [line = ''] = readOption(path, label, isFound).split(/\r?\n/, 1);
  if (line) return line;
  throw usage(`${label} reads the first line of ${path}, which is empty`);
}

/** A path without links, even if its end does not exist. */
export function realPath(path: string): string {
  const absolute = resolve(path);
  const above = dirname(absolute);
  try {
    return realpathSync(absolute);
  } catch {
    return above === absolute ? absolute : join(realPath(above), basename(absolute));
  }
}

/**
 * Rejects a path outside a folder: a project from an unknown source must not choose which files are read on this
 * machine or which folder is used.
 *
 * @param what the folder, for humans
 * @throws GatewayError `usage`
 */
export function requireBelow(folder: string, path: string, label: string, what = 'folder'): void {
  const way = relative(realPath(folder), realPath(path));
  if (/^\.\.(?:$|[\\/])/.test(way) || isAbsolute(way))
    throw untrusted(`${label} points outside its own ${what}: ${path}`);
}

/** The error for a value of a discovered configuration file that only the user may set. */
export function untrusted(problem: string): GatewayError {
  return usage(problem, {
    hint: hint`Specify the configuration file with GATEWAY_SIM_CONFIG, or set this value with its flag or variable.`,
  });
}

/** @param isFound whether the configuration file was discovered: then only a regular file is read */
function readOption(path: string, label: string, isFound = false): string {
  try {
    if (isFound && !statSync(path).isFile()) throw new Error('it is not a regular file');
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw usage(`${label} cannot be read from ${path}: ${code ?? message}`, { cause: error });
  }
}

type Secured = Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey'>;

/** Whether the emulator serves HTTPS. */
export function isSecure({ tls, tlsCert, tlsKey }: Secured): boolean {
  return tls || tlsCert !== undefined || tlsKey !== undefined;
}

/** The address of an emulator that listens on this port. */
export function ownUrlOf(options: ResolvedOptions, port: number): string {
  return urlOf(options.host, port, isSecure(options));
}

/** The base of its checkout URLs. */
export function baseUrlOf(options: ResolvedOptions, port = options.port): string {
  return options.publicUrl?.replace(/\/+$/, '') ?? ownUrlOf(options, port);
}

/** Additional base paths of the routes, from --public-url and --host-alias. */
export function basePathsOf({ publicUrl, hostAlias }: ResolvedOptions): string[] {
  const ofPublicUrl = publicUrl === undefined ? '' : new URL(publicUrl).pathname;
  const ofAliases = hostAlias.map((alias) => /\/.*$/.exec(alias)?.[0] ?? '');
  const paths = [ofPublicUrl, ...ofAliases].map((path) => path.replace(/\/+$/, ''));
  return [...new Set(paths.filter(Boolean))];
}
