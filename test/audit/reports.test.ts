import { expect, it } from 'vitest';
import type { AuditedCase } from '../../src/audit/report.ts';
import { escaped, htmlReport, junitReport } from '../../src/audit/reports.ts';
import { auditMistakes, auditSummary } from '../../src/audit/summary.ts';
import { AUDIT_VERDICTS, isReportable } from '../../src/audit/vocabulary.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { VERSION } from '../../src/system/package-info.ts';

/** One case with each verdict. */
const CASES = namesOf(AUDIT_VERDICTS).map((verdict, index): AuditedCase => {
  const bad = isReportable(verdict);
  const [group, kind] = index % 2 ? (['sender', 'A'] as const) : (['order', 'E'] as const);
  return {
    ...{ name: `case-${verdict}`, group, class: kind, about: 'A "forged" IPN.', verdict },
    ...{ sent: `POST /ipn?a=1&b=<${verdict}>`, observed: bad ? "answered 500 'it's <b>\u202e" : null },
    why: `Why it is ${verdict}.`,
    mistake: bad ? 'signature-not-checked' : null,
    cost: bad ? 'Anyone can pay.' : null,
    fix: bad ? 'Compare it.\nNode: compare(one, other)' : null,
    instruction: bad ? 'Compare it.' : null,
    code: bad ? { Node: 'compare(one, other)' } : null,
    unpaid: verdict === 'fail' ? { amount: '49.90', currency: 'USD' } : null,
    curl: bad ? "curl 'http://127.0.0.1/ipn'" : null,
    seen: bad ? '2/2' : null,
  };
});
const REPORT = {
  cases: CASES,
  summary: auditSummary(CASES),
  mistakes: auditMistakes(CASES),
  missing: null,
  orders: 2,
  notices: ['a <notice>'],
};

it('as a page shows the summary, the mistakes, and each case in its group', async () => {
  const page = htmlReport(REPORT, 'http://127.0.0.1/ipn?a=1&b=2', new Date('2026-11-24T01:02:03Z'));
  const text = page.replace(/<style>.*<\/style>/s, '').replaceAll(VERSION, 'VERSION');
  await expect(text).toMatchFileSnapshot('report.html');
});

it('as JUnit XML has failures and skipped cases', async () => {
  await expect(junitReport(REPORT)).toMatchFileSnapshot('report.xml');
});

it('as JUnit XML has a failure if nothing is proven', () => {
  const unproven = CASES.filter(({ verdict }) => !isReportable(verdict));
  const xml = junitReport({ ...REPORT, cases: unproven, missing: 'nothing is proven: no probe' });
  expect(xml).toContain('failures="1"');
  expect(xml).toContain('<failure type="unproven" message="nothing is proven: no probe"');
});

it.each([
  ['a\u0007b', 'a\\u0007b'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud800', '\ufffd'],
  ['\u202e1\u2066\u200b\u00ad\u2028', '\\u202e1\\u2066\\u200b\\u00ad\\u2028'],
  ['tab\tand\r\nnewline', 'tab\tand\r\nnewline'],
])('invisible characters of %j are escaped', (text, shown) => {
  expect(escaped(text)).toBe(shown);
});
