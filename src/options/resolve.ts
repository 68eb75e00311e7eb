import { shortJson } from '../contract/address.ts';
import { PLACEHOLDERS } from '../contract/audit.ts';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError, nearestName } from '../contract/error.ts';
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

/** Where values come from, the strongest first. Keys are option names; texts are read by the option's kind. */
export interface OptionSource {
  /** What to call a value of it in an error: the flag, the variable, the file and key. */
  label: (name: string) => string;
  values: Readonly<Record<string, unknown>>;
  /** Where paths in it are meant from. Without it no secret is read from a file. */
  folder?: string;
  /** It was found in a folder, which may have come from anywhere, and nobody named it. */
  isFound?: boolean;
}

/** `dataDir` → `GATEWAY_SIM_DATA_DIR`. */
export function environmentName(name: string): string {
  return `GATEWAY_SIM_${kebab(name).replaceAll('-', '_').toUpperCase()}`;
}

/** Variables of ours that are no options of `start`. */
const OTHER_VARIABLES: readonly string[] = [
  'GATEWAY_SIM_CONFIG',
  'GATEWAY_SIM_URL',
  'GATEWAY_SIM_JSON',
  'GATEWAY_SIM_INITIATE_URL',
  'GATEWAY_SIM_TLS_CA',
  ...Object.values(PLACEHOLDERS),
];

/**
 * The option values that an environment holds, by option name. Empty ones count as unset.
 *
 * @throws GatewayError `usage` for a variable that nearly has the name of an option. Others are left alone: what is
 *   called GATEWAY_SIM_VERSION in somebody's pipeline is not ours (chosen)
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
  // Short names are near to much: TOKEN is no slip of OPEN. Hardly a slip changes the first letter.
  const names = (Object.keys(START_OPTIONS) as OptionName[]).filter(
    (name) => name[0] === written[0]?.toLowerCase(),
  );
  const meant = nearestName(written.replaceAll('_', '-'), names.map(kebab));
  const name = names.find((one) => kebab(one) === meant);
  if (name === undefined) return;
  const isStructure = START_OPTIONS[name].kind === 'structure';
  if (variable === environmentName(name) && !isStructure) return;
  const hint = isStructure
    ? `: "${name}" stands in the configuration file only`
    : `: did you mean ${environmentName(name)}?`;
  throw usage(`unknown variable ${variable}${hint}`);
}

/**
 * One value for every option: flag beats environment beats file beats profile beats default, whatever the order of
 * strength given.
 *
 * @param sources the strongest first
 * @param known the names that a source may have; every other option takes its default
 * @throws GatewayError `usage` for an unknown name (with the nearest known one) or a value that its option cannot take
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

/** What to call an option in an error: its flag, variable or key in the file; undefined where none was given. */
export function givenAs(options: ResolvedOptions, name: OptionName): string | undefined {
  return SOURCES.get(options)?.(name)?.label(name);
}

/** Whether the user gave an option: a configuration file that was only found may be anybody's. */
export function isGivenByUser(options: ResolvedOptions, name: OptionName): boolean {
  const source = SOURCES.get(options)?.(name);
  return source !== undefined && !source.isFound;
}

function requireKnown(name: string, known: readonly string[], label: (name: string) => string): void {
  if (known.includes(name)) return;
  const meant = nearestName(name, known);
  throw usage(`unknown option ${label(name)}${meant ? `: did you mean ${label(meant)}?` : ''}`);
}

function usage(message: string): GatewayError {
  return new GatewayError('usage', message);
}

/**
 * A value as its option wants it, read from text where it is text.
 *
 * @param label what to call it in an error
 * @throws GatewayError `usage`
 */
export function readValue(spec: OptionSpec, value: unknown, label: string): unknown {
  if (spec.kind === 'structure') return value;
  const read = fitting(spec, value);
  if (read !== undefined) return read;
  // What a secret is stays out of errors.
  const got = spec.kind === 'secret' ? '' : ` (got ${shortJson(value)})`;
  throw usage(`${label} must ${EXPECTED[spec.kind](spec)}${got}`);
}

const EXPECTED: Readonly<Record<Exclude<OptionKind, 'structure'>, (spec: OptionSpec) => string>> = {
  text: () => 'be text',
  secret: ({ max }) => `have 1 to ${max} letters, digits and signs of ASCII, and no space`,
  integer: ({ max }) => `be a whole number from 0 to ${max}`,
  boolean: () => 'be true or false',
  choice: ({ choices }) => `be one of ${choices?.join(', ')}`,
  list: () => 'be a list of texts',
  url: () => 'be an absolute http or https address',
  baseUrl: () => 'be an absolute http or https address without user name, query and fragment',
  duration: () => 'be a duration such as 500ms, 2s, 1m or 1h',
  retention: () => `be a number from 1 to ${MAX_KEPT}, or a duration such as 30m or 24h`,
};

/** Undefined for what the option cannot take. */
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
