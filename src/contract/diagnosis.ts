import * as z from 'zod/mini';
import { ADDRESS, count, field, nullableText, record, request, text, time, yesOrNo } from './field.ts';
import { optionalText } from './input.ts';
import { DIAGNOSE_FIELDS, sentenceOf } from './request-fields.ts';

/** Maximum characters of each answer in a diagnosis. */
export const KEPT_ANSWER = 200;

const Asked = record('DiagnosisRequest', 'A request of a diagnosis, and how it was answered.', {
  name: field(text, 'What was sent: `genuine`, or a mistake that the receiver may have.'),
  status: field(z.nullable(count), 'Status of the response; null if none.'),
  answer: field(
    text,
    `The beginning of the response, at most ${KEPT_ANSWER} characters, with secrets masked; or why there was none.`,
  ),
});

export const Diagnosis = record(
  'Diagnosis',
  'Why a receiver does not accept an IPN, found by sending it variants of the IPN. They are not attempts.',
  {
    at: time('When it ended.'),
    summary: field(text, 'The result in whole sentences, with or without a cause.'),
    cause: field(nullableText, 'What the receiver does wrong; null if nothing was proved.'),
    fix: field(nullableText, 'What to change; null without a cause.'),
    mistake: field(
      nullableText,
      'The name of the mistake, as in `ipn verify`, or of the form of the request that the receiver expects; `not-the-signature`: the receiver checks the signature correctly; `signature-not-checked`. Null without a cause.',
    ),
    accepted: field(nullableText, 'The name of the request that the receiver accepted; null if none.'),
    tried: field(z.array(Asked), 'Every request, in order.'),
  },
);
export type Diagnosis = z.output<typeof Diagnosis>;

export const DiagnoseInput = request(
  'DiagnoseInput',
  'How to diagnose an IPN.',
  {
    automatic: field(
      z.optional(yesOrNo),
      'Whether nobody asked for it by hand: only at a loopback or private address, and 3 s in all.',
    ),
    probeUrl: optionalText(sentenceOf(DIAGNOSE_FIELDS.probeUrl), ADDRESS),
    paidWhen: optionalText(sentenceOf(DIAGNOSE_FIELDS.paidWhen)),
  },
  {},
);
export type DiagnoseInput = z.input<typeof DiagnoseInput>;
