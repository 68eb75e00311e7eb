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

/** What a profile stands on: how many lines of the manifest it has, and where they come from. */
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

/** The options that decide on a choice themselves, with what they are where neither a profile nor a user sets them. */
const DECIDING = { amountFormat: 'sent', ipnRetries: undefined, errorStatus: 'ok' } as const;

/** What is in force: a profile, and what was chosen against it. */
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

/** The profile in force for people, with what is chosen against it. */
export function fidelityText(fidelity: Fidelity & { changes: readonly string[] }): string {
  const { profile, changes, lines, documented, observed, chosen } = fidelity;
  const but = changes.length ? `, but ${changes.join(', ')}` : '';
  return `${profile}${but}  (${lines} facts: ${documented} documented, ${observed} observed, ${chosen} chosen)`;
}
