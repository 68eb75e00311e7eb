import type { ManifestLine } from '../contract/manifest.ts';
import type { Verdict } from './conform.ts';
import type { InForce } from './manifest.ts';

/** A profile of one's own, as a file holds it. */
export type LocalProfile = Readonly<Record<string, unknown>>;

type Verdicts = ReadonlyMap<ManifestLine, Verdict>;
type Value = string | number | null;

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
  for (const [name, values] of evidence(verdicts)) {
    if (name === LIST) continue;
    const current = (name in choices ? choices[name as keyof typeof choices] : options[name]) ?? null;
    if (values.get(current as Value) !== false) continue;
    const fitting = [...values].filter(([, holds]) => holds).map(([value]) => value);
    if (fitting.length !== 1) continue;
    (name in choices ? changed : set)[name] = fitting[0] ?? undefined;
  }
  const currencies = currenciesIn(verdicts);
  return {
    profile,
    ...(Object.keys(changed).length > 0 && { choices: changed }),
    ...set,
    ...(currencies.length > 0 && { currency: currencies }),
  };
}

/** Of each choice, whether the lines that depend on a value of it hold; values of which nothing was seen are left out. */
function evidence(verdicts: Verdicts): Map<string, Map<Value, boolean>> {
  const found = new Map<string, Map<Value, boolean>>();
  for (const [{ choice = {} }, verdict] of verdicts) {
    if ('why' in verdict) continue;
    for (const [name, value] of Object.entries(choice)) {
      const values = found.get(name) ?? new Map<Value, boolean>();
      found.set(name, values);
      values.set(value, (values.get(value) ?? true) && verdict.mismatches.length === 0);
    }
  }
  return found;
}

/** The further currencies that the target was seen to take. */
function currenciesIn(verdicts: Verdicts): string[] {
  return [...verdicts].flatMap(([{ choice }, verdict]) => {
    const code = choice?.[LIST];
    const isTaken = 'mismatches' in verdict && verdict.mismatches.length === 0;
    return typeof code === 'string' && !code.startsWith('!') && isTaken ? [code] : [];
  });
}
