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
import { namesOf } from './vocabulary.ts';

/*
 * What goes into an audit and comes out of it as JSON (chosen). Commands take the types only.
 */

const info = {
  name: field(text, 'Stable, in kebab-case.'),
  group: field(z.enum(namesOf(AUDIT_GROUPS)), 'What must be authentic and intact.'),
  class: field(z.enum(namesOf(AUDIT_CLASSES)), 'Kind of published advisory that it stands for.'),
  about: field(text, 'What it stands for, in a sentence.'),
};

export const AuditCaseInfo = record('AuditCaseInfo', 'What a case is, before it is run.', info);
export type AuditCaseInfo = z.output<typeof AuditCaseInfo>;

const verdict = field(z.enum(namesOf(AUDIT_VERDICTS)), 'What it came to.');

export const AuditedCase = record('AuditedCase', 'What a case came to.', {
  ...info,
  verdict,
  sent: field(nullableText, 'What was sent; null for what was not.'),
  observed: field(nullableText, 'What the shop did; null where nothing was sent.'),
  why: field(text, 'Why the verdict is what it is; of a `fail`, what it means in money.'),
  mistake: field(nullableText, 'The mistake behind it, by its name; null where nothing is wrong.'),
  cost: field(nullableText, 'What that costs the merchant; null where nothing is wrong.'),
  fix: field(
    nullableText,
    'How to fix it, with lines for PHP, Node and Python, or for the language that the answers show; null where nothing is wrong.',
  ),
  unpaid: field(
    z.nullable(
      record('Unpaid', 'Goods that went out unpaid.', {
        amount: field(text, 'What they cost.'),
        currency: field(text, 'Currency code.'),
      }),
    ),
    'What the case got without paying; null for nothing.',
  ),
  curl: field(nullableText, 'A command that sends the same again; null where one request does not show it.'),
});
export type AuditedCase = z.output<typeof AuditedCase>;

export const AuditSummary = record('AuditSummary', 'How many cases came to what.', {
  pass: field(count, sentence(AUDIT_VERDICTS.pass)),
  fail: field(count, sentence(AUDIT_VERDICTS.fail)),
  'at-risk': field(count, sentence(AUDIT_VERDICTS['at-risk'])),
  note: field(count, sentence(AUDIT_VERDICTS.note)),
  unproven: field(count, sentence(AUDIT_VERDICTS.unproven)),
  skipped: field(count, sentence(AUDIT_VERDICTS.skipped)),
} satisfies Record<AuditVerdict, Field>);
export type AuditSummary = z.output<typeof AuditSummary>;

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

const report = {
  cases: field(z.array(AuditedCase), 'In the order of the list of cases.'),
  summary: field(AuditSummary, 'How many cases came to what.'),
  mistakes: field(
    z.array(
      record('AuditMistake', 'A mistake of the shop, by all that it led to.', {
        name: field(text, 'Stable, in kebab-case.'),
        cost: field(text, 'What it costs the merchant.'),
        fix: field(text, 'How to fix it.'),
        cases: field(z.array(text), 'Names of the cases that show it.'),
      }),
    ),
    'The mistakes behind the cases that are `fail` or `at-risk`, that with most cases first.',
  ),
  orders: field(count, 'How many orders it left in the shop.'),
  notices: field(
    z.array(text),
    'What the user should know about the run: a probe that changes by itself, two orders from one command.',
  ),
};

export const AuditReport = record('AuditReport', 'What an audit came to.', report);
export type AuditReport = z.output<typeof AuditReport>;

const address = textWithout(urlProblem);
/** Names of cases, groups or classes; callers may hand in a list that is frozen. */
const names = z.readonly(z.array(text));

/** By addresses only: what is asked for by a page or over the network must not be able to run a command here. */
export const AuditRequest = request(
  'AuditRequest',
  'How a shop is audited.',
  {
    ipnUrl: field(
      address,
      'The IPN handler of the shop, as somebody knows it who has seen no order.',
      ADDRESS,
    ),
    orderUrl: field(
      z.optional(address),
      'Makes the shop place an order when it is requested. Default: orders are invented.',
      ADDRESS,
    ),
    orderMethod: field(z.optional(z.enum(['GET', 'POST'])), 'How `orderUrl` is requested; default: POST.'),
    orders: field(z.optional(z.int()), 'Maximum number of orders; default: 150.'),
    probeUrl: field(
      z.optional(address),
      'Tells about an order: `{identifier}` in it stands for that of the order.',
      ADDRESS,
    ),
    confirmUrl: field(
      z.optional(address),
      'An address beside `success_url` that confirms a payment, with placeholders as `probeUrl` has them; it must not pay an order.',
      ADDRESS,
    ),
    paidWhen: optionalText('When the order counts as paid: `.path=value` on JSON, or a regular expression.'),
    orderAmount: optionalText('Where the probe says what the order costs, such as `.total`.'),
    only: field(z.optional(names), 'Only cases, groups or classes of these names.'),
    skip: field(z.optional(names), 'No cases, groups or classes of these names.'),
    timeoutMs: field(
      z.optional(z.int().check(z.positive(), z.maximum(MAX_TIMEOUT_MS))),
      'For the shop to answer, one hour at most; default: 10,000.',
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
  '`failed`: it ended before its last case, and `error` says why.',
);
const of = field(count, 'How many cases there are in all.');

export const AuditRun = record('AuditRun', 'An audit by the emulator itself, as far as it has come.', {
  state,
  startedAt: time('When it was started.'),
  endedAt: field(nullableText, 'When it ended; null while it runs.', TIME),
  options: field(AuditRequest, 'What it was asked for.'),
  of,
  ...report,
  cases: field(report.cases.schema, 'Those that are done, in that order while it runs.'),
  orders: field(z.nullable(count), `${report.orders.description} null until it is finished.`),
  error: field(nullableText, 'Why it could not be finished; null when it was, or may be.'),
});
export type AuditRun = z.output<typeof AuditRun>;

export const AuditProgress = record('AuditProgress', 'A step of an audit by the emulator itself.', {
  state,
  done: field(count, 'How many cases are done.'),
  of,
  latest: field(
    z.nullable(record('AuditStep', 'The case that was just done.', { name: info.name, verdict })),
    'The case that was just done; null at its beginning and its end.',
  ),
});
export type AuditProgress = z.output<typeof AuditProgress>;
