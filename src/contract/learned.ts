import * as z from 'zod/mini';
import { field, record, text } from './field.ts';

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
