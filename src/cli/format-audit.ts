import type { ChalkInstance } from 'chalk';
import { AUDIT_VERDICTS, type AuditVerdict, isReportable } from '../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';
import { auditHeadline, counted, releases } from '../contract/audit-summary.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { onOneLine } from './printable.ts';

const COLOURS = {
  pass: 'green',
  fail: 'red',
  'at-risk': 'yellow',
  note: 'blue',
  unproven: 'cyan',
  skipped: 'gray',
} as const satisfies Record<AuditVerdict, keyof ChalkInstance>;

export function caseLine({ name, verdict }: AuditedCase): string {
  return `${verdict.padEnd(8)} ${name}`;
}

/** A report as text: the result, each mistake with its fix and cases, cases that prove nothing, and the counts. */
export function auditText({ cases, summary, mistakes, orders }: AuditReport, colour: ChalkInstance): string {
  const byName = new Map(cases.map((one) => [one.name, one]));
  const paragraphs = mistakes.map(({ name, cost, fix, cases: names }) =>
    [
      `${colour.bold(name)}: ${onOneLine(cost)}`,
      '  How to fix it:',
      indented(fix),
      ...names.flatMap((one) => byName.get(one) ?? []).map((one) => caseText(one, colour)),
    ].join('\n'),
  );
  const quiet = quietText(
    cases.filter(({ verdict }) => verdict !== 'pass' && !isReportable(verdict)),
    colour,
  );
  const counts = namesOf(AUDIT_VERDICTS)
    .filter((verdict) => summary[verdict] > 0)
    .map((verdict) => colour[COLOURS[verdict]](`${summary[verdict]} ${verdict}`));
  const left = orders
    ? `This audit left ${counted(orders, 'order')} in the shop's database.`
    : 'This audit saw no new order in the shop.';
  return [
    [colour.bold(auditHeadline(cases)), ...releases(cases)].join('\n'),
    ...paragraphs,
    ...(quiet.length ? [quiet.join('\n')] : []),
    `${counted(cases.length, 'case')}: ${counts.join(', ')}. ${left}`,
  ].join('\n\n');
}

function caseText(
  { name, verdict, about, observed, why, cost, curl }: AuditedCase,
  colour: ChalkInstance,
): string {
  return [
    `  ${colour[COLOURS[verdict]](verdict.toUpperCase())} ${colour.bold(name)}: ${about}`,
    ...(observed === null ? [] : [`    Result: ${onOneLine(observed)}.`]),
    ...(why === cost ? [] : [`    ${onOneLine(why)}`]),
    ...(curl === null ? [] : [indented(curl)]),
  ].join('\n');
}

/** Cases that prove nothing, grouped by reason. */
function quietText(cases: readonly AuditedCase[], colour: ChalkInstance): string[] {
  const byReason = new Map<string, AuditedCase[]>();
  for (const one of cases) {
    const key = `${one.verdict}: ${one.why}`;
    byReason.set(key, [...(byReason.get(key) ?? []), one]);
  }
  return [...byReason].map(([, same]) => {
    const [{ verdict, why } = { verdict: 'skipped', why: '' } as const] = same;
    return `  ${colour[COLOURS[verdict]](verdict)} ${same.map(({ name }) => name).join(', ')}: ${onOneLine(why)}`;
  });
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}
