import type { ManifestLine } from '../contract/manifest.ts';
import { LOOSE } from '../contract/profiles.ts';
import { independentOfChoices, type Verdicts } from './causes.ts';
import type { InForce } from './manifest.ts';

/** The content of a custom profile file. */
type LocalProfile = Readonly<Record<string, unknown>>;

/** The option that is a list of currencies. Each currency is a separate choice. */
const LIST = 'currency';

/**
 * Finds the choices that explain how a target differs from a profile: the values with which all dependent lines pass.
 *
 * @param verdicts the verdicts of all lines, including those that do not apply to the profile
 * @returns undefined if no choice explains the differences
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
  // `loose` overrides single choices, so an explained choice replaces it.
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

/** The result of a line that depends on a choice. */
interface Observation {
  choice: NonNullable<ManifestLine['choice']>;
  holds: boolean;
}

/** For each choice, whether all lines that depend on a value pass. Values without results are omitted. */
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

/**
 * The current currencies, minus the ones that the target rejected, plus the ones that it accepted; undefined if
 * unchanged.
 */
function currenciesSeen(seen: readonly Observation[], inForce: unknown): string[] | undefined {
  const current = Array.isArray(inForce) ? inForce.map(String) : [];
  const accepted = new Map<string, boolean>();
  for (const { choice, holds } of seen) {
    const code = choice[LIST];
    if (typeof code === 'string' && !code.startsWith('!')) accepted.set(code, holds);
  }
  const codeOf = (currency: string) => currency.split(':', 1)[0] ?? '';
  const kept = current.filter((currency) => accepted.get(codeOf(currency)) !== false);
  const known = current.map(codeOf);
  const added = [...accepted]
    .filter(([code, isAccepted]) => isAccepted && !known.includes(code))
    .map(([code]) => code);
  return added.length || kept.length < current.length ? [...kept, ...added] : undefined;
}
