import type { ChalkInstance } from 'chalk';
import { AUDIT_GROUPS, AUDIT_VERDICTS, type AuditVerdict, isTold } from '../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { onOneLine } from './printable.ts';

const COLOURS = {
  pass: 'green',
  fail: 'red',
  exposed: 'yellow',
  unproven: 'cyan',
  skipped: 'gray',
} as const satisfies Record<AuditVerdict, keyof ChalkInstance>;

/** A case on a line. */
export function caseLine({ name, verdict }: AuditedCase): string {
  return `${verdict.padEnd(8)} ${name}`;
}

/** A report for people: by group, with all that is to be said of what did not pass. */
export function auditText({ cases, summary, orders }: AuditReport, colour: ChalkInstance): string {
  const groups = namesOf(AUDIT_GROUPS).flatMap((group) => {
    const own = cases.filter((one) => one.group === group);
    return own.length ? [groupText(group, own, colour)] : [];
  });
  const counts = namesOf(AUDIT_VERDICTS)
    .filter((verdict) => summary[verdict] > 0)
    .map((verdict) => colour[COLOURS[verdict]](`${summary[verdict]} ${verdict}`));
  const left = `This audit left ${orders} order${orders === 1 ? '' : 's'} in the shop's database.`;
  return [left, ...groups, `${cases.length} cases: ${counts.join(', ')}`].join('\n\n');
}

function groupText(
  group: keyof typeof AUDIT_GROUPS,
  cases: readonly AuditedCase[],
  colour: ChalkInstance,
): string {
  const passed = cases.filter(({ verdict }) => verdict === 'pass').length;
  const title = colour.bold(`${group}: ${AUDIT_GROUPS[group]}`);
  const rest = cases.filter(({ verdict }) => verdict !== 'pass');
  const told = rest.filter(({ verdict }) => isTold(verdict));
  const quiet = rest.filter(({ verdict }) => !isTold(verdict));
  return [
    `${title} (${passed} of ${cases.length} passed)`,
    ...told.map((one) => caseText(one, colour)),
    ...mendsText(told),
    ...quietText(quiet, colour),
  ].join('\n');
}

function caseText({ name, verdict, about, observed, why, curl }: AuditedCase, colour: ChalkInstance): string {
  return [
    `  ${colour[COLOURS[verdict]](verdict.toUpperCase())} ${colour.bold(name)}: ${about}`,
    ...(observed === null ? [] : [`    The shop ${onOneLine(observed)}.`]),
    `    ${onOneLine(why)}`,
    ...(curl === null ? [] : [indented(curl)]),
  ].join('\n');
}

/** What mends several cases is said once. */
function mendsText(cases: readonly AuditedCase[]): string[] {
  const mends = [...new Set(cases.map(({ mend }) => mend))];
  return mends.flatMap((mend) => {
    const names = cases.filter((one) => one.mend === mend).map(({ name }) => name);
    return mend === null ? [] : [`  To mend ${names.join(', ')}:`, indented(mend)];
  });
}

/** What proves nothing, together where the reason is the same. */
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
