import type { ManifestLine } from '../contract/manifest.ts';
import { LOOSE } from '../contract/profiles.ts';
import type { Verdict } from './conform.ts';
import type { InForce } from './manifest.ts';

/** A profile of one's own, as a file holds it. */
export type LocalProfile = Readonly<Record<string, unknown>>;

type Verdicts = ReadonlyMap<ManifestLine, Verdict>;

/** The option that is a list of currencies, each of them a choice of its own. */
const LIST = 'currency';

/**
 * The choices that explain in what a target differs from a profile: for each, the value under which every line that
 * depends on it holds.
 *
 * @param verdicts of all lines, also of those that need not hold under the profile
 */
export function explainedBy(verdicts: Verdicts, { profile, choices, options }: InForce): LocalProfile {
  const changed: Record<string, unknown> = {};
  const set: Record<string, unknown> = {};
  const inForce: Readonly<Record<string, unknown>> = { ...options, ...choices };
  for (const [name, values] of evidence(verdicts)) {
    if (name === LIST) continue;
    if (values.get(inForce[name] ?? null) !== false) continue;
    const fitting = [...values].filter(([, holds]) => holds).map(([value]) => value);
    if (fitting.length !== 1) continue;
    (name in choices ? changed : set)[name] = fitting[0] ?? undefined;
  }
  const currencies = currenciesSeen(verdicts, options[LIST]);
  // Loose beats single choices, so that one of them takes its place.
  const isLoose = options['loose'] === true && Object.keys(LOOSE).some((name) => name in changed);
  const own = { ...(isLoose && LOOSE), ...changed };
  return {
    profile,
    ...(Object.keys(own).length > 0 && { choices: own }),
    ...(isLoose && { loose: false }),
    ...set,
    ...(currencies && { [LIST]: currencies }),
  };
}

/** Of each choice, whether the lines that depend on a value of it hold; values of which nothing was seen are left out. */
function evidence(verdicts: Verdicts): Map<string, Map<unknown, boolean>> {
  const found = new Map<string, Map<unknown, boolean>>();
  for (const [{ choice = {} }, verdict] of verdicts) {
    if ('why' in verdict) continue;
    for (const [name, value] of Object.entries(choice)) {
      const values = found.get(name) ?? new Map<unknown, boolean>();
      found.set(name, values);
      values.set(value, (values.get(value) ?? true) && verdict.mismatches.length === 0);
    }
  }
  return found;
}

/** The currencies in force, without those that the target refused and with those that it took; undefined for no change. */
function currenciesSeen(verdicts: Verdicts, inForce: unknown): string[] | undefined {
  const current = Array.isArray(inForce) ? inForce.map(String) : [];
  const taken = new Map<string, boolean>();
  for (const [{ choice }, verdict] of verdicts) {
    const code = choice?.[LIST];
    if (typeof code !== 'string' || code.startsWith('!') || 'why' in verdict) continue;
    taken.set(code, verdict.mismatches.length === 0);
  }
  const codeOf = (currency: string) => currency.split(':', 1)[0] ?? '';
  const kept = current.filter((currency) => taken.get(codeOf(currency)) !== false);
  const known = current.map(codeOf);
  const added = [...taken]
    .filter(([code, isTaken]) => isTaken && !known.includes(code))
    .map(([code]) => code);
  return added.length || kept.length < current.length ? [...kept, ...added] : undefined;
}
