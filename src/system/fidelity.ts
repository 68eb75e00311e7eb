import scores from '../../fixtures/fidelity/manifest.jsonl?score';
import { CHOICE_NAMES, type Choices, choicesOf, type ProfileName } from '../contract/profiles.ts';

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

/** The profile in force for people, with the choices that are made against it. */
export function fidelityText({ profile, choices }: { profile: ProfileName; choices: Choices }): string {
  const { lines, documented, observed, chosen } = fidelityOf(profile);
  const own = choicesOf(profile);
  const changes = CHOICE_NAMES.filter((name) => choices[name] !== own[name]).map(
    (name) => `${name} ${choices[name]}`,
  );
  const but = changes.length ? `, but ${changes.join(', ')}` : '';
  return `${profile}${but}  (${lines} facts: ${documented} documented, ${observed} observed, ${chosen} chosen)`;
}
