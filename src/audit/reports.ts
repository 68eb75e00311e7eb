import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_CLASSES, AUDIT_GROUPS, AUDIT_VERDICTS, isReportable } from '../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';
import { auditHeadline, counted, releases } from '../contract/audit-summary.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { VERSION } from '../system/package-info.ts';
import { effortOf } from './mistakes.ts';

/** An audit's reports by file name: JSON, HTML and JUnit XML. A second audit does not overwrite the first. */
export function auditReports(
  folder: string,
  report: AuditReport,
  ipnUrl: string,
): [file: string, text: () => string][] {
  const free = (stem: string) => !existsSync(join(folder, `${stem}.json`));
  let name = free('audit') ? 'audit' : `audit-${process.pid}`;
  // One process may run several audits.
  for (let number = 2; !free(name); number++) name = `audit-${number}`;
  const stem = join(folder, name);
  return [
    [`${stem}.json`, () => JSON.stringify(report)],
    [`${stem}.html`, () => htmlReport(report, ipnUrl)],
    [`${stem}.xml`, () => junitReport(report)],
  ];
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Invisible characters, and characters that change the text direction. XML forbids some of them. */
const UNSEEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\ufffe\uffff]/gu;

/** Escapes a text for XML and HTML, and invisible characters as in JSON. */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSEEN, (character) => {
      const code = character.codePointAt(0)?.toString(16) ?? '';
      return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
    })
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** A test result for CI servers. */
export interface JunitCase {
  name: string;
  className: string;
  /** Why there is no result. */
  skipped?: string;
  failure?: { type: string; message: string; text: string };
}

/** Test results as JUnit XML. */
export function junitSuite(name: string, cases: readonly JunitCase[]): string {
  const count = (part: 'skipped' | 'failure') => cases.filter((one) => one[part] !== undefined).length;
  const counts = `tests="${cases.length}" failures="${count('failure')}" skipped="${count('skipped')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="${escaped(name)}" ${counts}>`,
    ...cases.map(testCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ name, className, skipped, failure }: JunitCase): string {
  const head = `<testcase name="${escaped(name)}" classname="${escaped(className)}"`;
  if (skipped !== undefined) return `${head}><skipped message="${escaped(skipped)}"/></testcase>`;
  if (!failure) return `${head}/>`;
  const { type, message, text } = failure;
  return `${head}><failure type="${type}" message="${escaped(message)}">${escaped(text)}</failure></testcase>`;
}

/** The report of an audit as JUnit XML. */
export function junitReport({ cases, missing }: AuditReport): string {
  const results = cases.map(audited);
  const [control] = results;
  // A CI server shows skipped cases as green.
  if (missing !== null && control && !results.some(({ failure }) => failure)) {
    const { skipped: _, ...one } = control;
    results[0] = { ...one, failure: { type: 'unproven', message: missing, text: missing } };
  }
  return junitSuite('gateway-sim audit', results);
}

function audited({ name, class: kind, verdict, why, sent, observed, fix }: AuditedCase): JunitCase {
  const one = { name, className: `${kind}: ${AUDIT_CLASSES[kind]}` };
  if (verdict === 'pass' || verdict === 'note') return one;
  const message = `${verdict}: ${why}`;
  if (verdict === 'unproven' || verdict === 'skipped') return { ...one, skipped: message };
  const text = [sent, observed, fix].filter((part) => part !== null).join('\n\n');
  return { ...one, failure: { type: verdict, message, text } };
}

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--fail:#c5221f;--at-risk:#b06000;--pass:#137333;--unproven:#1a5fb4;--skipped:#5f6368}
@media(prefers-color-scheme:dark){:root{--fail:#ff8a80;--at-risk:#ffb74d;--pass:#81c995;--unproven:#8ab4f8;--skipped:#bdc1c6}}
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}h3{font-size:1rem}
ul.counts{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;list-style:none;padding:0;font-weight:600}
details,p.case{border-top:1px solid var(--line);margin:0;padding:.5rem 0}
summary{cursor:pointer}dt{font-weight:600}dd{margin:0 0 .5rem}
pre{overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);padding:.5rem;margin:0}
b.fail{color:var(--fail)}b.at-risk{color:var(--at-risk)}b.note{color:var(--unproven)}b.pass{color:var(--pass)}b.unproven{color:var(--unproven)}b.skipped{color:var(--skipped)}
@media print{body{font-size:10pt;line-height:1.35;margin:0}pre{font-size:7.5pt;padding:.2rem}h2{margin-top:.8rem}details,.mistake{break-inside:avoid}.evidence{break-before:page}}`;

/**
 * The report as one self-contained page, for example for a ticket: the summary and the mistakes first, then every case
 * as evidence.
 *
 * @param ipnUrl the attacked handler
 * @param now the date of the report
 */
export function htmlReport(
  { cases, summary, mistakes, missing, orders, notices }: AuditReport,
  ipnUrl: string,
  now = new Date(),
): string {
  const counts = namesOf(AUDIT_VERDICTS)
    .filter((verdict) => summary[verdict] > 0)
    .map(
      (verdict) =>
        `<li><b class="${verdict}">${summary[verdict]} ${verdict}</b>: ${escaped(AUDIT_VERDICTS[verdict])}</li>`,
    );
  const groups = namesOf(AUDIT_GROUPS).map((group) => {
    const own = cases.filter((one) => one.group === group);
    return own.length
      ? `<section><h3>${group}: ${AUDIT_GROUPS[group]}</h3>${own.map(caseHtml).join('')}</section>`
      : '';
  });
  const left = orders ? ` It left ${counted(orders, 'order')} in the shop's database.` : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Audit of ${escaped(ipnUrl)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(auditHeadline({ cases, missing }))}</h1>
<p>Audit of <code>${escaped(ipnUrl)}</code> on ${now.toISOString().slice(0, 10)} by gateway-sim ${escaped(VERSION)}, a local emulator.${left}</p>
${releases(cases)
  .map((line) => `<p>${escaped(line)}</p>`)
  .join('')}
<ul class="counts">${counts.join('')}</ul>
${notices.map((notice) => `<p>${escaped(notice)}</p>`).join('')}
${mistakes.map(mistakeHtml).join('\n')}
<h2 class="evidence">Evidence: every case</h2>
${groups.join('\n')}
</main></body></html>
`;
}

function mistakeHtml({ name, cost, fix, cases }: AuditReport['mistakes'][number]): string {
  const links = cases.map((one) => `<a href="#${one}">${escaped(one)}</a>`).join(', ');
  return `<section class="mistake"><h2>${escaped(name)}</h2><p>${escaped(cost)}</p><p>How to fix it (${effortOf(name)}):</p><pre>${escaped(fix)}</pre><p><small>Found by ${links}</small></p></section>`;
}

function caseHtml(one: AuditedCase): string {
  const { name, class: kind, verdict, why, sent, observed, curl } = one;
  const head = `<b class="${verdict}">${verdict}</b> ${escaped(name)} <small>${kind}: ${AUDIT_CLASSES[kind]}</small>`;
  if (verdict === 'pass') return `<p class="case">${head}<br><small>${escaped(why)}</small></p>`;
  const facts = [
    ['Why', why],
    ['Sent', sent],
    ['What the shop did', observed],
    ['Repeat it', curl],
  ] as const;
  const shown = facts.map(([term, text]) =>
    text === null
      ? ''
      : `<dt>${term}</dt><dd>${term === 'Why' ? escaped(text) : `<pre>${escaped(text)}</pre>`}</dd>`,
  );
  const open = isReportable(verdict) ? ' open' : '';
  return `<details${open} id="${name}"><summary>${head}</summary><dl>${shown.join('')}</dl></details>`;
}
