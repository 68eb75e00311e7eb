import type { ManifestLine } from '../contract/manifest.ts';
import { LOOSE } from '../contract/profiles.ts';
import { independentOfChoices, type Verdicts } from './causes.ts';
import type { InForce } from './manifest.ts';

/** A profile of one's own, as a file holds it. */
export type LocalProfile = Readonly<Record<string, unknown>>;

/** The option that is a list of currencies, each of them a choice of its own. */
const LIST = 'currency';

/**
 * The choices that explain in what a target differs from a profile: for each, the value under which every line that
 * depends on it holds.
 *
 * @param verdicts of all lines, also of those that need not hold under the profile
 * @returns undefined where no choice explains any difference
 */
export function explainedBy(
  verdicts: Verdicts,
  { profile, choices, options }: InForce,
): LocalProfile | undefined {
  const isIndependent = independentOfChoices(verdicts);
  const seen = [...verdicts].flatMap(([{ choice }, verdict]): Observation[] =>
    choice && 'mismatches' in verdict ? [{ choice, holds: verdict.mismatches.every(isIndependent) }] : [],
  );
  const changed: Record<string, unknown> = {};
  const set: Record<string, unknown> = {};
  const inForce: Readonly<Record<string, unknown>> = { ...options, ...choices };
  for (const [name, values] of evidence(seen)) {
    if (name === LIST) continue;
    if (values.get(inForce[name] ?? null) !== false) continue;
    const fitting = [...values].filter(([, holds]) => holds).map(([value]) => value);
    if (fitting.length !== 1) continue;
    (name in choices ? changed : set)[name] = fitting[0] ?? undefined;
  }
  const currencies = currenciesSeen(seen, options[LIST]);
  // Loose beats single choices, so that one of them takes its place.
  const isLoose = options['loose'] === true && Object.keys(LOOSE).some((name) => name in changed);
  const own = { ...(isLoose && LOOSE), ...changed };
  const explained = {
    ...(Object.keys(own).length > 0 && { choices: own }),
    ...(isLoose && { loose: false }),
    ...set,
    ...(currencies && { [LIST]: currencies }),
  };
  return Object.keys(explained).length > 0 ? { profile, ...explained } : undefined;
}

/** What a line shows of a choice on which it depends. */
interface Observation {
  choice: NonNullable<ManifestLine['choice']>;
  holds: boolean;
}

/** Of each choice, whether the lines that depend on a value of it hold; values of which nothing was seen are left out. */
function evidence(seen: readonly Observation[]): Map<string, Map<unknown, boolean>> {
  const found = new Map<string, Map<unknown, boolean>>();
  for (const { choice, holds } of seen) {
    for (const [name, value] of Object.entries(choice)) {
      const values = found.get(name) ?? new Map<unknown, boolean>();
      found.set(name, values);
      values.set(value, (values.get(value) ?? true) && holds);
    }
  }
  return found;
}

/** The currencies in force, without those that the target refused and with those that it took; undefined for no change. */
function currenciesSeen(seen: readonly Observation[], inForce: unknown): string[] | undefined {
  const current = Array.isArray(inForce) ? inForce.map(String) : [];
  const taken = new Map<string, boolean>();
  for (const { choice, holds } of seen) {
    const code = choice[LIST];
    if (typeof code === 'string' && !code.startsWith('!')) taken.set(code, holds);
  }
  const codeOf = (currency: string) => currency.split(':', 1)[0] ?? '';
  const kept = current.filter((currency) => taken.get(codeOf(currency)) !== false);
  const known = current.map(codeOf);
  const added = [...taken]
    .filter(([code, isTaken]) => isTaken && !known.includes(code))
    .map(([code]) => code);
  return added.length || kept.length < current.length ? [...kept, ...added] : undefined;
}
