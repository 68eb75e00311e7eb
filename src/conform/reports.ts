import { type JunitCase, junitSuite } from '../audit/junit-report.ts';
import type { ConformReport } from '../contract/conform.ts';
import { AREAS, type ManifestLine } from '../contract/manifest.ts';
import { type Conformed, differenceOf } from './conform.ts';
import { maskFor, type Private } from './mask.ts';

/** For CI servers: each line that need hold, by its area. */
export function conformJunit(
  { profile, differ, unseen }: ConformReport,
  held: readonly ManifestLine[],
): string {
  const differences = new Map(differ.map((one) => [one.id, one]));
  const reasons = new Map(unseen.map(({ id, why }) => [id, why]));
  const cases = held.map(({ id, area, says, source }): JunitCase => {
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

/** What may be sent to others: without keys, and without what is known of people and cards. */
export function maskedReport({ report, verdicts }: Conformed, secrets: Private): ConformReport {
  const mask = maskFor(secrets);
  const found = new Map([...verdicts].map(([{ id }, verdict]) => [id, verdict]));
  const differ = report.differ.flatMap(({ id }) => {
    const verdict = found.get(id);
    return verdict && 'mismatches' in verdict ? [differenceOf(id, verdict.mismatches.map(mask))] : [];
  });
  const unseen = report.unseen.map(({ id, why }) => ({ id, why: mask({ expected: 'a try', got: why }).got }));
  return { ...report, target: new URL(report.target).origin, differ, unseen };
}
