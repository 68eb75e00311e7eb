import type { Row, Value } from './changes.ts';

/*
 * Reads what a dump prints: INSERT statements with the names of their columns.
 */

const STATEMENT =
  /\bINSERT\s+(?:IGNORE\s+)?INTO\s+([`"]?[\w$]+[`"]?(?:\.[`"]?[\w$]+[`"]?)?)\s*\(([^)]*)\)\s*VALUES\s*/giy;
const TOKEN = /\s*(?:'((?:[^'\\]|\\.|'')*)'|X'([0-9a-f]*)'|([^\s,()']+(?:\s*\([^)]*\))?))\s*/iy;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '0': '\0' };

const bare = (name: string) => name.trim().replace(/^.*\./, '').replace(/[`"]/g, '');

function literal([, text, hex, word]: RegExpExecArray): Value {
  if (text !== undefined)
    return text.replace(/''|\\(.)/g, (_, escaped?: string) =>
      escaped === undefined ? "'" : (ESCAPES[escaped] ?? escaped),
    );
  if (hex !== undefined) return hex;
  if (word === undefined || /^null$/i.test(word)) return null;
  return Number.isNaN(Number(word)) ? word : Number(word);
}

/** The rows of each table in a dump. A table without a row is not in it. */
export function readInserts(dump: string): Map<string, Row[]> {
  const tables = new Map<string, Row[]>();
  const begin = /\bINSERT\s/gi;
  for (let found = begin.exec(dump); found; found = begin.exec(dump)) {
    STATEMENT.lastIndex = found.index;
    const [head = '', name = '', names = ''] = STATEMENT.exec(dump) ?? [];
    let end = found.index + Math.max(head.length, 1);
    if (head) {
      const columns = names.split(',').map(bare);
      const rows = tables.get(bare(name)) ?? [];
      tables.set(bare(name), rows);
      while (dump[end] === '(') {
        const values: Value[] = [];
        do {
          TOKEN.lastIndex = end + 1;
          const token = TOKEN.exec(dump);
          if (!token) break;
          values.push(literal(token));
          end = TOKEN.lastIndex;
        } while (dump[end] === ',');
        rows.push(Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null])));
        const [gap = ''] = /^\)\s*,?\s*/.exec(dump.slice(end, end + 20)) ?? [];
        end += Math.max(gap.length, 1);
      }
    }
    begin.lastIndex = end;
  }
  return tables;
}
