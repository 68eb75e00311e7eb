import { resolve } from 'node:path';
import { shortJson } from '../contract/address.ts';
import { didYouMean, usage } from '../contract/error.ts';
import {
  CHOICE_NAMES,
  CHOICES,
  type Choices,
  isProfile,
  LOOSE,
  PROFILE_NAMES,
  PROFILE_OPTIONS,
  PROFILES,
  type ProfileName,
} from '../contract/profiles.ts';
import { readBeginning } from './read-beginning.ts';

/** A built-in profile, possibly with the changes of a file. */
interface ReadProfile {
  name: ProfileName;
  /** The profile's choices, overridden by the file's choices. */
  choices: Choices;
  /** Option values. Any value that the user sets overrides them. */
  options: Readonly<Record<string, unknown>>;
}

/** A profile file has about a dozen lines. */
const MAX_BYTES = 65_536;

/**
 * Reads a profile by name or from a file.
 *
 * @param given a name, or the path of a file written by `conform --update-profile`
 * @param label its name in errors
 * @param source the folder of relative paths, and whether the configuration file was discovered rather than named
 * @throws GatewayError `usage`
 */
export function readProfile(
  given: unknown,
  label: string,
  { folder = '.', isFound }: { folder?: string; isFound?: boolean } = {},
): ReadProfile {
  if (typeof given !== 'string' || given === '') {
    throw usage(`${label} must be ${PROFILE_NAMES.join(', ')} or a file (got ${shortJson(given)})`);
  }
  if (isProfile(given)) return { name: given, ...PROFILES[given] };
  if (!/[./\\]/.test(given)) {
    const known = `. Available: ${PROFILE_NAMES.join(', ')}, or a file such as ./mine.json`;
    throw usage(`${label}: unknown profile "${given}"${didYouMean(given, PROFILE_NAMES, known)}`);
  }
  const path = resolve(folder, given);
  const { $schema: _, profile = 'document', choices, ...options } = objectIn(path, label, isFound);
  const within = (name: string) => `"${name}" in ${path}`;
  if (typeof profile !== 'string' || !isProfile(profile)) {
    throw usage(`${within('profile')} must be one of ${PROFILE_NAMES.join(', ')}`);
  }
  for (const name of Object.keys(options)) requireName(name, PROFILE_OPTIONS, `unknown key ${within(name)}`);
  const base = PROFILES[profile];
  return {
    name: profile,
    choices: { ...base.choices, ...givenChoices(choices, within('choices')) },
    options: { ...base.options, ...options },
  };
}

function objectIn(path: string, label: string, isFound?: boolean): Record<string, unknown> {
  const text = readBeginning(path, label, MAX_BYTES, isFound);
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch (error) {
    const { message } = error as SyntaxError;
    throw usage(`${label} cannot be read from ${path}: ${message}`, { cause: error });
  }
  throw usage(`${label} cannot be read from ${path}: it is not a JSON object`);
}

/** Choices by name. @throws GatewayError `usage` for an unknown choice or value */
function givenChoices(given: unknown, label: string): Partial<Choices> {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw usage(`${label} must be an object such as {"siteLogo": "optional"}`);
  }
  const known: Readonly<Record<string, { values: readonly string[] }>> = CHOICES;
  for (const [name, value] of Object.entries(given)) {
    requireName(name, CHOICE_NAMES, `${label} has no choice "${name}"`);
    const { values = [] } = known[name] ?? {};
    if (values.some((one) => one === value)) continue;
    throw usage(`${label}: ${name} must be one of ${values.join(', ')} (got ${shortJson(value)})`);
  }
  return given;
}

function requireName(name: string, known: readonly string[], message: string): void {
  if (!known.includes(name)) throw usage(message + didYouMean(name, known, `; known: ${known.join(', ')}`));
}

/**
 * The effective choices. `--loose` overrides single choices, which override the profile.
 *
 * @throws GatewayError `usage`
 */
export function choicesInForce(profile: ReadProfile, given: unknown, label: string, loose: unknown): Choices {
  return { ...profile.choices, ...givenChoices(given, label), ...(loose === true && LOOSE) };
}
