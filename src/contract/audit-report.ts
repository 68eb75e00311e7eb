import type { AUDIT_GROUPS, AuditClass, AuditVerdict } from './audit.ts';

/*
 * The output of an audit (chosen).
 */

/** A case before it runs. */
export interface AuditCaseInfo {
  /** Stable, in kebab-case. */
  name: string;
  /** What it checks. */
  group: keyof typeof AUDIT_GROUPS;
  /** The kind of published advisory it tests for. */
  class: AuditClass;
  /** What it tests, in one sentence. */
  about: string;
}

/** The code of a fix in every language, or only in the language detected in the responses. */
type FixCode = { [Language in 'PHP' | 'Node' | 'Python']?: string };

/** The result of a case. */
export interface AuditedCase extends AuditCaseInfo {
  verdict: AuditVerdict;
  /** What was sent; null when nothing was. */
  sent: string | null;
  /** What the shop did; null when nothing was sent. */
  observed: string | null;
  /** The reason for the verdict. For a `fail`, the financial damage. */
  why: string;
  /** Name of the underlying mistake; null when nothing is wrong. */
  mistake: string | null;
  /** What the mistake costs the merchant; null when nothing is wrong. */
  cost: string | null;
  /** `instruction` and `code` as one text; null when nothing is wrong. */
  fix: string | null;
  /** How to fix it; null when nothing is wrong. */
  instruction: string | null;
  /** Null if the fix has no code. */
  code: FixCode | null;
  /** The price of the goods obtained without payment; null if none. */
  unpaid: { amount: string; currency: string } | null;
  /** A command that repeats the request; null when one request cannot reproduce it. */
  curl: string | null;
  /** How often it was seen, of how many tries alone on a fresh order, such as `2/2`; null if it did not fail or needs no proof. */
  seen: string | null;
}

/** Number of cases by verdict. */
export type AuditSummary = Record<AuditVerdict, number>;

/** What the control saw: one order, its correct IPN, and what the probe showed before and after it. */
export interface AuditCheck {
  /** The part that does not work, in the order in which they are used; null if all do. */
  wrong: 'order' | 'probe' | 'condition' | 'handler' | null;
  /** The payment that the order initiated; null if none. */
  order: string | null;
  /** The output of the probe before the IPN; null without one. */
  before: string | null;
  /** How the handler answered the IPN; null if it was not sent. */
  answer: string | null;
  /** The output of the probe after the IPN; null without one. */
  after: string | null;
}

/** What the audit learned from the database of the shop, as `table.column`, or `table.*` for a new row. */
export interface Learned {
  /** Columns that hold the identifier of an order, and tables that get a row when it is placed. */
  order: string[];
  /** What a genuine IPN changes, and nothing else does. */
  payment: string[];
  /** What a rejected IPN changes, too. */
  records: string[];
  /** What changes without an IPN. */
  noise: string[];
}

/** A mistake in the shop, with the cases that show it. */
export interface AuditMistake {
  /** Stable, in kebab-case. */
  name: string;
  /** What it costs the merchant. */
  cost: string;
  /** `instruction` and `code` as one text. */
  fix: string;
  /** How to fix it. */
  instruction: string;
  /** Null if the fix has no code. */
  code: FixCode | null;
  /** Names of the cases that show it. */
  cases: string[];
}

/** The result of an audit. */
export interface AuditReport {
  /** What was learned, with a database. */
  learned?: Learned;
  /** The set-up, as the control found it. */
  check?: AuditCheck;
  /** In the order of the case list. */
  cases: AuditedCase[];
  summary: AuditSummary;
  /** The mistakes behind `fail` and `at-risk` cases, the most severe first. */
  mistakes: AuditMistake[];
  /** What is missing, if the audit proves nothing or was cut short: the command then exits 2. Null if nothing is. */
  missing: string | null;
  /** Number of orders left in the shop. */
  orders: number;
  /** Warnings about the run, such as a probe whose output varies, or a command that placed two orders. */
  notices: string[];
}
