import type { RowChange } from '../contract/row-change.ts';

export type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value>>;
/** The rows of each table, by their key. */
export type Rows = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/** What a database contains at one moment. */
export interface Reading {
  rows: Rows;
  /** The columns that identify the rows of each table. A row without them is identified by its whole content. */
  keys: ReadonlyMap<string, readonly string[]>;
}

/** Times in any text, also inside of JSON. Only that there is one says something. */
const TIMES = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** A date, or the seconds or milliseconds of a time: only as a whole value. */
const DATE = /^\d{4}-\d\d-\d\d$|^1[5-9]\d{8}(?:\.\d+)?$|^1[5-9]\d{11}$/;

/** Stands for any time. */
export const A_TIME = 'a time';

/** A value as text, with times alike; null for none. */
export function textOf(value: Value | undefined): string | null {
  if (value === undefined || value === null) return null;
  const text = String(value);
  return DATE.test(text) ? A_TIME : text.replace(TIMES, A_TIME);
}

/** Longer texts, e-mail addresses, digests and random texts are of no use in a report, and may be somebody's. */
const MAX_SHOWN = 40;
const PERSONAL =
  /name|mail|phone|address|street|city|zip|postcode|password|token|secret|hash|birth|session|sess_/i;
const SECRET = /@|^[0-9a-f]{16,}$|^(?=.*\d)(?=.*[a-z])[a-z\d]{20,}$/i;

const MASKED = '…';

/** A value for a report, without what may be personal or secret. */
export function shownValue(column: string, text: string | null): string | null {
  if (text === null) return null;
  return PERSONAL.test(column) || SECRET.test(text) || text.length > MAX_SHOWN ? MASKED : text;
}

/** The column that stands for a whole row. */
export const WHOLE_ROW = '*';

/** A difference between two readings, in full. */
export interface Change extends RowChange {
  /** The row after the change, or before it if it is gone. */
  row: Row;
}

/** What differs between two readings: a column, or a row that is new or gone. Times count only if there was none. */
export function changesBetween(before: Rows, after: Rows): Change[] {
  const changes: Change[] = [];
  for (const table of new Set([...before.keys(), ...after.keys()])) {
    const [old, current] = [before.get(table), after.get(table)];
    for (const key of new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])])) {
      const [was, is] = [old?.get(key), current?.get(key)];
      const row = is ?? was;
      if (!row) continue;
      if (!was || !is) {
        const [from, to] = [was ? 'a row' : null, is ? 'a row' : null];
        changes.push({ table, key, column: WHOLE_ROW, from, to, row });
        continue;
      }
      for (const column of Object.keys(is)) {
        const [from, to] = [textOf(was[column]), textOf(is[column])];
        if (from !== to) changes.push({ table, key, column, from, to, row });
      }
    }
  }
  return changes;
}

/** A change for a report, without what may be personal or secret. @param keys the columns that identify its row */
export function shownChange(
  { row, table, column, from, to }: Change,
  keys: readonly string[] = [],
): RowChange {
  const isKnown = keys.length > 0 && keys.every((name) => name in row);
  const key = keys.map((name) => shownValue(name, String(row[name]))).join(', ');
  return {
    table,
    key: isKnown ? key : MASKED,
    column,
    from: shownValue(column, from),
    to: shownValue(column, to),
  };
}
