import * as z from 'zod/mini';
import { field, nullableText, record, text } from './field.ts';

/** The severity of a verdict (chosen). */
const TONES = ['good', 'warning', 'bad', 'waiting'] as const;
export type Tone = (typeof TONES)[number];

export const Verdict = record(
  'Verdict',
  'What happened to a payment or an IPN, why, and the fix. The same on pages, in commands and in the library.',
  {
    tone: field(
      z.enum(TONES),
      '`bad`: needs a fix; `warning`: works, but should be checked; `waiting`: neutral, because nothing is known yet, the payment did not succeed, or your own fault rule acted.',
    ),
    cause: field(text, 'What happened and why.'),
    fix: field(nullableText, 'What to do; null if nothing.'),
    forgeryAccepted: field(
      z.optional(z.literal(true)),
      'The receiver accepted an IPN that it had to reject, such as one with a wrong signature.',
    ),
  },
);
export type Verdict = z.output<typeof Verdict>;
