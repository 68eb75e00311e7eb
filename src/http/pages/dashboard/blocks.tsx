import type { Child } from 'hono/jsx';
import { listPath, type Place } from './navigation.ts';

/**
 * An instant as people read it: `precise` to the millisecond, `zone` says that it is UTC where nothing near does, and
 * with `runs` it goes on where the script does.
 */
export function Time(props: { at: string; precise?: boolean; runs?: boolean; zone?: boolean }) {
  const { at, precise = false, runs = false, zone = false } = props;
  return (
    <>
      <time datetime={at} data-runs={runs ? '' : undefined}>
        {at.slice(0, precise ? 23 : 19).replace('T', ' ')}
      </time>
      {zone && ' UTC'}
    </>
  );
}

/** A state in words and colour. */
export function Status({ of }: { of: string }) {
  return <span class={`status ${of}`}>{of}</span>;
}

/** Names and values; what is undefined has no row. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: Child] | undefined)[] }) {
  return (
    <dl>
      {rows
        .filter((row) => row !== undefined)
        .map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Heading of a page of one record, and the way back to the list. */
export function Heading(props: { title: string; place: Place; children?: Child }) {
  return (
    <div class="heading">
      <h1>{props.title}</h1>
      {props.children}
      <a class="back" href={listPath(props.place, {})}>
        Back to the list
      </a>
    </div>
  );
}

/** A text to be copied; without the script it can be selected. */
export function Copyable({ id, text, what }: { id: string; text: string; what: string }) {
  return (
    <span class="copyable">
      <code id={id}>{text}</code>
      <CopyButton target={id} what={what} />
    </span>
  );
}

/** Copies the text of an element; only there where the script runs. */
export function CopyButton({ target, what }: { target: string; what: string }) {
  return (
    <button type="button" class="small" data-copy={target} hidden>
      Copy <span class="unseen">{what}</span>
    </button>
  );
}

/** A command or a body of several lines; `wraps` where it is only read, and long words may break. */
export function Code(props: { id?: string; text: Child; what: string; wraps?: boolean }) {
  const { id, text, what, wraps = false } = props;
  return (
    <div class="code">
      {/* Scrolls sideways; the keyboard needs a focus to do so. */}
      <section class={wraps ? 'text wraps' : 'text'} tabindex={0} aria-label={what}>
        <pre>
          <code id={id}>{text}</code>
        </pre>
      </section>
      {id !== undefined && <CopyButton target={id} what={what} />}
    </div>
  );
}

/** A form that posts to an action of the dashboard. */
export function Action(props: {
  to: string;
  /** What the form is for, where its place does not say. */
  label?: string | undefined;
  children: Child;
  /** Asked before it acts, where the script runs. */
  confirm?: string;
  inline?: boolean;
}) {
  const { to, label, children, confirm, inline = false } = props;
  return (
    <form
      method="post"
      action={to}
      class={inline ? 'inline' : 'form'}
      aria-label={label}
      data-confirm={confirm}
    >
      {children}
    </form>
  );
}

/** What a form was given before it was refused, by field: nobody types it again. */
export type FormValues = Readonly<Record<string, string>>;

/** A labelled field of a form. */
export function Field(props: {
  name: string;
  label: string;
  value?: string | undefined;
  hint?: string;
  required?: boolean;
  type?: 'text' | 'url' | 'email';
  /** Takes all the room there is: for addresses. */
  wide?: boolean;
  /** Tells fields of the same name on one page apart. */
  scope?: string;
}) {
  const { name, label, value, hint, required = false, type = 'text', wide = false, scope = '' } = props;
  const id = `field-${scope}${name}`;
  return (
    <p class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        value={value}
        required={required}
        placeholder={hint}
        autocomplete="off"
      />
    </p>
  );
}

/** A labelled choice of a form. */
export function Choice(props: {
  name: string;
  label: string;
  options: readonly (readonly [value: string, shown: string])[];
  value?: string | undefined;
}) {
  const { name, label, options, value } = props;
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {options.map(([option, shown]) => (
          <option value={option} selected={option === value}>
            {shown}
          </option>
        ))}
      </select>
    </p>
  );
}

/** What a list is narrowed to, and where its page begins. */
export type ListQuery = Readonly<Record<string, string | undefined>> & { cursor?: string | undefined };

/** Leads through the pages of a list. */
export function Pages({ place, query, next }: { place: Place; query: ListQuery; next: string | null }) {
  if (next === null && query.cursor === undefined) return null;
  return (
    <p class="pages" id="pages">
      {query.cursor !== undefined && <a href={listPath(place, { ...query, cursor: undefined })}>Newest</a>}
      {next !== null && <a href={listPath(place, { ...query, cursor: next })}>Older ones</a>}
    </p>
  );
}
