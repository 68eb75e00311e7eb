import type { RowChange } from './row-change.ts';

/** The most changes that a line shows. */
const MAX_SHOWN = 5;

/** Changes in one line, such as `orders 17 status pending → paid, +1 mails`. */
export function describeChanges(changes: readonly RowChange[]): string {
  const rows = new Map<string, number>();
  const values: string[] = [];
  for (const { table, key, column, from, to } of changes) {
    if (column === '*') rows.set(table, (rows.get(table) ?? 0) + (to === null ? -1 : 1));
    else values.push(`${table} ${key} ${column} ${from ?? 'nothing'} → ${to ?? 'nothing'}`);
  }
  const counts = [...rows].map(([table, count]) => `${count > 0 ? '+' : ''}${count} ${table}`);
  const all = [...values, ...counts];
  const rest = all.length - MAX_SHOWN;
  return [...all.slice(0, MAX_SHOWN), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
}
