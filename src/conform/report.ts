import { type JunitCase, junitSuite } from '../audit/reports.ts';
import { LOOSE } from '../contract/profiles.ts';
import { shorten } from '../contract/text.ts';
import type { Comparison, Verdict } from './expectation.ts';
import { AREAS, appliesWith, type InForce, type ManifestLine } from './manifest.ts';
import type { Mask, Mismatch } from './mask.ts';

/** A line of the manifest that a target does not match. */
export interface Difference {
  id: string;
  expected: string;
  got: string;
}

/** A line that could not be tested. */
interface UnseenLine {
  id: string;
  why: string;
}

/** A cause that several differences have in common. */
interface Cause {
  cause: string;
  ids: string[];
}

/** The result of checking a target against a manifest. */
export interface ConformReport {
  target: string;
  profile: string;
  /** Number of matching lines. */
  agree: number;
  differ: Difference[];
  /** The differences grouped by cause, largest group first. */
  causes: Cause[];
  unseen: UnseenLine[];
}

/** The verdicts of all lines tried, including those that do not apply to the profile. */
export type Verdicts = ReadonlyMap<ManifestLine, Verdict>;

/** A line that the target does not match. */
interface Differing {
  line: ManifestLine;
  verdict: Comparison;
}

/** The results of the lines that apply, with masked and shortened values. */
export function reportOf(target: string, inForce: InForce, verdicts: Verdicts, mask: Mask): ConformReport {
  const applying = [...verdicts].filter(([line]) => appliesWith(line, inForce));
  const unseen = applying.flatMap(([{ id }, verdict]) => {
    if (!('why' in verdict)) return [];
    const { got: why } = mask({ expected: 'a try', got: verdict.why, cause: 'a try' });
    return [{ id, why }];
  });
  const differing = applying.flatMap(([line, verdict]): Differing[] =>
    'mismatches' in verdict && verdict.mismatches.length ? [{ line, verdict }] : [],
  );
  const differ = differing.map(({ line: { id }, verdict }) => {
    const mismatches = verdict.mismatches.map(mask);
    const all = (side: 'expected' | 'got') => mismatches.map((one) => shortened(one[side])).join('; ');
    return { id, expected: all('expected'), got: all('got') };
  });
  const agree = applying.length - unseen.length - differ.length;
  const causes = causesOf(verdicts, differing, mask);
  return { target, profile: inForce.profile, agree, differ, causes, unseen };
}

/** Maximum characters of an expected value, a received value and a cause. */
const SHOWN = 240;
const shortened = (text: string) => shorten(text, SHOWN);

const NO_CARDS = 'no card routes';
const isCardRoute = ({ request }: ManifestLine) => request.path.startsWith('/api/cards');

/**
 * Groups the differing lines by their most common cause, the largest group first. A general cause counts only for lines
 * without their own.
 */
function causesOf(verdicts: Verdicts, differing: readonly Differing[], mask: Mask): Cause[] {
  const isGeneral = independentOfChoices(verdicts);
  const hasNoCards = [...verdicts].every(
    ([line, verdict]) => !isCardRoute(line) || 'why' in verdict || verdict.isNoRoute,
  );
  const found = differing.map(({ line, verdict }) => {
    if (hasNoCards && isCardRoute(line)) return { id: line.id, causes: [NO_CARDS] };
    const own = verdict.mismatches.filter((mismatch) => !isGeneral(mismatch));
    const mismatches = own.length ? own : verdict.mismatches;
    const choices = own.length ? Object.entries(line.choice ?? {}) : [];
    const causes = [
      ...mismatches.map((mismatch) => mask(mismatch).cause),
      ...choices.map(([name, value]) => `${name} is not ${JSON.stringify(value)}`),
    ];
    return { id: line.id, causes };
  });
  const sizes = new Map<string, number>();
  for (const { causes } of found)
    for (const cause of new Set(causes)) sizes.set(cause, (sizes.get(cause) ?? 0) + 1);
  const groups = new Map<string, string[]>();
  for (const { id, causes } of found) {
    const [biggest = ''] = causes.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
    groups.set(biggest, [...(groups.get(biggest) ?? []), id]);
  }
  return [...groups]
    .map(([cause, ids]) => ({ cause: shortened(cause), ids }))
    .sort((a, b) => b.ids.length - a.ids.length);
}

/**
 * Finds mismatches that no choice explains: no line met the expectation, and lines without a choice have the same
 * mismatch. If every success is the text "true", for example, that says nothing about the accepted currency.
 */
function independentOfChoices(verdicts: Verdicts): (mismatch: Mismatch) => boolean {
  const met = new Set<string>();
  const shared = new Set<string>();
  for (const [{ choice }, verdict] of verdicts) {
    if ('why' in verdict) continue;
    for (const expected of verdict.met) met.add(expected);
    if (!choice) for (const { cause } of verdict.mismatches) shared.add(cause);
  }
  return ({ cause, expected }) => shared.has(cause) && !met.has(expected);
}

/** The report as JUnit XML: each line that applies, by area. */
export function conformJunit(
  { profile, differ, unseen }: ConformReport,
  lines: readonly ManifestLine[],
): string {
  const differences = new Map(differ.map((one) => [one.id, one]));
  const reasons = new Map(unseen.map(({ id, why }) => [id, why]));
  const cases = lines.map(({ id, area, says, source }): JunitCase => {
    const one = { name: id, className: `${area}: ${AREAS[area]}` };
    const difference = differences.get(id);
    const why = reasons.get(id);
    if (why !== undefined) return { ...one, skipped: why };
    if (!difference) return one;
    const text = `${says}\n\nexpected: ${difference.expected}\ngot: ${difference.got}`;
    return { ...one, failure: { type: source.kind, message: says, text } };
  });
  return junitSuite(`gateway-sim conform ${profile}`, cases);
}

/** The option that is a list of currencies. Each currency is a separate choice. */
const LIST = 'currency';

/**
 * Finds the choices that explain how a target differs from a profile: the values with which all dependent lines pass.
 *
 * @returns the content of a profile file; undefined if no choice explains the differences
 */
export function explainedBy(
  verdicts: Verdicts,
  { profile, choices, ...options }: InForce,
): Readonly<Record<string, unknown>> | undefined {
  const isIndependent = independentOfChoices(verdicts);
  // For each choice, whether all lines that depend on a value pass. Values without results are omitted.
  const evidence = new Map<string, Map<unknown, boolean>>();
  const accepted = new Map<string, boolean>();
  for (const [{ choice = {} }, verdict] of verdicts) {
    if ('why' in verdict) continue;
    const holds = verdict.mismatches.every(isIndependent);
    for (const [name, value] of Object.entries(choice)) {
      if (name === LIST) {
        if (!value.startsWith('!')) accepted.set(value, holds);
        continue;
      }
      const values = evidence.get(name) ?? new Map<unknown, boolean>();
      evidence.set(name, values);
      values.set(value, (values.get(value) ?? true) && holds);
    }
  }
  const changed: Record<string, unknown> = {};
  const set: Record<string, unknown> = {};
  const inForce: Readonly<Record<string, unknown>> = { ...options, ...choices };
  for (const [name, values] of evidence) {
    if (values.get(inForce[name]) !== false) continue;
    const fitting = [...values].filter(([, holds]) => holds).map(([value]) => value);
    if (fitting.length !== 1) continue;
    (name in choices ? changed : set)[name] = fitting[0];
  }
  const currencies = currenciesSeen(accepted, options[LIST]);
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

/**
 * The current currencies, minus the ones that the target rejected, plus the ones that it accepted; undefined if
 * unchanged.
 *
 * @param accepted whether it accepted each currency tried
 */
function currenciesSeen(accepted: ReadonlyMap<string, boolean>, inForce: unknown): string[] | undefined {
  const current = Array.isArray(inForce) ? inForce.map(String) : [];
  const codeOf = (currency: string) => currency.split(':', 1)[0] ?? '';
  const kept = current.filter((currency) => accepted.get(codeOf(currency)) !== false);
  const known = current.map(codeOf);
  const added = [...accepted]
    .filter(([code, isAccepted]) => isAccepted && !known.includes(code))
    .map(([code]) => code);
  return added.length || kept.length < current.length ? [...kept, ...added] : undefined;
}
