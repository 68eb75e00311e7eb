import * as z from 'zod/mini';
import { urlProblem } from './address.ts';
import { AUDIT_CLASSES, AUDIT_GROUPS, AUDIT_VERDICTS, type AuditVerdict, MAX_TIMEOUT_MS } from './audit.ts';
import {
  ADDRESS,
  count,
  type Field,
  field,
  nullableText,
  record,
  request,
  TIME,
  text,
  time,
} from './field.ts';
import { optionalText, textWithout } from './input.ts';
import { AUDIT_FIELDS, sentenceOf, sentencesOf } from './request-fields.ts';
import { namesOf } from './vocabulary.ts';

/*
 * Input and output of an audit as JSON (chosen). Commands import the types only.
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

const places = (what: string) => field(z.array(text), what);

export const Learned = record(
  'Learned',
  'What the audit learned from the database of the shop, as `table.column`, or `table.*` for a new row.',
  {
    order: places(
      'Columns that hold the identifier of an order, and tables that get a row when it is placed.',
    ),
    payment: places('What a genuine IPN changes, and nothing else does.'),
    records: places('What a rejected IPN changes, too.'),
    noise: places('What changes without an IPN.'),
  },
);
export type Learned = z.output<typeof Learned>;

const report = {
  learned: field(z.optional(Learned), 'What was learned, with `--db`.'),
  check: field(z.optional(AuditCheck), 'The set-up, as the control found it.'),
  cases: field(z.array(AuditedCase), 'In the order of the case list.'),
  summary: field(AuditSummary, 'Number of cases by verdict.'),
  mistakes: field(
    z.array(
      record('AuditMistake', 'A mistake in the shop, with the cases that show it.', {
        name: field(text, 'Stable, in kebab-case.'),
        cost: field(text, 'What it costs the merchant.'),
        fix: field(text, '`instruction` and `code` as one text.'),
        instruction: field(text, 'How to fix it.'),
        code,
        cases: field(z.array(text), 'Names of the cases that show it.'),
      }),
    ),
    'The mistakes behind `fail` and `at-risk` cases, the most severe first.',
  ),
  missing: field(
    nullableText,
    'What is missing, if the audit proves nothing or was cut short: the command then exits 2. Null if nothing is.',
  ),
  orders: field(count, 'Number of orders left in the shop.'),
  notices: field(
    z.array(text),
    'Warnings about the run, such as a probe whose output varies, or a command that placed two orders.',
  ),
};

export const AuditReport = record('AuditReport', 'The result of an audit.', report);
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

const address = textWithout(urlProblem);
/** Callers may pass a frozen list. */
const names = z.readonly(z.array(text));

/** Addresses only: a request from a page or the network must not be able to run a command. */
export const AuditRequest = request(
  'AuditRequest',
  'How to audit a shop.',
  {
    ipnUrl: field(address, "The shop's IPN handler, as an attacker without an order would know it.", ADDRESS),
    preset: field(
      z.optional(z.enum(['plain'])),
      'Fills in what is missing for a shop with known addresses. Other presets need commands.',
    ),
    orderUrl: field(z.optional(address), sentencesOf(AUDIT_FIELDS.orderUrl), ADDRESS),
    orderMethod: field(z.optional(z.enum(['GET', 'POST'])), sentencesOf(AUDIT_FIELDS.orderMethod)),
    orders: field(z.optional(z.int()), sentencesOf(AUDIT_FIELDS.orders)),
    probeUrl: field(z.optional(address), sentenceOf(AUDIT_FIELDS.probeUrl), ADDRESS),
    confirmUrl: field(z.optional(address), sentenceOf(AUDIT_FIELDS.confirmUrl), ADDRESS),
    paidWhen: optionalText(sentenceOf(AUDIT_FIELDS.paidWhen)),
    log: field(z.optional(names), sentenceOf(AUDIT_FIELDS.log)),
    orderAmount: optionalText(sentenceOf(AUDIT_FIELDS.orderAmount)),
    only: field(z.optional(names), sentenceOf(AUDIT_FIELDS.only)),
    skip: field(z.optional(names), sentenceOf(AUDIT_FIELDS.skip)),
    timeoutMs: field(
      z.optional(z.int().check(z.positive(), z.maximum(MAX_TIMEOUT_MS))),
      'Time limit for a response of the shop, at most one hour; default: 30,000.',
    ),
  },
  {
    ipnUrl: 'http://localhost:3000/ipn',
    orderUrl: 'http://localhost:3000/test/order',
    probeUrl: 'http://localhost:3000/orders/{identifier}',
    paidWhen: '.status=paid',
  },
);
export type AuditRequest = z.input<typeof AuditRequest>;

const state = field(
  z.enum(['running', 'finished', 'failed']),
  '`failed`: it ended before its last case. `error` has the reason.',
);
const of = field(count, 'Total number of cases.');

export const AuditRun = record('AuditRun', 'An audit that the emulator runs, with its progress.', {
  state,
  startedAt: time('Start time.'),
  endedAt: field(nullableText, 'End time; null while it runs.', TIME),
  options: field(AuditRequest, 'Its request.'),
  of,
  ...report,
  cases: field(
    report.cases.schema,
    'The finished cases. While the audit runs, in the order in which they finished.',
  ),
  orders: field(z.nullable(count), `${report.orders.description} Null until it is finished.`),
  error: field(nullableText, 'Why it failed; null if it did not.'),
});
export type AuditRun = z.output<typeof AuditRun>;

export const AuditProgress = record('AuditProgress', 'A step of an audit that the emulator runs.', {
  state,
  done: field(count, 'Number of finished cases.'),
  of,
  latest: field(
    z.nullable(record('AuditStep', 'The case that just finished.', { name: info.name, verdict })),
    'The case that just finished; null at the beginning and the end.',
  ),
});
export type AuditProgress = z.output<typeof AuditProgress>;
