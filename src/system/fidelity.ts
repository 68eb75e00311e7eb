import { CHOICE_NAMES, type Choices, choicesOf, PROFILES, type ProfileName } from '../contract/profiles.ts';
import { namesOf, type Source } from '../contract/vocabulary.ts';
import { manifestLines } from './manifest-lines.ts';

/** The number of manifest lines of a profile, by source. */
interface Fidelity {
  profile: ProfileName;
  lines: number;
  documented: number;
  observed: number;
  chosen: number;
}

function fidelityOf(profile: ProfileName): Fidelity {
  const lines = manifestLines().filter(({ profiles }) => profiles.includes(profile));
  const count = (source: Source) => lines.filter(({ source: { kind } }) => kind === source).length;
  const [documented, observed, chosen] = [count('documented'), count('observed'), count('chosen')];
  return { profile, lines: lines.length, documented, observed, chosen };
}

/** Options that decide which lines apply, with their default values. */
const DECIDING = { amountFormat: 'sent', errorStatus: 'ok' } as const;

/** The profile in force, with the choices that override it. */
type InForce = { profile: ProfileName; choices: Choices } & Deciding;
type Deciding = { readonly [Name in keyof typeof DECIDING]?: string | undefined };

export function fidelityIn(options: InForce): Fidelity & { changes: string[] } {
  return { ...fidelityOf(options.profile), changes: changesIn(options) };
}

/** The choices that override the profile in force. */
export function changesIn({ profile, choices, ...options }: InForce): string[] {
  const own = choicesOf(profile);
  const preset: Deciding = { ...DECIDING, ...PROFILES[profile].options };
  return [
    ...CHOICE_NAMES.filter((name) => choices[name] !== own[name]).map((name) => `${name} ${choices[name]}`),
    ...namesOf(DECIDING)
      .filter((name) => options[name] !== preset[name])
      .map((name) => `${name} ${options[name]}`),
  ];
}

/** The profile in force as text, with the choices that override it. */
export function profileText({
  profile,
  changes,
}: Pick<Fidelity, 'profile'> & { changes: readonly string[] }): string {
  return changes.length ? `${profile}, but ${changes.join(', ')}` : profile;
}
