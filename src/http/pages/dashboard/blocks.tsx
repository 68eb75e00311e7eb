import { type Child, createContext, useContext } from 'hono/jsx';
import { quoted, shellWord } from '../../../contract/curl.ts';
import { CARD_DEFAULTS, withPaymentDefaults } from '../../../contract/defaults.ts';
import { errorOf } from '../../../contract/describe-delivery.ts';
import { type CommandHint, type GatewayError, type HintStyle, PLAIN } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import type { Attempt } from '../../../domain/state.ts';
import type { ServiceCall } from '../../../wire/dialect.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type FormValues, listPath, PLACES, type Place, type RecordPlace, recordPath } from './paths.ts';
import { ago, capitalized, clip, instant, pretty } from './text.ts';

export interface Page {
  /** Null for a page outside the navigation. */
  place: Place | null;
  path: string;
  title: string;
  content: Child;
  /** Whether the content stays the same after events. */
  isStill?: boolean;
  /** The search text. */
  query?: string;
}

/** The error in a request. A rejected form is shown again with its values. */
export interface Refusal {
  error: GatewayError;
  /** The path of the form. */
  to?: string;
  values?: FormValues;
}

/** The context that every component of a page can read. */
interface PageFacts {
  /** How to write commands. */
  style: HintStyle;
  /** The emulator's time, in milliseconds since 1970. */
  now: number;
  refusal?: Refusal | undefined;
}
export const PageContext = createContext<PageFacts>({ style: PLAIN, now: 0 });

/**
 * @param request `id`: the record in the path
 * @throws GatewayError `not_found` for a record that does not exist
 */
export type PageRenderer = (request: {
  parts: AppParts;
  query: FormValues;
  id: string;
}) => Page | Promise<Page>;

export function pageAt(place: Place, content: Child): Page {
  const { name: title, path } = PLACES[place];
  return { place, path, title, content };
}

interface HeadingProps {
  title: string;
  /** An amount that matters more than the other facts. */
  sum?: string;
  status?: Child;
}

export function Heading({ title, sum, status, list }: HeadingProps & { list: string }) {
  return (
    <div class="heading">
      <h1>{title}</h1>
      {sum !== undefined && <span class="sum">{sum}</span>}
      {status}
      <Link class="back" href={list}>
        Back to the {list.includes('?') && 'filtered '}list
      </Link>
    </div>
  );
}

/**
 * Builds a record's page: its heading, a link back to the list, and its sections.
 *
 * @param query the list's filter
 */
export function recordPage(
  place: RecordPlace,
  id: string | number,
  heading: HeadingProps,
  sections: Child,
  query: FormValues = {},
): Page {
  const list = listPath(place, query);
  const content = [<Heading {...heading} list={list} />, sections];
  return { place, path: recordPath(place, id, list), title: heading.title, content };
}

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
    <Link href={to} class={isShort ? 'id' : 'id short'} title={whole} aria-label={whole}>
      {content}
    </Link>
  );
}

/** @param props `of`: the style, and the default text */
export function Status({ of, children = of }: { of: string; children?: string }) {
  return <span class={`status ${of}`}>{children}</span>;
}

export function Section({ id, title, children }: { id: string; title: Child; children: Child }) {
  return (
    <section class="box" id={id} aria-labelledby={`${id}-name`}>
      <h2 id={`${id}-name`}>{title}</h2>
      {children}
    </section>
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

/**
 * A column. On a phone, rows are cards without headings, so the label explains the value. The cells of `head` are the
 * row headings. Other kinds have a fixed width: amounts are right-aligned, names and addresses are shortened if
 * necessary, and long texts may wrap.
 */
export type Column<Item> = readonly [
  heading: string,
  kind:
    | 'head'
    | 'plain'
    | 'select'
    | 'amount'
    | 'state'
    | 'time'
    | 'few'
    | 'action'
    | 'name'
    | 'address'
    | 'cause'
    | 'long',
  cell: (item: Item) => Child,
  label?: string,
];

/** Identifies a row. An `id` also works as a link target. */
export type RowKey = { 'data-key'?: string } | { id: string };

/** Kinds that need a class on each cell. Classes on all cells would make a list 10% larger. */
const CELLS: ReadonlySet<string> = new Set([
  'amount',
  'few',
  'address',
  'cause',
  'long',
] satisfies Column<never>[1][]);

const byId = (item: object) => ('id' in item ? { 'data-key': String(item.id) } : {});

/**
 * Shows items as a table, which scrolls sideways if necessary.
 *
 * @param props `keyOf`: by default the item's id, which is not a link target; `none`: replaces an empty table
 */
export function Table<Item extends object>(props: {
  id: string;
  label: string;
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  keyOf?: ((item: Item) => RowKey) | undefined;
  none?: string;
}) {
  const { id, label, columns, rows, keyOf = byId, none } = props;
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
            <tr {...keyOf(item)}>
              {columns.map(([, kind, cell, label]) =>
                kind === 'head' ? (
                  <th scope="row">{cell(item)}</th>
                ) : (
                  <td class={CELLS.has(kind) ? kind : undefined} data-label={label}>
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

/** Shows a command, ready to paste, that initiates a sandbox payment as a merchant would. */
export function SampleInitiate({ parts, merchant }: { parts: AppParts; merchant: Merchant }) {
  const baseUrl = parts.runtime.baseUrl();
  const values = withPaymentDefaults({ identifier: 'order-1' }, { baseUrl, publicKey: merchant.publicKey });
  const call = parts.dialect.merchant.initiate('sandbox', values);
  return <Code id="sample" text={curlOf(call, baseUrl)} what="The command that initiates a payment" />;
}

/** Returns a command that creates a card as a merchant would. */
export function sampleCard({ runtime, dialect }: AppParts, { secretKey }: Merchant): string {
  const call = dialect.merchant.createCard(CARD_DEFAULTS);
  return curlOf(call, runtime.baseUrl(), secretKey);
}

/** Returns the curl command for a service call. @param secretKey sent as the bearer token */
export function curlOf({ path, form = {}, json }: ServiceCall, baseUrl: string, secretKey?: string): string {
  return [
    `curl ${shellWord(baseUrl + path)}`,
    ...(secretKey === undefined ? [] : [`-H ${quoted(`Authorization: Bearer ${secretKey}`)}`]),
    ...Object.entries(form).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(json ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(json))}`] : []),
  ].join(' \\\n  ');
}

interface Side {
  /** The first line, in short. */
  line: string;
  headers: Attempt['requestHeaders'];
  body: string | null;
  /** A remark for the user. */
  note?: Child;
}

/** A response next to its request. A string says why there is no response. */
interface Sides {
  request: Side;
  response: Side | string;
}

/** Maximum length of each body on a page with many bodies. */
const SHOWN_BODY = 8_192;

/**
 * Shows a response next to its request, both readable and raw.
 *
 * @param props `id`: the prefix of the ids of its parts; `name`: distinguishes it from others on the page, for screen
 *   readers; `limit`: the maximum length of a body
 */
export function BothSides(props: Sides & { id: string; name: string; curl?: string; limit?: number }) {
  const { id, name, request, response, curl, limit = SHOWN_BODY } = props;
  return (
    <div class="sides">
      <div class="side">
        <h3>Response</h3>
        {typeof response === 'string' ? (
          <p class="warning">{response}</p>
        ) : (
          <OneSide side={response} id={`${id}-response`} what={`response ${name}`} limit={limit} />
        )}
      </div>
      <div class="side">
        <h3>Request</h3>
        <OneSide side={request} id={`${id}-request`} what={`request ${name}`} limit={limit} />
        {curl !== undefined && (
          <FoldedCode
            id={`${id}-curl`}
            title="Copy as curl"
            code={`${id}-curl-text`}
            text={curl}
            what={`The curl command: request ${name}`}
          />
        )}
      </div>
    </div>
  );
}

/** The body alone can be copied if the page has all of it. */
function OneSide(props: { side: Side; id: string; what: string; limit: number }) {
  const { side, id, what, limit } = props;
  const { line, headers, body, note } = side;
  const cut = (text: string) => (text.length <= limit ? text : `${text.slice(0, limit)}…`);
  const isWhole = body !== null && body.length <= limit;
  const raw = (
    <>
      {[line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\n')}
      {'\n\n'}
      <span id={`${id}-body`}>{cut(body ?? '')}</span>
    </>
  );
  return (
    <>
      <Code
        text={body ? `${line}\n${cut(pretty(body))}` : line}
        what={capitalized(what)}
        copies={isWhole ? `${id}-body` : undefined}
        wraps
      />
      {note && <p class="soft">{note}</p>}
      {(body !== null || headers.length > 0) && (
        <FoldedCode id={id} title={`Raw ${what}`} text={raw} what={`Raw ${what}`} />
      )}
    </>
  );
}

export function recordedSides(recorded: RecordedRequest): { request: Side; response: Side } {
  const { method, target, requestHeaders, requestBody, status, responseBody } = recorded;
  return {
    request: { line: `${method} ${target}`, headers: Object.entries(requestHeaders), body: requestBody },
    response: { line: String(status), headers: [], body: responseBody },
  };
}

export function attemptSides(attempt: Omit<Attempt, 'deliveryId'>): Sides {
  const { url, requestHeaders, requestBody, responseStatus, responseHeaders, responseBody } = attempt;
  return {
    request: { line: `POST ${url}`, headers: requestHeaders, body: requestBody },
    response:
      responseStatus === null
        ? (errorOf(attempt) ?? 'no response')
        : { line: String(responseStatus), headers: responseHeaders, body: responseBody ?? '' },
  };
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
export function Languages(props: { of: Readonly<Record<string, string | undefined>>; id?: string }) {
  const { of, id = 'verdict' } = props;
  const codes = Object.entries(of);
  return (
    <fieldset class="languages">
      <legend class="unseen">Language</legend>
      {codes.map(([language], index) => (
        <>
          <input
            type="radio"
            name={`${id}-language`}
            id={`${id}-${language}`}
            value={language}
            checked={index === 0}
          />
          <label for={`${id}-${language}`}>{language}</label>
        </>
      ))}
      {codes.map(([language, code = '']) => (
        <Code id={`${id}-line-${language}`} text={code} what={`${language}: ${id}`} wraps />
      ))}
    </fieldset>
  );
}
