import type { Child } from 'hono/jsx';

/*
 * Lists as tables. On a small screen a row is a card, which takes `display` away from the elements: the roles say what
 * they are to browsers that would forget it.
 */

/** What a row shows under a heading. */
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

/** A column; those of amounts, instants and states look alike everywhere. */
export function column<Item>(heading: string, cell: Column<Item>['cell'], look: Look = {}): Column<Item> {
  return { heading, cell, ...look };
}

/** What tells rows apart: a `name`, or an `id` where addresses lead to it too. */
interface RowKey {
  name?: string;
  id?: string;
}

/** What a table is made of. */
export interface TableParts<Item> {
  id: string;
  label: string;
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  /** Default: by their id, without an address. */
  keyOf?: (item: Item) => RowKey;
}

const byId = (item: object): RowKey => ('id' in item ? { name: String(item.id) } : {});

/** A table that scrolls by itself where it must. */
export function Table<Item extends object>(props: TableParts<Item>) {
  const { id, label, columns, rows, keyOf = byId } = props;
  return (
    <section id={id} class="scroll" tabindex={0} aria-label={label}>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <table role="table">
        <caption class="unseen">{label}</caption>
        <Group of="head">
          <Row>
            {columns.map(({ heading, kind }) => (
              <ColumnHead heading={heading} kind={kind} />
            ))}
          </Row>
        </Group>
        <Group of="body">
          {rows.map((item) => (
            <Row {...keyOf(item)}>
              {columns.map(({ cell, head, kind, label }) => (
                <Cell head={head} kind={kind} label={label}>
                  {cell(item)}
                </Cell>
              ))}
            </Row>
          ))}
        </Group>
      </table>
    </section>
  );
}

function Group({ of, children }: { of: 'head' | 'body'; children: Child }) {
  const Part = of === 'head' ? 'thead' : 'tbody';
  return <Part role="rowgroup">{children}</Part>;
}

type Look = Omit<Column<never>, 'heading' | 'cell'>;
type Given<Props> = { [Name in keyof Props]?: Props[Name] | undefined };

function ColumnHead({ heading, kind }: { heading: string } & Given<Look>) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <th scope="col" role="columnheader" class={kind === 'amount' ? kind : undefined}>
      {heading}
    </th>
  );
}

function Row({ id, name, children }: RowKey & { children: Child }) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <tr id={id} data-key={name} role="row">
      {children}
    </tr>
  );
}

function Cell({ head, kind, label, children }: { children: Child } & Given<Look>) {
  if (head) {
    return (
      // biome-ignore lint/a11y/noRedundantRoles: see above
      <th scope="row" role="rowheader">
        {children}
      </th>
    );
  }
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <td role="cell" class={kind} data-label={label}>
      {children}
    </td>
  );
}
