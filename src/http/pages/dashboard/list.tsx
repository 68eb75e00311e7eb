import type { Child } from 'hono/jsx';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type Column, Status, Table } from './blocks.tsx';
import type { Beside, PageRenderer } from './page.tsx';
import {
  type FormValues,
  listPath,
  PER_PAGE,
  PLACES,
  type Place,
  type RecordPlace,
  recordPath,
} from './paths.ts';
import { capitalized, grouped } from './text.ts';

/** A filter of a list: one click selects a value. */
interface Choice<Item> {
  name: keyof Item & string;
  values: readonly string[];
  label: string;
  shown?: Readonly<Record<string, Child>>;
  /** Computes the values of an item. Default: the field itself. */
  of?: (item: Item, parts: AppDependencies) => readonly string[];
  /** Shows the number of records with each value. */
  isCounted?: true;
}

interface Filter<Item> {
  choices: readonly Choice<Item>[];
  /** The fields in which the search looks for every word. */
  texts: readonly (keyof Item)[];
  /** Whether an audit made an item. These are collapsed. */
  isOfAudit?: (item: Item, parts: AppDependencies) => boolean;
}

export interface Records<Item> {
  size: number;
  /** Visits records with their places, newest first, until `visit` returns false. */
  backwards: (visit: (item: Item, place: number) => boolean) => void;
}

/** The definition of a list. */
export interface List<Item> {
  place: Place;
  /** The name of one record, in the singular. */
  noun: string;
  filter: Filter<Item>;
  /** Shown next to the heading of a list that is not empty. @param from the page to return to */
  action?: (from: string, query: FormValues) => Child;
  /** Shown between the heading and the list. */
  notice?: (query: FormValues, parts: AppDependencies) => Child;
  records: (parts: AppDependencies, query: FormValues) => Records<Item>;
  /** @param from the page to return to */
  columns: (parts: AppDependencies, from: string, query: FormValues) => readonly Column<Item>[];
  /** Explains how to get a first record. */
  first: (parts: AppDependencies) => Child;
  below?: (parts: AppDependencies) => Child;
}

export function listPage<Item extends object>(list: List<Item>): PageRenderer {
  const { place, noun, filter } = list;
  const { name: title, path: unfiltered } = PLACES[place];
  return ({ parts, query: request }) => {
    const query = queryOf(request, filter);
    const path = listPath(place, query);
    const { records, audits } = withoutAudits(list, parts, query);
    const isEmpty = records.size === 0;
    const { data, start, total, newer, older } = partOf(
      records,
      query['cursor'],
      matcher(filter, query, parts),
    );
    const id = `no-${noun.toLowerCase()}`;
    const content = (
      <>
        <div class="toolbar">
          <h1>{title}</h1>
          {!isEmpty && list.action?.(path, query)}
          {!isEmpty &&
            filter.choices.map((choice) => (
              <Choices
                id={`${place}-${choice.name}`}
                choice={choice}
                chosen={query[choice.name] || undefined}
                to={(value) => listPath(place, { ...query, [choice.name]: value, cursor: undefined })}
                counts={choice.isCounted && countsOf(choice, records, parts)}
              />
            ))}
        </div>
        {list.notice?.(request, parts)}
        {query['text'] && (
          <p>
            Only matches of “{query['text']}”.{' '}
            <Link href={listPath(place, { ...query, text: undefined, cursor: undefined })}>Show all</Link>
          </p>
        )}
        {data.length > 0 ? (
          <>
            <div class="box list" id={place}>
              <Rows list={list} rows={data} parts={parts} from={path} query={query} />
            </div>
            <p class="pages" id="pages">
              <span>
                {grouped(start + 1)}-{grouped(start + data.length)} of {grouped(total)}
              </span>
              {newer && (
                <Link class="button plain" href={listPath(place, { ...query, ...newer })}>
                  Newer
                </Link>
              )}
              {older && (
                <Link class="button plain" href={listPath(place, { ...query, ...older })}>
                  Older
                </Link>
              )}
            </p>
          </>
        ) : isEmpty ? (
          <section class="box" id={id} aria-labelledby="none">
            <h2 id="none">No {noun}s yet</h2>
            {list.first(parts)}
          </section>
        ) : (
          <p class="box" id={id}>
            No matches. <Link href={unfiltered}>Clear filters</Link>
          </p>
        )}
        {audits > 0 && (
          <p class="soft">
            {grouped(audits)} from audits,{' '}
            <Link
              href={listPath(place, {
                ...query,
                cursor: undefined,
                audits: query['audits'] ? undefined : 'show',
              })}
            >
              {query['audits'] ? 'hide' : 'show'}
            </Link>
          </p>
        )}
        {list.below?.(parts)}
      </>
    );
    return { place, path, title, content };
  };
}

/** @returns the records to show, and the number of all that audits made */
function withoutAudits<Item>({ records, filter }: List<Item>, parts: AppDependencies, query: FormValues) {
  const all = records(parts, query);
  const { isOfAudit } = filter;
  let audits = 0;
  if (isOfAudit) {
    all.backwards((item) => {
      if (isOfAudit(item, parts)) audits++;
      return true;
    });
  }
  if (!isOfAudit || audits === 0 || query['audits'] !== undefined) return { records: all, audits };
  const others: Records<Item> = {
    size: all.size - audits,
    backwards: (visit) => all.backwards((item, place) => isOfAudit(item, parts) || visit(item, place)),
  };
  return { records: others, audits };
}

/** @param query the filter of the list that links to the record's page */
export function besideIn<Item extends { id: string }>(
  list: List<Item>,
  { parts, id, query: request }: Parameters<PageRenderer>[0],
  place: RecordPlace,
): Beside {
  const query = queryOf(request, list.filter);
  const matches = matcher(list.filter, query, parts);
  let newer: string | undefined;
  let older: string | undefined;
  let isFound = false;
  withoutAudits(list, parts, query).records.backwards((item) => {
    if (item.id === id) isFound = true;
    else if (!matches || matches(item)) {
      if (isFound) older = item.id;
      else newer = item.id;
    }
    return older === undefined;
  });
  const pathOf = (of: string | undefined) =>
    of === undefined || !isFound ? undefined : recordPath(place, of, listPath(list.place, query));
  return { newer: pathOf(newer), older: pathOf(older) };
}

/** Shows records of a list as a table. @param props `from`: the page to return to */
export function Rows<Item extends object>(props: {
  list: List<Item>;
  rows: readonly Item[];
  parts: AppDependencies;
  from: string;
  query?: FormValues;
}) {
  const { list, rows, parts, from, query = {} } = props;
  const { noun, columns } = list;
  return (
    <Table
      id={`${noun.toLowerCase()}-list`}
      label={`${capitalized(noun)}s, newest first`}
      columns={columns(parts, from, query)}
      rows={rows}
    />
  );
}

/**
 * Returns the part of a list that begins at a cursor. A cursor is a place, so new records do not shift the part.
 *
 * @param wanted selects records; undefined for all
 */
function partOf<Item>(
  records: Records<Item>,
  cursor: string | undefined,
  wanted: ((item: Item) => boolean) | undefined,
) {
  const found: { item: Item; place: number }[] = [];
  let start = 0;
  records.backwards((item, place) => {
    // Without a filter there is nothing to count.
    if (!wanted && found.length > start + PER_PAGE) return false;
    if (wanted && !wanted(item)) return true;
    if (cursor !== undefined && place >= Number(cursor)) start++;
    found.push({ item, place });
    return true;
  });
  const end = start + PER_PAGE;
  /** The cursor of the part that begins with this record: undefined for the newest. */
  const cursorAt = (index: number) => (index > 0 ? String((found[index]?.place ?? 0) + 1) : undefined);
  return {
    data: found.slice(start, end).map(({ item }) => item),
    start,
    total: wanted ? found.length : records.size,
    newer: start > 0 && { cursor: cursorAt(start - PER_PAGE) },
    older: found.length > end && { cursor: cursorAt(end) },
  };
}

/** Reads the filter and the cursor of a list. A cursor that is not a number is ignored. */
function queryOf<Item>({ cursor, ...query }: FormValues, { choices }: Filter<Item>): FormValues {
  const names = [...choices.map(({ name }) => name), 'text', 'audits'];
  return {
    ...Object.fromEntries(names.map((name) => [name, query[name]])),
    cursor: cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined,
  };
}

const valuesOf = <Item,>({ name, of }: Choice<Item>, item: Item, parts: AppDependencies) =>
  of ? of(item, parts) : [String(item[name])];

/** Returns undefined if no filter is set. */
function matcher<Item>({ choices, texts }: Filter<Item>, query: FormValues, parts: AppDependencies) {
  const chosen = choices.filter(({ name }) => query[name]);
  const hasText = textMatcher(texts, query['text']);
  if (chosen.length === 0 && !hasText) return undefined;
  return (item: Item) =>
    chosen.every((choice) => valuesOf(choice, item, parts).includes(query[choice.name] ?? '')) &&
    (hasText?.(item) ?? true);
}

/**
 * Links to the values of a choice.
 *
 * @param props `to`: the path of the list with a value; `counts`: the number of all records, and by value
 */
function Choices<Item>(props: {
  id: string;
  choice: Choice<Item>;
  chosen: string | undefined;
  to: (value: string | undefined) => string;
  counts: { all: number; of: Readonly<Record<string, number>> } | undefined;
}) {
  const { id, choice, chosen, to, counts } = props;
  const { values, label, shown } = choice;
  return (
    <nav id={id} aria-label={label}>
      <ul class="counts">
        {counts && (
          <li>
            <Link href={to(undefined)} aria-current={chosen === undefined ? 'true' : undefined}>
              <span class="number">{grouped(counts.all)}</span> all
            </Link>
          </li>
        )}
        {values.map((value) => (
          <li>
            {/* A click on the selected value deselects it. */}
            <Link
              href={to(value === chosen && !counts ? undefined : value)}
              aria-current={value === chosen ? 'true' : undefined}
            >
              {counts && [<span class="number">{grouped(counts.of[value] ?? 0)}</span>, ' ']}
              {shown?.[value] ?? (counts ? <Status of={value} /> : value)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function countsOf<Item>(choice: Choice<Item>, records: Records<Item>, parts: AppDependencies) {
  const counts: Record<string, number> = {};
  records.backwards((item) => {
    for (const value of valuesOf(choice, item, parts)) counts[value] = (counts[value] ?? 0) + 1;
    return true;
  });
  return { all: records.size, of: counts };
}

/** Maximum number of distinct words in a search (chosen), because every record is searched for each. */
const MAX_WORDS = 10;

/** Matches items with every word of a text in some field, ignoring case; undefined without words. */
export function textMatcher<Item>(
  fields: readonly (keyof Item)[],
  text = '',
): ((item: Item) => boolean) | undefined {
  const distinct = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))];
  const words = distinct.slice(0, MAX_WORDS).map((word) => [word, asAmount(word)] as const);
  if (words.length === 0) return undefined;
  return (item) => {
    // Words contain no line feeds, so no match spans two fields.
    let texts = '';
    for (const name of fields) texts += `${item[name] ?? ''}\n`;
    texts = texts.toLowerCase();
    return words.every(([word, amount]) => texts.includes(word) || texts.includes(amount));
  };
}

/** Converts an amount from its format on pages to its format in records: `$1,250.00` to 1250.00. */
function asAmount(word: string): string {
  const [, digits] = /^[^\p{L}\d]?(\d[\d,]*(?:\.\d+)?)$/u.exec(word) ?? [];
  return digits?.replaceAll(',', '') ?? word;
}
