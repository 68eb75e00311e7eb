import type { Child } from 'hono/jsx';

export interface Column<Item> {
  heading: string;
  cell: (item: Item) => Child;
  /**
   * The fixed width. Amounts are right-aligned. Names and addresses are shortened if necessary. Long texts may
   * wrap.
   */
  kind?: 'select' | 'amount' | 'state' | 'time' | 'few' | 'action' | 'name' | 'address' | 'cause' | 'long';
  /** Explains the value on a phone, where rows are cards without headings. */
  label?: string;
  /** Whether its cells are the row headings. */
  head?: boolean;
}

export function column<Item>(
  heading: string,
  cell: Column<Item>['cell'],
  look: Omit<Column<Item>, 'heading' | 'cell'> = {},
): Column<Item> {
  return { heading, cell, ...look };
}

/** Identifies a row. An `id` also works as a link target. */
export type RowKey = { 'data-key'?: string } | { id: string };

/** Kinds that need a class on each cell. Classes on all cells would make a list 10% larger. */
const CELLS: ReadonlySet<string> = new Set([
  'amount',
  'few',
  'address',
  'cause',
  'long',
] satisfies Column<never>['kind'][]);

interface TableProps<Item> {
  id: string;
  label: string;
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  /** Default: the item's id, which is not a link target. */
  keyOf?: ((item: Item) => RowKey) | undefined;
  /** The text that replaces an empty table. */
  none?: string;
}

const byId = (item: object) => ('id' in item ? { 'data-key': String(item.id) } : {});

/** Shows items as a table, which scrolls sideways if necessary. */
export function Table<Item extends object>(props: TableProps<Item>) {
  const { id, label, columns, rows, keyOf = byId, none } = props;
  if (none !== undefined && rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <section id={id} class="scroll" tabindex={0} aria-label={label}>
      <table>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ heading, kind, head }) => (
              <th scope="col" class={head ? 'head' : kind}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item) => (
            <tr {...keyOf(item)}>
              {columns.map(({ cell, head, kind, label }) =>
                head ? (
                  <th scope="row">{cell(item)}</th>
                ) : (
                  <td class={kind && CELLS.has(kind) ? kind : undefined} data-label={label}>
                    {cell(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
