import { resolve } from 'node:path';
import { shortJson } from '../contract/address.ts';
import { didYouMean, GatewayError } from '../contract/error.ts';
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

/** What a profile says: one of ours, or one of ours with what a file changes. */
export interface ReadProfile {
  name: ProfileName;
  /** Choices of the profile itself, and above them those of the file. */
  choices: Choices;
  /** Values of options, weaker than any that were given. */
  options: Readonly<Record<string, unknown>>;
}

/** Maximum bytes of a file with a profile: one has a dozen lines. */
const MAX_BYTES = 65_536;

/**
 * The profile of that name, or the one in that file.
 *
 * @param given a name, or the path of a file as `conform --update-profile` writes it
 * @param label what to call it in an error
 * @param source where the path is meant from, and whether nobody named what says so
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
    const known = `; there are ${PROFILE_NAMES.join(', ')}, and files such as ./mine.json`;
    throw usage(`${label} names no profile: "${given}"${didYouMean(given, PROFILE_NAMES, known)}`);
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
    throw new GatewayError('usage', `${label} cannot be read from ${path}: ${message}`, { cause: error });
  }
  throw usage(`${label} cannot be read from ${path}: it is not a JSON object`);
}

/** Single choices by name. @throws GatewayError `usage` for one that there is not, and for a value that it cannot take */
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
 * The choices in force: those of the profile, above them single ones, above them what `--loose` accepts.
 *
 * @throws GatewayError `usage`
 */
export function choicesInForce(profile: ReadProfile, given: unknown, label: string, loose: unknown): Choices {
  return { ...profile.choices, ...givenChoices(given, label), ...(loose === true && LOOSE) };
}

function usage(message: string): GatewayError {
  return new GatewayError('usage', message);
}
