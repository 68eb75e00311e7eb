import * as z from 'zod/mini';
import { count, type Field, field, nullableText, record, text } from '../contract/field.ts';
import { Learned } from '../contract/learned.ts';
import { sentenceOf } from '../contract/request-fields.ts';
import { namesOf } from '../contract/vocabulary.ts';
import { AUDIT_CLASSES, AUDIT_GROUPS, AUDIT_VERDICTS, type AuditVerdict } from './vocabulary.ts';

/*
 * The output of an audit and of reconcile as JSON (chosen). Commands import the types only.
 */

const info = {
  name: field(text, 'Stable, in kebab-case.'),
  group: field(z.enum(namesOf(AUDIT_GROUPS)), 'What it checks.'),
  class: field(z.enum(namesOf(AUDIT_CLASSES)), 'The kind of published advisory it tests for.'),
  about: field(text, 'What it tests, in one sentence.'),
};

export const AuditCaseInfo = record('AuditCaseInfo', 'A case before it runs.', info);
export type AuditCaseInfo = z.output<typeof AuditCaseInfo>;

const verdict = field(z.enum(namesOf(AUDIT_VERDICTS)), 'The verdict.');

const code = field(
  z.nullable(
    record('FixCode', 'The code of a fix.', {
      PHP: field(z.optional(text), 'For PHP.'),
      Node: field(z.optional(text), 'For Node.js.'),
      Python: field(z.optional(text), 'For Python.'),
    }),
  ),
  'The code of the fix in every language, or only in the language detected in the responses; null if it has none.',
);

export const AuditedCase = record('AuditedCase', 'The result of a case.', {
  ...info,
  verdict,
  sent: field(nullableText, 'What was sent; null when nothing was.'),
  observed: field(nullableText, 'What the shop did; null when nothing was sent.'),
  why: field(text, 'The reason for the verdict. For a `fail`, the financial damage.'),
  mistake: field(nullableText, 'Name of the underlying mistake; null when nothing is wrong.'),
  cost: field(nullableText, 'What the mistake costs the merchant; null when nothing is wrong.'),
  fix: field(nullableText, '`instruction` and `code` as one text; null when nothing is wrong.'),
  instruction: field(nullableText, 'How to fix it; null when nothing is wrong.'),
  code,
  unpaid: field(
    z.nullable(
      record('Unpaid', 'Goods released without payment.', {
        amount: field(text, 'Their price.'),
        currency: field(text, 'Currency code.'),
      }),
    ),
    'Goods obtained without payment; null if none.',
  ),
  curl: field(nullableText, 'A command that repeats the request; null when one request cannot reproduce it.'),
  seen: field(
    nullableText,
    'How often it was seen, of how many tries alone on a fresh order, such as `2/2`; null if it did not fail or needs no proof.',
  ),
});
export type AuditedCase = z.output<typeof AuditedCase>;

/** What an interrupted audit keeps in a file. */
export const KeptAudit = z.object({ target: z.string(), finished: z.array(AuditedCase) });

export const AuditSummary = record('AuditSummary', 'Number of cases by verdict.', {
  pass: field(count, sentenceOf({ description: AUDIT_VERDICTS.pass })),
  fail: field(count, sentenceOf({ description: AUDIT_VERDICTS.fail })),
  'at-risk': field(count, sentenceOf({ description: AUDIT_VERDICTS['at-risk'] })),
  note: field(count, sentenceOf({ description: AUDIT_VERDICTS.note })),
  unproven: field(count, sentenceOf({ description: AUDIT_VERDICTS.unproven })),
  skipped: field(count, sentenceOf({ description: AUDIT_VERDICTS.skipped })),
} satisfies Record<AuditVerdict, Field>);
export type AuditSummary = z.output<typeof AuditSummary>;

/** What an audit needs to work, in the order in which it is used. */
const CHECKED_PARTS = ['order', 'probe', 'condition', 'handler'] as const;

export const AuditCheck = record(
  'AuditCheck',
  'What the control saw: one order, its correct IPN, and what the probe showed before and after it.',
  {
    wrong: field(z.nullable(z.enum(CHECKED_PARTS)), 'The part that does not work; null if all do.'),
    order: field(nullableText, 'The payment that the order initiated; null if none.'),
    before: field(nullableText, 'The output of the probe before the IPN; null without one.'),
    answer: field(nullableText, 'How the handler answered the IPN; null if it was not sent.'),
    after: field(nullableText, 'The output of the probe after the IPN; null without one.'),
  },
);
export type AuditCheck = z.output<typeof AuditCheck>;

export const AuditMistake = record('AuditMistake', 'A mistake in the shop, with the cases that show it.', {
  name: field(text, 'Stable, in kebab-case.'),
  cost: field(text, 'What it costs the merchant.'),
  fix: field(text, '`instruction` and `code` as one text.'),
  instruction: field(text, 'How to fix it.'),
  code,
  cases: field(z.array(text), 'Names of the cases that show it.'),
});
export type AuditMistake = z.output<typeof AuditMistake>;

export const AuditReport = record('AuditReport', 'The result of an audit.', {
  learned: field(z.optional(Learned), 'What was learned, with `--db`.'),
  check: field(z.optional(AuditCheck), 'The set-up, as the control found it.'),
  cases: field(z.array(AuditedCase), 'In the order of the case list.'),
  summary: field(AuditSummary, 'Number of cases by verdict.'),
  mistakes: field(
    z.array(AuditMistake),
    'The mistakes behind `fail` and `at-risk` cases, the most severe first.',
  ),
  missing: field(
    nullableText,
    'What is missing, if the audit proves nothing or was cut short: the command then exits 2. Null if nothing is.',
  ),
  interrupted: field(z.optional(z.literal(true)), 'Whether it was interrupted: it has what ran until then.'),
  orders: field(count, 'Number of orders left in the shop.'),
  notices: field(
    z.array(text),
    'Warnings about the run, such as a probe whose output varies, or a command that placed two orders.',
  ),
});
export type AuditReport = z.output<typeof AuditReport>;

export const Reconciliation = record('Reconciliation', 'How the shop and the emulator disagree.', {
  data: field(
    z.array(
      record('Reconciled', 'A payment on which they disagree, or whose order could not be probed.', {
        identifier: field(text, 'Identifier of the payment.'),
        problem: field(
          z.enum([
            'paid-not-fulfilled',
            'fulfilled-not-paid',
            'fulfilled-twice',
            'amount-differs',
            'not-probed',
          ]),
          'What is wrong with the order.',
        ),
        detail: field(text, 'The status of the payment, and what the probe showed.'),
      }),
    ),
    'The payments that differ, or could not be probed.',
  ),
});
export type Reconciliation = z.output<typeof Reconciliation>;
