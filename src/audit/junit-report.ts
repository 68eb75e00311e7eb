import { AUDIT_CLASSES } from '../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../contract/audit-report.ts';

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
export function junitReport({ cases }: AuditReport): string {
  return junitSuite('gateway-sim audit', cases.map(audited));
}

function audited({ name, class: kind, verdict, why, sent, observed, fix }: AuditedCase): JunitCase {
  const one = { name, className: `${kind}: ${AUDIT_CLASSES[kind]}` };
  if (verdict === 'pass' || verdict === 'note') return one;
  const message = `${verdict}: ${why}`;
  if (verdict === 'unproven' || verdict === 'skipped') return { ...one, skipped: message };
  const text = [sent, observed, fix].filter((part) => part !== null).join('\n\n');
  return { ...one, failure: { type: verdict, message, text } };
}
