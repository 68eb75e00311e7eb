import type { Mask } from '../contract/secrets.ts';
import type { Verdict } from './expectation.ts';
import type { ManifestLine } from './manifest.ts';

/** A line of the manifest that a target does not match. */
interface Difference {
  id: string;
  expected: string;
  got: string;
}

/** A line that could not be tested. */
interface UnseenLine {
  id: string;
  why: string;
}

/** The result of checking a target against a manifest. */
export interface ConformReport {
  target: string;
  profile: string;
  /** Number of matching lines. */
  agree: number;
  differ: Difference[];
  unseen: UnseenLine[];
}

/**
 * The results of the lines, with shortened values.
 *
 * @param mask hides secrets in a text
 */
export function reportOf(
  { target, profile }: Pick<ConformReport, 'target' | 'profile'>,
  verdicts: ReadonlyMap<ManifestLine, Verdict>,
  mask: Mask,
): ConformReport {
  const differ: Difference[] = [];
  const unseen: UnseenLine[] = [];
  const shown = (text: string) => mask(text, { most: SHOWN });
  for (const [{ id }, verdict] of verdicts) {
    if ('why' in verdict) unseen.push({ id, why: mask(verdict.why) });
    else if (verdict.mismatches.length) {
      const all = (side: 'expected' | 'got') => verdict.mismatches.map((one) => shown(one[side])).join('; ');
      differ.push({ id, expected: all('expected'), got: all('got') });
    }
  }
  return { target, profile, agree: verdicts.size - unseen.length - differ.length, differ, unseen };
}

/** Maximum characters of an expected value and of a received value. */
const SHOWN = 240;
