import type { Child } from 'hono/jsx';

/*
 * Lists as tables. On a small screen a row is a card, which takes `display` away from the elements: the roles say what
 * they are to browsers that would forget it.
 */

/** What a cell is: an amount stands to the right, a text or an address gets more room, and may break. */
export type Kind = 'amount' | 'long' | 'name' | 'address';

/** A heading, with `amount` of amounts. */
export type Column = string | readonly [heading: string, kind: 'amount'];

/** A table that scrolls by itself where it must. Rows that may move carry a `name` or an `id`. */
export function Table(props: { id: string; label: string; columns: readonly Column[]; children: Child }) {
  const { id, label, columns, children } = props;
  return (
    <section id={id} class="scroll" tabindex={0} aria-label={label}>
      {/* biome-ignore lint/a11y/noRedundantRoles: see above */}
      <table role="table">
        <caption class="unseen">{label}</caption>
        <Group of="head">
          <Row>
            {columns.map((column) => (
              <ColumnHead of={column} />
            ))}
          </Row>
        </Group>
        <Group of="body">{children}</Group>
      </table>
    </section>
  );
}

function Group({ of, children }: { of: 'head' | 'body'; children: Child }) {
  const Part = of === 'head' ? 'thead' : 'tbody';
  return <Part role="rowgroup">{children}</Part>;
}

function ColumnHead({ of }: { of: Column }) {
  const [heading, kind] = typeof of === 'string' ? [of] : of;
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <th scope="col" role="columnheader" class={kind}>
      {heading}
    </th>
  );
}

/** A row: `name` tells it from the others, `id` lets addresses lead to it too. */
export function Row({ id, name, children }: { id?: string; name?: string; children: Child }) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <tr id={id} data-key={name} role="row">
      {children}
    </tr>
  );
}

/** The cell that says what its row is about. */
export function RowHead({ children }: { children: Child }) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <th scope="row" role="rowheader">
      {children}
    </th>
  );
}

/** A cell; `label` stands before it where rows are cards, which have no headings, and it does not speak for itself. */
export function Cell({ kind, label, children }: { kind?: Kind; label?: string; children?: Child }) {
  return (
    // biome-ignore lint/a11y/noRedundantRoles: see above
    <td role="cell" class={kind} data-label={label}>
      {children}
    </td>
  );
}
