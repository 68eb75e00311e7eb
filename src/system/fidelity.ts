import { CHOICE_NAMES, type Choices, choicesOf, PROFILES, type ProfileName } from '../contract/profiles.ts';
import { namesOf } from '../contract/vocabulary.ts';

/** Options that change what is emulated, with their default values. */
const DECIDING = { amountFormat: 'sent', errorStatus: 'ok' } as const;

type Deciding = { readonly [Name in keyof typeof DECIDING]?: string | undefined };

/** The profile in force, with the choices and options that override it. */
interface Fidelity {
  profile: ProfileName;
  changes: string[];
}

export function fidelityIn({
  profile,
  choices,
  ...options
}: { profile: ProfileName; choices: Choices } & Deciding): Fidelity {
  const own = choicesOf(profile);
  const preset: Deciding = { ...DECIDING, ...PROFILES[profile].options };
  const changes = [
    ...CHOICE_NAMES.filter((name) => choices[name] !== own[name]).map((name) => `${name} ${choices[name]}`),
    ...namesOf(DECIDING)
      .filter((name) => options[name] !== preset[name])
      .map((name) => `${name} ${options[name]}`),
  ];
  return { profile, changes };
}

/** The profile in force as text, with what overrides it. */
export function profileText({ profile, changes }: Fidelity): string {
  return changes.length ? `${profile}, but ${changes.join(', ')}` : profile;
}
