import type { RowChange } from './row-change.ts';

/** The most changes that a line shows. */
const MAX_SHOWN = 5;

/** What the shop's database shows of an IPN, in one line; null if there is nothing to say. */
export function describeShop(changes: readonly RowChange[] | null, unknown: string | null): string | null {
  if (unknown !== null) return `not known: ${unknown}`;
  return changes?.length ? describeChanges(changes) : null;
}

/** Changes in one line, in their order, such as `orders 17 status pending → paid, +1 mails`. */
export function describeChanges(changes: readonly RowChange[]): string {
  const rows = new Map<string, number>();
  const shown = new Map<string, () => string>();
  for (const { table, key, column, from, to, noise } of changes) {
    if (noise) continue;
    if (column === '*') {
      rows.set(table, (rows.get(table) ?? 0) + (to === null ? -1 : 1));
      shown.set(`* ${table}`, () => signed(rows.get(table) ?? 0, table));
    } else {
      const value = `${table} ${key} ${column} ${from || 'nothing'} → ${to || 'nothing'}`;
      shown.set(`${value} ${shown.size}`, () => value);
    }
  }
  const all = [...shown.values()].map((describe) => describe());
  const noise = changes.filter((change) => change.noise).length;
  const rest = all.length - MAX_SHOWN;
  return [
    ...all.slice(0, MAX_SHOWN),
    ...(rest > 0 ? [`${rest} more`] : []),
    ...(noise > 0 ? [`${noise} in sessions, caches, schedulers and logs`] : []),
  ].join(', ');
}

const signed = (count: number, table: string) => `${count > 0 ? '+' : ''}${count} ${table}`;
