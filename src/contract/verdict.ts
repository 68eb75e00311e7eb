import * as z from 'zod/mini';
import { field, nullableText, record, text } from './field.ts';

/** How bad what became of a payment or an IPN is (chosen). */
export const TONES = ['good', 'warning', 'bad', 'waiting'] as const;
export type Tone = (typeof TONES)[number];

export const Verdict = record(
  'Verdict',
  'What became of a payment or of an IPN, why, and what to do: as pages, commands and the library say it.',
  {
    tone: field(
      z.enum(TONES),
      '`bad`: fix something; `warning`: it works, but look at it; `waiting`: not known yet, or caused by your own fault rule.',
    ),
    cause: field(text, 'What happened and why, in words.'),
    fix: field(nullableText, 'What to do, in words; null for nothing.'),
  },
);
export type Verdict = z.output<typeof Verdict>;
