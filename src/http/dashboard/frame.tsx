import type { Child } from 'hono/jsx';
import { faultInWords, isSpent } from '../../domain/fault.ts';
import { timestamp } from '../../domain/settings.ts';
import type { AppParts } from '../environment.ts';
import { renderDocument } from '../pages/layout.tsx';
import { DASHBOARD_STYLES } from './styles.ts';

/** Where the dashboard's script and its other pages are. */
export const UI = '/_sim/ui';

/** So many records stand on a page of a list. */
export const PER_PAGE = 50;

/** The places of the navigation, in their order. */
export const PLACES = {
  payments: { name: 'Payments', path: '/_sim' },
  ipns: { name: 'IPNs', path: `${UI}/ipns` },
  cards: { name: 'Cards', path: `${UI}/cards` },
  keys: { name: 'Api Key', path: `${UI}/keys` },
  requests: { name: 'Requests', path: `${UI}/requests` },
  inbox: { name: 'Inbox', path: `${UI}/inbox` },
  faults: { name: 'Faults', path: `${UI}/faults` },
  clock: { name: 'Clock', path: `${UI}/clock` },
  reference: { name: 'API reference', path: `${UI}/reference` },
} as const;
export type Place = keyof typeof PLACES;

/** What a form on a page ran into. */
export interface Problem {
  message: string;
  remedy?: string | undefined;
}

/** What every page of the dashboard is made of. */
export interface PageParts {
  place: Place;
  title: string;
  /** Stands over the content; null when all is well. */
  problem: Problem | null;
  /** Styles of this page alone. */
  styles?: string;
  children: Child;
}

/** A whole page of the dashboard as text. */
export function renderPage(parts: AppParts, nonce: string, page: PageParts): string {
  return renderDocument({
    view: { language: 'en', nonce },
    theme: 'system',
    title: `${page.title} · gateway-sim`,
    styles: DASHBOARD_STYLES + (page.styles ?? ''),
    script: `${UI}/live.js`,
    children: <Frame parts={parts} page={page} />,
  });
}

function Frame({ parts, page }: { parts: AppParts; page: PageParts }) {
  const { facts } = parts;
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <section class="top" aria-label="Emulator">
        <p class="name">
          <strong>gateway-sim</strong> {facts.version}
          <span class="where">
            <code>{facts.baseUrl()}</code>
          </span>
        </p>
        <p id="live" class="live" role="status" data-on="live" data-off="emulator gone" />
        <nav aria-label="Dashboard">
          <ul>
            {Object.entries(PLACES).map(([place, { name, path }]) => (
              <li>
                <a href={path} aria-current={place === page.place ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </section>
      <main id="content" tabindex={-1}>
        <Trouble parts={parts} />
        {page.problem && (
          <div class="box alert" role="alert">
            <p>
              <strong>{page.problem.message}</strong>
            </p>
            {page.problem.remedy && <p>{page.problem.remedy}</p>}
          </div>
        )}
        {page.children}
      </main>
    </div>
  );
}

/** What makes this emulator behave unlike the others: impossible to overlook while it is so. */
function Trouble({ parts }: { parts: AppParts }) {
  const faults = parts.faults.list.filter((fault) => !isSpent(fault));
  const { now, frozen, ahead } = parts.clock.read();
  return (
    <div id="trouble" data-live>
      {faults.length > 0 && (
        <section class="box alarm" aria-labelledby="faults-on">
          <h2 id="faults-on">Faults are on</h2>
          <ul>
            {faults.map((fault) => (
              <li>
                <code>{faultInWords(fault)}</code>
              </li>
            ))}
          </ul>
          <p>
            Things go wrong on purpose. <a href={PLACES.faults.path}>Show the rules</a> to take them away.
          </p>
        </section>
      )}
      {(frozen || ahead !== 0) && (
        <p class="box alarm">
          The emulator's time {frozen ? 'stands still' : 'was moved: it is'} at <Time at={timestamp(now)} />.{' '}
          <a href={PLACES.clock.path}>Change it</a>
        </p>
      )}
    </div>
  );
}

/** What stands on the page of something that is not there, below the reason. */
export function Missing() {
  return (
    <>
      <h1>Not there</h1>
      <p>
        <a href="/_sim">Back to the list</a>
      </p>
    </>
  );
}

/** An instant in UTC, as people read it; `precise` to the millisecond. */
export function Time({ at, precise = false }: { at: string; precise?: boolean }) {
  return <time datetime={at}>{at.slice(0, precise ? 23 : 19).replace('T', ' ')}</time>;
}

/** A state in words and colour. */
export function Status({ of }: { of: string }) {
  return <span class={`status ${of}`}>{of}</span>;
}

/** Names and values. */
export function Facts({ rows }: { rows: readonly (readonly [string, Child])[] }) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
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

/** A command or a body of several lines. */
export function Code({ id, text, what }: { id?: string; text: string; what: string }) {
  return (
    <div class="code">
      {/* Scrolls sideways; the keyboard needs a focus to do so. */}
      <pre tabindex={0} role="region" aria-label={what}>
        <code id={id}>{text}</code>
      </pre>
      {id !== undefined && <CopyButton target={id} what={what} />}
    </div>
  );
}

/** A table that scrolls by itself on a small screen. */
export function Table({
  id,
  label,
  columns,
  children,
}: {
  id: string;
  label: string;
  columns: readonly string[];
  children: Child;
}) {
  return (
    <section id={id} class="scroll" tabindex={0} aria-label={label}>
      <table>
        <caption class="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col">{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

/** A form that posts to an action of the dashboard. */
export function Action({
  to,
  label,
  children,
  confirm,
  inline = false,
}: {
  to: string;
  /** What the form is for, where its place does not say. */
  label?: string | undefined;
  children: Child;
  /** Asked before it acts, where the script runs. */
  confirm?: string;
  inline?: boolean;
}) {
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

/** A labelled field of a form. */
export function Field({
  name,
  label,
  value,
  hint,
  required = false,
  type = 'text',
  scope = '',
}: {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  required?: boolean;
  type?: 'text' | 'url' | 'email';
  /** Tells fields of the same name on one page apart. */
  scope?: string;
}) {
  const id = `field-${scope}${name}`;
  return (
    <p class="field">
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
export function Choice({
  name,
  label,
  options,
  value,
  scope = '',
}: {
  name: string;
  label: string;
  options: readonly (readonly [value: string, shown: string])[];
  value?: string;
  scope?: string;
}) {
  const id = `field-${scope}${name}`;
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

/** Leads to the next page of a list. */
export function More({ path, query, cursor }: { path: string; query: object; cursor: string | null }) {
  if (cursor === null) return null;
  const given = Object.entries({ ...query, cursor }).filter(([, value]) => value !== undefined);
  return (
    <p>
      <a href={`${path}?${new URLSearchParams(given as [string, string][])}`}>Older ones</a>
    </p>
  );
}
