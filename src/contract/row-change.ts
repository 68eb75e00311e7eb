import * as z from 'zod/mini';
import { field, nullableText, record, text } from './field.ts';

export const RowChange = record(
  'RowChange',
  "A change in the shop's database, seen between two readings of it. It may have another cause than the IPN.",
  {
    table: field(text, 'The table.'),
    key: field(text, 'The primary key of the row, masked as values are; `…` without one.'),
    column: field(text, 'The column; `*` for a row that is new or gone.'),
    from: field(nullableText, 'The value before; null for none. Personal and long values are masked.'),
    to: field(nullableText, 'The value after; null for none.'),
    noise: field(
      z.optional(z.literal(true)),
      'Present for what shops change anyway: sessions, caches, schedulers and logs.',
    ),
  },
);
export type RowChange = z.output<typeof RowChange>;
