import { type Child, useContext } from 'hono/jsx';
import type { CommandHint } from '../../../contract/hint.ts';
import { PageContext } from './page.tsx';
import { ago, clip, instant } from './text.ts';

/** Shows an instant. `zone` adds UTC where no heading says so. With `runs`, the script advances it. */
export function Time(props: { at: string; precise?: boolean; runs?: boolean; zone?: boolean }) {
  const { at, precise, runs, zone } = props;
  return (
    <>
      <time datetime={at} data-runs={runs ? '' : undefined}>
        {precise ? at.slice(0, 23).replace('T', ' ') : instant(at)}
      </time>
      {zone && ' UTC'}
    </>
  );
}

/**
 * Shows how long ago something happened. The exact time appears on hover, or when the row has the focus. The script
 * keeps the text up to date.
 */
export function Ago({ at }: { at: string }) {
  const { now } = useContext(PageContext);
  return (
    <time datetime={at} data-ago="" title={`${instant(at)} UTC`}>
      {ago(now - Date.parse(at))}
    </time>
  );
}

/** Texts up to this length are never shortened. */
const SHORT = 20;
/** A shortened text keeps its end, which distinguishes similar texts. The style sheet reserves space for it. */
const TAIL = 8;
const CHARACTERS = new Intl.Segmenter();

/**
 * Text or a link, shortened in the middle if it does not fit. Screen readers, the clipboard and search get the whole
 * text, unless it is too long for a list.
 */
export function Short(props: { text: string; to?: string }) {
  const { to } = props;
  const text = clip(props.text);
  const isShort = text.length <= SHORT;
  if (isShort && to === undefined) return text;
  // Split by visible characters.
  const all = [...CHARACTERS.segment(text)].map(({ segment }) => segment);
  const content = isShort ? text : [<span>{all.slice(0, -TAIL).join('')}</span>, all.slice(-TAIL).join('')];
  const whole = isShort ? undefined : text;
  if (to === undefined) {
    return (
      <span class="short" title={text === props.text ? text : undefined}>
        {content}
      </span>
    );
  }
  return (
    <a href={to} class={isShort ? 'id' : 'id short'} title={whole} aria-label={whole}>
      {content}
    </a>
  );
}

export function Status({ of }: { of: string }) {
  return <span class={`status ${of}`}>{of}</span>;
}

export function Section({ id, title, children }: { id: string; title: Child; children: Child }) {
  return (
    <section class="box" id={id} aria-labelledby={`${id}-name`}>
      <h2 id={`${id}-name`}>{title}</h2>
      {children}
    </section>
  );
}

/** Names and values. A null value gets no row. */
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

export function FactsBox(props: { id?: string; label: string; rows: FactRows; children?: Child }) {
  return (
    <section class="box" id={props.id} aria-label={props.label}>
      <Facts rows={props.rows} />
      {props.children}
    </section>
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
      {length === 1 ? '1 warning' : `${length} warnings`}
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

/** Copies an element's text. Hidden until the script runs. */
function CopyButton({ target, what }: { target: string; what: string }) {
  return (
    <button type="button" class="small" data-copy={target} hidden>
      Copy <span class="unseen">{what}</span>
    </button>
  );
}

interface CodeProps {
  id?: string | undefined;
  text: Child;
  what: string;
  /** Lets long words break. Not for text to copy by hand. */
  wraps?: boolean;
  /** The id of the element to copy. Default: the whole text. */
  copies?: string | undefined;
}

/** A command or a body of several lines. */
export function Code({ id, text, what, wraps, copies = id }: CodeProps) {
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

export function CommandCode({ id, run, does }: { id: string; run: CommandHint; does: string }) {
  return <Code id={id} text={useContext(PageContext).style.command(run)} what={`The command that ${does}`} />;
}

/** Says how many more records exist, and shows the command that lists all. */
export function More({ id, count, run, of }: { id: string; count: number; run: CommandHint; of: string }) {
  if (count <= 0) return null;
  return (
    <>
      <p class="soft">And {count} more:</p>
      <CommandCode id={id} run={run} does={`shows all ${of}`} />
    </>
  );
}
