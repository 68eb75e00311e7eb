import { type JunitCase, junitSuite } from '../audit/reports.ts';
import type { ConformReport } from '../contract/conform.ts';
import type { GatewayError } from '../contract/error.ts';
import { AREAS, type ManifestLine } from '../contract/manifest.ts';
import { causesOf, shortened, type Verdicts } from './causes.ts';
import type { Mismatch } from './expectation.ts';
import { appliesWith, type InForce } from './manifest.ts';
import { keyMask, maskFor, type Private } from './mask.ts';

export interface Conformed {
  report: ConformReport;
  /** The verdicts of all lines tried, including those that do not apply. */
  verdicts: Verdicts;
  /** Set if the target stopped responding during the run. */
  gone?: GatewayError;
}

interface Checked {
  url: string;
  publicKey: string;
  secretKey: string;
  inForce: InForce;
}

/** The results of the lines that apply. */
export function reportOf({ url, publicKey, secretKey, inForce }: Checked, verdicts: Verdicts): ConformReport {
  const mask = keyMask([publicKey, secretKey]);
  const needed = new Map([...verdicts].filter(([line]) => appliesWith(line, inForce)));
  const unseen = [...needed].flatMap(([{ id }, one]) => ('why' in one ? [{ id, why: mask(one.why) }] : []));
  const differ = [...needed].flatMap(([{ id }, one]) =>
    'mismatches' in one && one.mismatches.length ? [id] : [],
  );
  const agree = needed.size - unseen.length - differ.length;
  const masked = ({ expected, got, cause = expected }: Mismatch) => ({
    expected: mask(expected),
    got: mask(got),
    cause: mask(cause),
  });
  return { target: url, profile: inForce.profile, agree, ...differences(differ, verdicts, masked), unseen };
}

/** The differing lines with their shortened mismatches, and the causes. */
function differences(
  ids: readonly string[],
  verdicts: Verdicts,
  mask: (mismatch: Mismatch) => Mismatch,
): Pick<ConformReport, 'differ' | 'causes'> {
  const differing = new Set(ids);
  const differ = [...verdicts].flatMap(([{ id }, verdict]) => {
    if (!differing.has(id) || 'why' in verdict) return [];
    const mismatches = verdict.mismatches.map(mask);
    const all = (side: 'expected' | 'got') => mismatches.map((one) => shortened(one[side])).join('; ');
    return [{ id, expected: all('expected'), got: all('got') }];
  });
  return { differ, causes: causesOf(verdicts, differing, mask) };
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

/** The report without keys and without data of people and cards, for sharing. */
export function maskedReport({ report, verdicts }: Conformed, secrets: Private): ConformReport {
  const mask = maskFor(secrets);
  const found = differences(
    report.differ.map(({ id }) => id),
    verdicts,
    mask,
  );
  const unseen = report.unseen.map(({ id, why }) => ({ id, why: mask({ expected: 'a try', got: why }).got }));
  return { ...report, ...found, target: new URL(report.target).origin, unseen };
}
