import { AUDIT_CLASSES, type AuditedCase, type AuditReport } from '../contract/audit.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it may stand in XML and HTML; control characters, which XML does not know at all, become blanks. */
export function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ' ')
      .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
  );
}

/** The report as CI servers read results of tests. */
export function junitReport({ cases, summary }: AuditReport): string {
  const { fail, exposed, unproven, skipped } = summary;
  const counts = `tests="${cases.length}" failures="${fail + exposed}" skipped="${unproven + skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `<testsuite name="gateway-sim audit" ${counts}>`,
    ...cases.map(testCase),
    '</testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase({ name, class: kind, verdict, why, sent, observed, mend }: AuditedCase): string {
  const head = `<testcase name="${escaped(name)}" classname="${escaped(`${kind}: ${AUDIT_CLASSES[kind]}`)}"`;
  if (verdict === 'pass') return `${head}/>`;
  const message = `message="${escaped(`${verdict}: ${why}`)}"`;
  if (verdict === 'unproven' || verdict === 'skipped') return `${head}><skipped ${message}/></testcase>`;
  const told = [sent, observed, mend].filter((one) => one !== null).join('\n\n');
  return `${head}><failure type="${verdict}" ${message}>${escaped(told)}</failure></testcase>`;
}
