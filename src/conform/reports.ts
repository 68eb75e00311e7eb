import { type JunitCase, junitSuite } from '../audit/junit-report.ts';
import type { ConformReport } from '../contract/conform.ts';
import { AREAS, type ManifestLine } from '../contract/manifest.ts';
import { textMask } from '../contract/secret.ts';

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

/** What may be sent to others: without keys, addresses of people, card numbers and names. */
export function maskedReport(report: ConformReport, keys: readonly string[]): ConformReport {
  const maskKeys = textMask(keys);
  const mask = (text: string) =>
    maskKeys(text)
      .replace(/[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/g, '…@…')
      .replace(/\b\d{8,15}(\d{4})\b/g, '…$1')
      .replace(/("(?:cvc|title|name_on_card|account_holder|customer_name)\\?":\s*\\?")[^"\\]*/g, '$1…')
      .replace(/\b((?:pub|sec)_)[A-Za-z0-9_]{8,}/g, '$1…');
  return {
    ...report,
    target: new URL(report.target).origin,
    differ: report.differ.map(({ id, expected, got }) => ({ id, expected: mask(expected), got: mask(got) })),
  };
}
