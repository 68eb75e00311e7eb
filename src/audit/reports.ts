import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pluralize } from '../contract/text.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { VERSION } from '../system/package-info.ts';
import { effortOf } from './mistakes.ts';
import type { AuditedCase, AuditMistake, AuditReport } from './report.ts';
import { type AuditSeverity, auditHeadline, severityIn } from './summary.ts';
import {
  AUDIT_CLASSES,
  AUDIT_GROUPS,
  AUDIT_VERDICTS,
  type AuditVerdict,
  isReportable,
} from './vocabulary.ts';

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

/** The report of an audit as JUnit XML, for CI servers. */
export function junitReport({ cases, missing }: AuditReport): string {
  // A CI server shows skipped cases as green.
  const unproven = cases.some(({ verdict }) => isReportable(verdict)) ? null : missing;
  const results = cases.map((one, index) =>
    unproven !== null && index === 0 ? failureXml('unproven', unproven, unproven) : resultXml(one),
  );
  const count = (element: string) => results.filter((result) => result.startsWith(`<${element} `)).length;
  const counts = `tests="${cases.length}" failures="${count('failure')}" skipped="${count('skipped')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="gateway-sim audit" ${counts}>`,
    ...cases.map(({ name, class: kind }, index) => {
      const head = `<testcase name="${escaped(name)}" classname="${escaped(`${kind}: ${AUDIT_CLASSES[kind]}`)}"`;
      return results[index] ? `${head}>${results[index]}</testcase>` : `${head}/>`;
    }),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** What a test case contains; empty if it passed. */
function resultXml({ verdict, why, sent, observed, fix }: AuditedCase): string {
  if (verdict === 'pass' || verdict === 'note') return '';
  const message = `${verdict}: ${why}`;
  if (!isReportable(verdict)) return `<skipped message="${escaped(message)}"/>`;
  return failureXml(verdict, message, [sent, observed, fix].filter((part) => part !== null).join('\n\n'));
}

const failureXml = (type: AuditVerdict, message: string, text: string) =>
  `<failure type="${type}" message="${escaped(message)}">${escaped(text)}</failure>`;

const STYLE = `
:root{color-scheme:light dark;--page:#eef2f0;--card:#fff;--tint:#f6f9f7;--ink:#13221d;--soft:#4d5f58;--line:#d9e2de;--pass:#0a6650;--fail:#b3261e;--at-risk:#8a5a00;--note:#0b57d0;--unproven:#6b3fb0;--skipped:#4d5f58}
@media(prefers-color-scheme:dark){:root{--page:#0c1210;--card:#151d1a;--tint:#1a2420;--ink:#eaf1ee;--soft:#a6b6af;--line:#2b3833;--pass:#57d3a9;--fail:#ffb4ab;--at-risk:#e8b84a;--note:#8ab4ff;--unproven:#c4a5f5;--skipped:#a6b6af}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;padding:1.5rem 1rem;background:var(--page);color:var(--ink);overflow-wrap:anywhere}
h1,h2,h3,p,dl,dd,ul,ol,pre{margin:0}h1{font-size:1.5rem;line-height:1.3}h2{font-size:1.2rem;margin-top:1.5rem}h3{font-size:1rem}.box h2{margin:0}a{color:var(--pass)}
main,.box{display:grid;gap:.6rem;grid-template-columns:minmax(0,1fr)}.box{padding:.9rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:10px}
ul.counts{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;list-style:none;padding:0}ol{padding-left:1.5rem}nav a,summary{padding:.15rem 0}nav a{display:inline-block}small,.soft{color:var(--soft);font-size:.85rem}
details{border-top:1px solid var(--line);padding:.4rem 0}summary{cursor:pointer}dt{font-weight:600}dd{margin:0 0 .5rem}
pre{white-space:pre-wrap;background:var(--tint);border:1px solid var(--line);border-radius:8px;padding:.6rem;font-size:.85rem}
b.fail{color:var(--fail)}b.at-risk{color:var(--at-risk)}b.note{color:var(--note)}b.pass{color:var(--pass)}b.unproven{color:var(--unproven)}b.skipped{color:var(--skipped)}
@media print{:root{color-scheme:light;--page:#fff}body{font-size:8.5pt;line-height:1.25;padding:0}h1{font-size:1.3rem}.box{border:0;border-top:1px solid #999;border-radius:0;padding:.3rem 0}pre{font-size:6.5pt;padding:.15rem}main,.box{gap:.1rem}h2{font-size:1rem}small{font-size:7pt}details,.mistake{break-inside:avoid}.evidence{break-before:page}}`;

/** `amount-not-compared` as `Amount not compared`. */
const headingOf = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;

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
    return own.length ? groupHtml(AUDIT_GROUPS[group], own) : '';
  });
  const labelled = mistakes.map((mistake) => ({ ...mistake, severity: severityIn(mistake, cases) }));
  const contents = labelled.map(
    ({ name, severity }) =>
      `<li><a href="#mistake-${name}">${escaped(headingOf(name))}</a>: ${severityHtml(severity)}</li>`,
  );
  const left = orders ? ` It left ${pluralize(orders, 'order')} in the shop's database.` : '';
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Audit of ${escaped(ipnUrl)}</title><style>${STYLE}</style></head>
<body><main><h1>${escaped(auditHeadline({ cases, missing }))}</h1>
<p>Audit of <code>${escaped(ipnUrl)}</code> on ${now.toISOString().slice(0, 10)} by gateway-sim ${escaped(VERSION)}, a local emulator.${left}</p>
<ul class="counts">${counts.join('')}</ul>
${notices.map((notice) => `<p>${escaped(notice)}</p>`).join('')}
<nav class="box" aria-label="Contents"><ol>${contents.join('')}<li><a href="#evidence">Evidence: every case</a></li></ol></nav>
${labelled.map(mistakeHtml).join('\n')}
<h2 class="evidence" id="evidence">Evidence: every case</h2>
${groups.join('\n')}
</main></body></html>
`;
}

const severityHtml = (severity: AuditSeverity) =>
  `<b class="${severity === 'at risk' ? 'at-risk' : 'fail'}">${severity}</b>`;

function mistakeHtml(mistake: AuditMistake & { severity: AuditSeverity }): string {
  const { name, cost, instruction, code, cases, severity } = mistake;
  const links = cases.map((one) => `<a href="#${one}">${escaped(one)}</a>`).join(', ');
  return `<section class="mistake box" id="mistake-${name}"><h2>${escaped(headingOf(name))}</h2><p>${severityHtml(severity)}: ${escaped(cost)}</p><p><strong>Fix</strong> (${effortOf(name)}): ${escaped(instruction)}</p>${codeHtml(code ?? {})}<p><small>Found by ${links}</small></p></section>`;
}

/** The first language is open. */
function codeHtml(code: Readonly<Record<string, string | undefined>>): string {
  const all = Object.entries(code).map(
    ([language, text = ''], index) =>
      `<details${index === 0 ? ' open' : ''}><summary>${language}</summary><pre>${escaped(text)}</pre></details>`,
  );
  return all.join('');
}

/** The cases of a group. Those that passed are folded. */
function groupHtml(about: string, cases: readonly AuditedCase[]): string {
  const passed = cases.filter(({ verdict }) => verdict === 'pass');
  const others = cases.filter(({ verdict }) => verdict !== 'pass');
  const folded = passed.length
    ? `<details><summary><b class="pass">${passed.length} pass</b></summary><ul>${passed.map(({ name, why }) => `<li id="${name}">${escaped(name)} <small>${escaped(why)}</small></li>`).join('')}</ul></details>`
    : '';
  return `<section class="box"><h3>${escaped(`${about.charAt(0).toUpperCase()}${about.slice(1)}`)}</h3>${others.map(caseHtml).join('')}${folded}</section>`;
}

function caseHtml(one: AuditedCase): string {
  const { name, class: kind, verdict, why, sent, observed, curl } = one;
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
  return `<details${open} id="${name}"><summary><b class="${verdict}">${verdict}</b> ${escaped(name)} <small>${kind}: ${AUDIT_CLASSES[kind]}</small></summary><dl>${shown.join('')}</dl></details>`;
}
