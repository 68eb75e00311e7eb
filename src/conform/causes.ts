import type { Cause } from '../contract/conform.ts';
import type { ManifestLine } from '../contract/manifest.ts';
import type { Mismatch, Verdict } from './expectation.ts';

export type Verdicts = ReadonlyMap<ManifestLine, Verdict>;

const causeOf = ({ cause, expected }: Mismatch) => cause ?? expected;

/**
 * Finds mismatches that no choice explains: no line met the expectation, and lines without a choice have the same
 * mismatch. If every success is the text "true", for example, that says nothing about the accepted currency.
 */
export function independentOfChoices(verdicts: Verdicts): (mismatch: Mismatch) => boolean {
  const met = new Set<string>();
  const shared = new Set<string>();
  for (const [{ choice }, verdict] of verdicts) {
    if ('why' in verdict) continue;
    for (const expected of verdict.met ?? []) met.add(expected);
    if (!choice) for (const mismatch of verdict.mismatches) shared.add(causeOf(mismatch));
  }
  return (mismatch) => shared.has(causeOf(mismatch)) && !met.has(mismatch.expected);
}

const NO_CARDS = 'no card routes';
const isCardRoute = ({ request }: ManifestLine) => request.path.startsWith('/api/cards');

/**
 * Groups the differing lines by their most common cause. A general cause counts only for lines without their own.
 *
 * @param mask hides secrets in a mismatch
 * @returns the largest group first
 */
export function causesOf(
  verdicts: Verdicts,
  differing: ReadonlySet<string>,
  mask: (mismatch: Mismatch) => Mismatch,
): Cause[] {
  const isGeneral = independentOfChoices(verdicts);
  const cards = [...verdicts].flatMap(([line, one]) =>
    isCardRoute(line) && 'mismatches' in one ? [one] : [],
  );
  const hasNoCards = cards.every(({ isNoRoute }) => isNoRoute);
  const found = [...verdicts].flatMap(([line, verdict]) => {
    if ('why' in verdict || !differing.has(line.id)) return [];
    const own = verdict.mismatches.filter((mismatch) => !isGeneral(mismatch));
    if (hasNoCards && isCardRoute(line)) return { id: line.id, causes: [NO_CARDS] };
    const mismatches = own.length ? own : verdict.mismatches;
    const choices = own.length ? Object.entries(line.choice ?? {}) : [];
    const causes = [
      ...mismatches.map((mismatch) => causeOf(mask(mismatch))),
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

/** Maximum characters of an expected value, a received value and a cause. */
const SHOWN = 240;
export const shortened = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
