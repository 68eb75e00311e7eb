import { shortJson } from '../contract/address.ts';
import { PLACEHOLDERS } from '../contract/audit.ts';
import { parseDuration } from '../contract/duration.ts';
import { nearestName, usage } from '../contract/error.ts';
import { kebab } from '../contract/hint.ts';
import { choicesInForce, readProfile } from './profile.ts';
import { readSecret } from './secret-file.ts';
import {
  MAX_KEPT,
  type OptionKind,
  type OptionName,
  type OptionSpec,
  PATTERNS,
  type ResolvedOptions,
  START_OPTIONS,
} from './table.ts';

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
  'GATEWAY_SIM_JSON',
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
  for (const [name, spec] of Object.entries(START_OPTIONS)) {
    const value = spec.kind === 'structure' ? undefined : environment[environmentName(name)];
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
  const isStructure = START_OPTIONS[name].kind === 'structure';
  if (variable === environmentName(name) && !isStructure) return;
  const hint = isStructure
    ? `: set "${name}" in the configuration file`
    : `: did you mean ${environmentName(name)}?`;
  throw usage(`unknown variable ${variable}${hint}`);
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
  for (const { values, label } of sources)
    for (const name of Object.keys(values)) requireKnown(name, known, label);
  const resolved: Record<string, unknown> = {};
  const sourceOf = (name: string) => sources.find(({ values }) => values[name] !== undefined);
  const named = sourceOf('profile');
  const profile = readProfile(
    named?.values['profile'] ?? START_OPTIONS.profile.default,
    named?.label('profile') ?? 'profile',
    named,
  );
  const below: OptionSource = {
    values: profile.options,
    label: (name: string) => `"${name}" of the profile`,
  };
  for (const [name, spec] of Object.entries<OptionSpec>(START_OPTIONS)) {
    const source = [...sources, below].find(({ values }) => values[name] !== undefined);
    const fallback = spec.default ?? (spec.kind === 'list' ? [] : undefined);
    const label = source?.label(name) ?? name;
    const given = source?.values[name] ?? fallback;
    const isInFile = spec.kind === 'secret' && typeof given === 'string' && source?.folder !== undefined;
    const value = isInFile ? readSecret(given, label, source.folder, source) : given;
    resolved[name] = value === undefined ? undefined : readValue(spec, value, label);
  }
  const choicesLabel = sourceOf('choices')?.label('choices') ?? 'choices';
  const choices = choicesInForce(profile, resolved['choices'], choicesLabel, resolved['loose']);
  const options = { ...resolved, profile: profile.name, choices } as ResolvedOptions;
  SOURCES.set(options, sourceOf);
  return options;
}

const SOURCES = new WeakMap<ResolvedOptions, (name: OptionName) => OptionSource | undefined>();

/** The name of an option in errors: its flag, variable or key in the file. Undefined if it was not set. */
export function givenAs(options: ResolvedOptions, name: OptionName): string | undefined {
  return SOURCES.get(options)?.(name)?.label(name);
}

/** Whether the user set an option. A discovered configuration file does not count. */
export function isGivenByUser(options: ResolvedOptions, name: OptionName): boolean {
  const source = SOURCES.get(options)?.(name);
  return source !== undefined && !source.isFound;
}

function requireKnown(name: string, known: readonly string[], label: (name: string) => string): void {
  if (known.includes(name)) return;
  const meant = nearestName(name, known);
  throw usage(`unknown option ${label(name)}${meant ? `: did you mean ${label(meant)}?` : ''}`);
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
  throw usage(`${label} must ${EXPECTED[spec.kind](spec)}${got}`);
}

const EXPECTED: Readonly<Record<Exclude<OptionKind, 'structure'>, (spec: OptionSpec) => string>> = {
  text: () => 'be text',
  secret: ({ max }) => `be 1 to ${max} ASCII letters, digits and symbols, without spaces`,
  integer: ({ max }) => `be a whole number from 0 to ${max}`,
  boolean: () => 'be true or false',
  choice: ({ choices }) => `be one of ${choices?.join(', ')}`,
  list: () => 'be a list of strings',
  url: () => 'be an absolute http or https address',
  baseUrl: () => 'be an absolute http or https address without a user name, query or fragment',
  duration: () => 'be a duration such as 500ms, 2s, 1m or 1h',
  retention: () => `be a number from 1 to ${MAX_KEPT}, or a duration such as 30m or 24h`,
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
    case 'retention': {
      const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
      if (isCount(number)) return number > 0 && number <= MAX_KEPT ? String(number) : undefined;
      return parseDuration(value) === undefined ? undefined : value;
    }
    case 'duration':
      return isCount(value) ? value : parseDuration(value);
    default: {
      const isFit = typeof value === 'string' && value !== '' && value.length <= max;
      if (!isFit || !new RegExp(PATTERNS[kind] ?? '').test(value)) return undefined;
      if (kind === 'url' || kind === 'baseUrl') return URL.canParse(value) ? value : undefined;
      return !choices || choices.includes(value) ? value : undefined;
    }
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}
