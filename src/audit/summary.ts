import { pluralize } from '../contract/text.ts';
import { add } from '../domain/money.ts';
// Types only: otherwise every command would load its schemas.
import type { AuditedCase, AuditMistake, AuditSummary } from './report.ts';
import { type AuditVerdict, isReportable } from './vocabulary.ts';

/*
 * Summaries of audit cases.
 */

type Judged = Pick<
  AuditedCase,
  'name' | 'verdict' | 'mistake' | 'cost' | 'fix' | 'instruction' | 'code' | 'unpaid'
>;

/** The number of cases by verdict. */
export function auditSummary(cases: readonly { verdict: AuditVerdict }[]): AuditSummary {
  const summary = { pass: 0, fail: 0, 'at-risk': 0, note: 0, unproven: 0, skipped: 0 };
  for (const { verdict } of cases) summary[verdict]++;
  return summary;
}

/**
 * The mistakes behind `fail` and `at-risk` cases: those that released goods first, then other failures, then risks. The cost of a mistake is the cost of all
 * its cases, with the value of the goods that they released without payment.
 */
export function auditMistakes(cases: readonly Judged[]): AuditMistake[] {
  const found = new Map<string, Judged[]>();
  for (const one of cases) {
    if (!isReportable(one.verdict) || one.mistake === null) continue;
    found.set(one.mistake, [...(found.get(one.mistake) ?? []), one]);
  }
  return [...found]
    .map(([name, all]) => {
      const sums = unpaidSums(failures(all));
      const costs = new Set(all.flatMap(({ cost }) => cost ?? []));
      if (sums.length) costs.add(`Released unpaid: ${sums.join(' and ')}.`);
      const [first] = all;
      return {
        name,
        cost: [...costs].join(' '),
        fix: first?.fix ?? '',
        instruction: first?.instruction ?? '',
        code: first?.code ?? null,
        cases: all.map((one) => one.name),
        severity: SEVERITIES.indexOf(severityOf(all)),
      };
    })
    .toSorted((one, other) => one.severity - other.severity)
    .map(({ severity: _, ...mistake }) => mistake);
}

/** How bad a mistake is, the worst first. */
const SEVERITIES = ['releases goods', 'fails', 'at risk'] as const;
export type AuditSeverity = (typeof SEVERITIES)[number];

const failures = (cases: readonly Judged[]) => cases.filter(({ verdict }) => verdict === 'fail');

function severityOf(cases: readonly Judged[]): AuditSeverity {
  const failed = failures(cases);
  if (failed.some(({ unpaid }) => unpaid !== null)) return 'releases goods';
  return failed.length ? 'fails' : 'at risk';
}

/** How bad a mistake of a report is. @param all every case of the report */
export function severityIn(mistake: { cases: readonly string[] }, all: readonly Judged[]): AuditSeverity {
  return severityOf(all.filter(({ name }) => mistake.cases.includes(name)));
}

/**
 * The result of an audit in one or two sentences. Begins with what is missing, if anything is, and states the value of
 * goods that were released without payment.
 */
export function auditHeadline({
  cases,
  missing,
}: {
  cases: readonly Judged[];
  missing: string | null;
}): string {
  const result = headlineOf(cases);
  if (missing === null) return result;
  const sentence = `${missing.charAt(0).toUpperCase()}${missing.slice(1)}${missing.endsWith('?') ? '' : '.'}`;
  return failures(cases).length ? `${sentence} ${result}` : sentence;
}

function headlineOf(cases: readonly Judged[]): string {
  const attacks = cases.filter(({ name }) => name !== 'control');
  const control = cases.find(({ name }) => name === 'control');
  const failed = failures(attacks);
  if (!failed.length) {
    if (control?.verdict === 'fail') return 'Nothing is proven: the shop does not accept a correct IPN.';
    if (!attacks.length) return 'The shop accepts a correct IPN. No attack was tried.';
    // Includes the control, so that the total matches the counts below the report.
    const { pass, note, unproven, skipped, 'at-risk': atRisk } = auditSummary(cases);
    const rest = Object.entries({ passed: pass, 'at risk': atRisk, noted: note, unproven, skipped })
      .flatMap(([what, count]) => (count ? [`${count} ${what}`] : []))
      .join(', ');
    return `${atRisk ? 'Nothing failed' : 'No attack worked'}. Of ${pluralize(cases.length, 'case')}: ${rest}.`;
  }
  const unpaid = failed.filter((one) => one.unpaid !== null);
  const shareOf = (some: readonly Judged[]) => `${some.length} of ${pluralize(attacks.length, 'attack')}`;
  if (!unpaid.length) {
    const mistakes = pluralize(auditMistakes(failed).length, 'mistake');
    const isWhole = control?.verdict !== 'fail';
    const limit = isWhole ? '' : ' The shop does not accept a correct IPN, so most attacks were not tried.';
    return `Not safe: ${shareOf(failed)} worked, from ${mistakes}.${limit}`;
  }
  const sums = unpaidSums(unpaid).join(' and ');
  const [orders, them] = unpaid.length === 1 ? ['an order', 'it'] : ['orders', 'them'];
  return `Not safe: ${shareOf(unpaid)} got ${orders} worth ${sums} without paying for ${them}.`;
}

/** The value of the goods that were released without payment, by currency, such as `149.70 USD`. */
function unpaidSums(cases: readonly Pick<Judged, 'unpaid'>[]): string[] {
  const sums = new Map<string, string>();
  for (const { amount, currency } of cases.flatMap(({ unpaid }) => unpaid ?? []))
    sums.set(currency, add(sums.get(currency) ?? '0', amount));
  return [...sums].map(([currency, sum]) => `${sum} ${currency}`);
}
