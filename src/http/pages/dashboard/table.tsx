import type { Child } from 'hono/jsx';

export interface Column<Item> {
  heading: string;
  cell: (item: Item) => Child;
  /**
   * How much room it has, which no value widens. An amount stands to the right; a name and an address are cut where they
   * must be; a long text may break, which makes its row higher.
   */
  kind?: 'amount' | 'state' | 'time' | 'few' | 'action' | 'name' | 'address' | 'long';
  /** Stands before the value where rows are cards, which have no headings, and it does not speak for itself. */
  label?: string;
  /** It says what its row is about. */
  head?: boolean;
}

export function column<Item>(
  heading: string,
  cell: Column<Item>['cell'],
  look: Omit<Column<Item>, 'heading' | 'cell'> = {},
): Column<Item> {
  return { heading, cell, ...look };
}

/** What tells rows apart: an `id` where addresses lead to it too. */
export type RowKey = { 'data-key'?: string } | { id: string };

/** Kinds that cells must tell, too: a class on each of them makes a list a tenth longer. */
const CELLS: ReadonlySet<string> = new Set([
  'amount',
  'few',
  'address',
  'long',
] satisfies Column<never>['kind'][]);

interface TableProps<Item> {
  id: string;
  label: string;
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  /** Default: by their id, without an address. */
  keyOf?: ((item: Item) => RowKey) | undefined;
  /** Instead of a table without rows. */
  none?: string;
}

const byId = (item: object) => ('id' in item ? { 'data-key': String(item.id) } : {});

/** Lists as tables, which scroll by themselves where they must. */
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
