import { type Child, useContext } from 'hono/jsx';
import type { CommandHint } from '../../../contract/error.ts';
import { moment } from '../../../contract/time.ts';
import type { ShopState } from '../../../diagnosis/shop-state.ts';
import { Link } from '../layout.tsx';
import { PageContext } from './page.tsx';
import { ago, clip } from './text.ts';

/** Shows an instant. `zone` adds UTC where no heading says so. */
export function Time({ at, zone }: { at: string; zone?: boolean }) {
  return (
    <>
      <time datetime={at}>{moment(at)}</time>
      {zone && ' UTC'}
    </>
  );
}

/** Shows how long ago something happened, or how soon it will. The script keeps the text up to date. */
export function Ago({ at }: { at: string }) {
  const { now } = useContext(PageContext);
  return (
    <time datetime={at} data-ago="" title={`${moment(at)} UTC`}>
      {ago(now - Date.parse(at))}
    </time>
  );
}

/** A link to a record's page, whose text may be long. */
export function RecordLink({ to, text }: { to: string; text: string }) {
  const { mask } = useContext(PageContext);
  return (
    <Link href={to} class="id">
      {clip(text, mask)}
    </Link>
  );
}

/** @param props `of`: the style, and the default text */
export function Status({ of, children = of }: { of: string; children?: string }) {
  return <span class={`status ${of}`}>{children}</span>;
}

/** The looks of the status dots. */
const LOOKS: Readonly<Record<ShopState['tone'], string>> = {
  good: 'delivered',
  bad: 'refused',
  warning: 'pending',
  waiting: '',
};

/** Says in a list what the shop did with an IPN. */
export function ShopStatus({ of: { state, words, tone } }: { of: ShopState }) {
  const worst = state === 'forgery-accepted' ? ' worst' : '';
  return <Status of={`shop ${LOOKS[tone]}${worst}`}>{words}</Status>;
}

/** Says what the shop did with an IPN. */
export function ShopPill({ of: { state, words, tone } }: { of: ShopState }) {
  return (
    <span class={`pill ${tone}`} data-pill="shop" data-state={state}>
      Your shop: {words}
    </span>
  );
}

export function Section({ id, title, children }: { id: string; title: Child; children: Child }) {
  return (
    <section class="box" id={id} aria-labelledby={`${id}-name`}>
      <h2 id={`${id}-name`}>{title}</h2>
      {children}
    </section>
  );
}

/** A section that is not open at first. */
export function Fold({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <details class="box" id={id}>
      <summary>
        <strong>{title}</strong>
      </summary>
      {children}
    </details>
  );
}

type FactRows = readonly (readonly [name: string, value: Child])[];

export function Facts({ rows }: { rows: FactRows }) {
  return (
    <dl>
      {rows.map(
        ([name, value]) =>
          value !== null && (
            <div>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Warnings({ of }: { of: readonly string[] }) {
  return of.map((warning) => <p class="warning">{warning}</p>);
}

/** Shows the number of warnings. The record's page shows their texts. */
export function WarningCount({ of: warnings }: { of: readonly string[] }) {
  const { length } = warnings;
  if (length === 0) return null;
  return (
    <span class="warning" title={warnings.join('\n')}>
      {length}
      <span class="unseen">{length === 1 ? ' warning' : ' warnings'}</span>
    </span>
  );
}

/** A text with a copy button. Without the script, the user can select the text. */
export function Copyable({ id, text, what }: { id: string; text: Child; what: string }) {
  return (
    <span class="copyable">
      <code id={id}>{text}</code>
      <CopyButton target={id} what={what} />
    </span>
  );
}

/** Copies an element's text. The script shows it. */
function CopyButton({ target, what }: { target: string; what: string }) {
  return (
    <button type="button" class="small" data-copy={target}>
      Copy <span class="unseen">{what}</span>
    </button>
  );
}

/**
 * A command or a body of several lines.
 *
 * @param props `wraps`: lets long words break, not for text to copy by hand; `copies`: the id of the element to copy,
 *   by default the whole text
 */
export function Code(props: {
  id?: string | undefined;
  text: Child;
  what: string;
  wraps?: boolean;
  copies?: string | undefined;
}) {
  const { id, text, what, wraps, copies = id } = props;
  return (
    <div class="code">
      {/* Scrolls sideways, so it must be focusable for keyboard users. */}
      <section class={wraps ? 'text wraps' : 'text'} tabindex={0} aria-label={what}>
        <pre>
          <code id={id}>{text}</code>
        </pre>
      </section>
      {copies !== undefined && <CopyButton target={copies} what={what} />}
    </div>
  );
}

/** Collapsed code. @param props `code`: the id of the text, if it can be copied */
export function FoldedCode(props: { id: string; title: string; code?: string; text: Child; what: string }) {
  const { id, title, code, text, what } = props;
  return (
    <details id={id}>
      <summary>{title}</summary>
      <Code id={code} text={text} what={what} />
    </details>
  );
}

/** Says how many more records exist, and the command that lists all. */
export function More({ count, run }: { count: number; run: CommandHint }) {
  const { style } = useContext(PageContext);
  if (count <= 0) return null;
  return (
    <p class="soft">
      And {count} more: <code>{style.command(run)}</code>
    </p>
  );
}

/**
 * A column. On a phone, rows are cards without headings, so the label explains the value. The cells of `head` are the
 * row headings. Other kinds have a fixed width: amounts are right-aligned, and long texts may wrap.
 */
export type Column<Item> = readonly [
  heading: string,
  kind:
    | 'head'
    | 'plain'
    | 'amount'
    | 'state'
    | 'time'
    | 'mode'
    | 'few'
    | 'action'
    | 'name'
    | 'cause'
    | 'long',
  cell: (item: Item) => Child,
  label?: string,
];

/** Shows items as a table, which scrolls sideways if necessary. @param props `none`: replaces an empty table */
export function Table<Item extends object>(props: {
  id: string;
  label: string;
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  none?: string;
}) {
  const { id, label, columns, rows, none } = props;
  if (none !== undefined && rows.length === 0) return <p class="soft">{none}</p>;
  return (
    <section id={id} class="scroll" tabindex={0} aria-label={label}>
      <table>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map(([heading, kind]) => (
              <th scope="col" class={kind === 'plain' ? undefined : kind}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item) => (
            <tr id={'id' in item ? `row-${item.id}` : undefined}>
              {columns.map(([, kind, cell, label]) =>
                kind === 'head' ? (
                  <th scope="row">{cell(item)}</th>
                ) : (
                  <td class={kind === 'plain' ? undefined : kind} data-label={label}>
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

/** Shows a text, and marks where it differs from another one. */
export function Difference({ text, from }: { text: string; from: string }) {
  const start = commonLength([...text], [...from]);
  const rest = [...text].slice(start);
  const end = commonLength(rest.toReversed(), [...from].slice(start).toReversed());
  const parts = [[...text].slice(0, start), rest.slice(0, rest.length - end), rest.slice(rest.length - end)];
  const [before, marked = '', after] = parts.map((part) => part.join(''));
  return (
    <code>
      {before}
      {marked !== '' && <mark>{marked}</mark>}
      {after}
    </code>
  );
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((character, index) => character !== other[index]);
  return differs < 0 ? one.length : differs;
}

/** Shows code in several languages. The script remembers the selected one on all pages. */
export function Languages({ of }: { of: Readonly<Record<string, string | undefined>> }) {
  const codes = Object.entries(of);
  return (
    <fieldset class="languages">
      <legend class="unseen">Language</legend>
      {codes.map(([language], index) => (
        <>
          <input
            type="radio"
            name="language"
            id={`language-${language}`}
            value={language}
            checked={index === 0}
          />
          <label for={`language-${language}`}>{language}</label>
        </>
      ))}
      {codes.map(([language, code = '']) => (
        <Code id={`code-${language}`} text={code} what={`Code in ${language}`} wraps />
      ))}
    </fieldset>
  );
}
