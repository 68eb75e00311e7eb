import type { Hint } from '../contract/hint.ts';
import type { CommandResult } from './output.ts';
import { onOneLine } from './printable.ts';

/** The columns of a table: each heading with the function that returns its cell. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Rows in columns with headings; empty text if there are no rows. */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  if (!rows.length) return '';
  const cells = Object.values(columns);
  const all = [Object.keys(columns), ...rows.map((row) => cells.map((cell) => onOneLine(cell(row))))];
  const widths = cells.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return all.map((row) => line(row).join('  ').trimEnd()).join('\n');
}

export function listed<Row>(
  page: { data: readonly Row[]; nextCursor: string | null },
  columns: Columns<Row>,
  empty?: Hint,
): CommandResult {
  return {
    json: page,
    text: table(columns, page.data),
    notices: [
      ...(page.data.length || !empty ? [] : [empty]),
      ...(page.nextCursor ? [`For more, use: --cursor ${page.nextCursor}`] : []),
    ],
  };
}

/** Names and values, one pair per line. Undefined values are omitted. */
export function pairs(facts: Readonly<Record<string, string | undefined>>): string {
  const entries = Object.entries(facts).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${onOneLine(value)}`).join('\n');
}

export function fieldsOf(record: object): string {
  const shown = Object.entries(record).map(([name, value]) => [name, fieldText(value)]);
  return pairs(Object.fromEntries(shown));
}

function fieldText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  const parts = Object.entries(value).map(([name, part]) => `${name} ${fieldText(part)}`);
  return parts.join(', ') || '-';
}

/** An ISO time to the second, for tables. */
export function moment(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}
