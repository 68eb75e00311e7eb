// biome-ignore-all lint/a11y/noRedundantRoles: On a small screen a row is a card, which takes `display` away from the
// elements: the roles say what they are to browsers that would forget it.
import type { Child } from 'hono/jsx';

export interface Column<Item> {
  heading: string;
  cell: (item: Item) => Child;
  /** An amount stands to the right; a text, a name or an address gets more room, and may break. */
  kind?: 'amount' | 'long' | 'name' | 'address';
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
      <table role="table">
        <caption class="unseen">{label}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ heading, kind }) => (
              <th scope="col" role="columnheader" class={kind === 'amount' ? kind : undefined}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((item) => (
            <tr {...keyOf(item)} role="row">
              {columns.map(({ cell, head, kind, label }) =>
                head ? (
                  <th scope="row" role="rowheader">
                    {cell(item)}
                  </th>
                ) : (
                  <td role="cell" class={kind} data-label={label}>
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
