import scores from '../../fixtures/fidelity/manifest.jsonl?score';
import {
  CHOICE_NAMES,
  type Choices,
  choicesOf,
  PROFILES,
  type ProfileName,
  type ProfileOptions,
} from '../contract/profiles.ts';
import { namesOf } from '../contract/vocabulary.ts';

/** The number of manifest lines of a profile, by source. */
export interface Fidelity {
  profile: ProfileName;
  lines: number;
  documented: number;
  observed: number;
  chosen: number;
}

const NONE = { lines: 0, documented: 0, observed: 0, chosen: 0 };

export function fidelityOf(profile: ProfileName): Fidelity {
  return { profile, ...(scores[profile] ?? NONE) };
}

/** Options that a profile may set, with their default values. */
const DECIDING = { amountFormat: 'sent', errorStatus: 'ok' } as const;

/** The profile in force, with the choices that override it. */
export type InForce = { profile: ProfileName; choices: Choices } & Deciding;
type Deciding = { readonly [Name in keyof typeof DECIDING]?: ProfileOptions[Name] | undefined };

export function fidelityIn(options: InForce): Fidelity & { changes: string[] } {
  const { profile, choices } = options;
  const own = choicesOf(profile);
  const preset: Deciding = { ...DECIDING, ...PROFILES[profile].options };
  const changes = [
    ...CHOICE_NAMES.filter((name) => choices[name] !== own[name]).map((name) => `${name} ${choices[name]}`),
    ...namesOf(DECIDING)
      .filter((name) => options[name] !== preset[name])
      .map((name) => `${name} ${options[name]}`),
  ];
  return { ...fidelityOf(profile), changes };
}

/** The profile in force as text, with the choices that override it. */
export function profileText({
  profile,
  changes,
}: Pick<Fidelity, 'profile'> & { changes: readonly string[] }): string {
  return changes.length ? `${profile}, but ${changes.join(', ')}` : profile;
}
