import { AUDIT_CLASSES, AUDIT_GROUPS, AUDIT_VERDICTS, isTold } from '../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { VERSION } from '../system/package-info.ts';
import { escaped } from './junit-report.ts';

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--fail:#c5221f;--exposed:#b06000;--pass:#137333;--unproven:#1a5fb4;--skipped:#5f6368}
@media(prefers-color-scheme:dark){:root{--fail:#ff8a80;--exposed:#ffb74d;--pass:#81c995;--unproven:#8ab4f8;--skipped:#bdc1c6}}
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}
ul.counts{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;list-style:none;padding:0;font-weight:600}
details,p.case{border-top:1px solid var(--line);margin:0;padding:.5rem 0}
summary{cursor:pointer}dt{font-weight:600}dd{margin:0 0 .5rem}
pre{overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);padding:.5rem;margin:0}
b.fail{color:var(--fail)}b.exposed{color:var(--exposed)}b.pass{color:var(--pass)}b.unproven{color:var(--unproven)}b.skipped{color:var(--skipped)}
@media print{details{break-inside:avoid}}`;

/**
 * The report as one page that needs nothing else, to be attached to a ticket.
 *
 * @param ipnUrl the handler that was attacked
 */
export function htmlReport({ cases, summary, orders, notices }: AuditReport, ipnUrl: string): string {
  const counts = namesOf(AUDIT_VERDICTS).map(
    (verdict) =>
      `<li><b class="${verdict}">${summary[verdict]} ${verdict}</b>: ${AUDIT_VERDICTS[verdict]}</li>`,
  );
  const groups = namesOf(AUDIT_GROUPS).map((group) => {
    const own = cases.filter((one) => one.group === group);
    return own.length
      ? `<section><h2>${group}: ${AUDIT_GROUPS[group]}</h2>${own.map(caseHtml).join('')}</section>`
      : '';
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Audit of ${escaped(ipnUrl)}</title><style>${STYLE}</style></head>
<body><main><h1>Audit of ${escaped(ipnUrl)}</h1>
<p>${cases.length} cases by gateway-sim ${escaped(VERSION)}, a local emulator. It left ${orders} orders in the shop's database.</p>
<ul class="counts">${counts.join('')}</ul>
${notices.map((notice) => `<p>${escaped(notice)}</p>`).join('')}
${groups.join('\n')}
</main></body></html>
`;
}

function caseHtml(one: AuditedCase): string {
  const { name, class: kind, verdict, why, sent, observed, mend, curl } = one;
  const head = `<b class="${verdict}">${verdict}</b> ${escaped(name)} <small>${kind}: ${AUDIT_CLASSES[kind]}</small>`;
  if (verdict === 'pass') return `<p class="case">${head}<br><small>${escaped(why)}</small></p>`;
  const facts = [
    ['Why', why],
    ['Sent', sent],
    ['What the shop did', observed],
    ['How to mend it', mend],
    ['Again', curl],
  ] as const;
  const shown = facts.map(([term, text]) =>
    text === null
      ? ''
      : `<dt>${term}</dt><dd>${term === 'Why' ? escaped(text) : `<pre>${escaped(text)}</pre>`}</dd>`,
  );
  const open = isTold(verdict) ? ' open' : '';
  return `<details${open}><summary>${head}</summary><dl>${shown.join('')}</dl></details>`;
}
