import type { Child } from 'hono/jsx';
import type { AppParts } from '../../environment.ts';
import { below, Link } from '../layout.tsx';
import { type Column, type RowKey, Status, Table } from './blocks.tsx';
import { Field } from './forms.tsx';
import type { PageRenderer } from './page.tsx';
import { type FormValues, listPath, PER_PAGE, PLACES, type Place } from './paths.ts';
import { capitalized, grouped } from './text.ts';

/** A field that filters a list: one click selects a value. */
interface Choice<Item> {
  name: keyof Item & string;
  values: readonly string[];
  label: string;
  shown?: Readonly<Record<string, string>>;
  /** Computes the value, if it is not the field itself. */
  of?: (item: Item, parts: AppParts) => string;
  /** Shows the number of records with each value. */
  isCounted?: true;
}

interface Filter<Item> {
  choices: readonly Choice<Item>[];
  /** The fields in which every typed word is searched. */
  texts: readonly (keyof Item)[];
  hint: string;
  /** Other query parameters, for `records` and `notice`. */
  fields?: readonly string[];
}

interface Records<Item> {
  size: number;
  /** Visits records with their places, newest first, until `visit` returns false. */
  backwards: (visit: (item: Item, place: number) => boolean) => void;
}

/** The definition of a list. */
export interface List<Item> {
  place: Place;
  /** The name of one record, in the singular. */
  noun: string;
  intro?: string;
  filter?: Filter<Item>;
  /** Shown next to the heading of a list that is not empty. @param from the page to return to */
  action?: (from: string) => Child;
  notice?: (query: FormValues, parts: AppParts) => Child;
  /** @param query the list's query parameters; omitted for all records */
  records: (parts: AppParts, query?: FormValues) => Records<Item>;
  tableId?: string;
  /** @param from the page to return to */
  columns: (parts: AppParts, from: string) => readonly Column<Item>[];
  keyOf?: (item: Item) => RowKey;
  /** Explains how to get a first record. */
  first: (parts: AppParts) => Child;
  below?: (parts: AppParts) => Child;
}

export function listPage<Item extends object>(list: List<Item>): PageRenderer {
  const { place, noun, filter, intro } = list;
  const { name: title, path: unfiltered } = PLACES[place];
  return ({ parts, query: request }) => {
    const query = queryOf(request, filter);
    const path = listPath(place, query);
    const records = list.records(parts, query);
    const isEmpty = records.size === 0;
    const part = partOf(records, query['cursor'], filter && matcher(filter, query, parts));
    const { data, start, total, newer, older } = part;
    const id = `no-${noun.toLowerCase()}`;
    const content = (
      <>
        <div class="toolbar">
          <h1>{title}</h1>
          {!isEmpty && list.action?.(path)}
          {!isEmpty && filter && (
            <>
              {filter.choices.map((choice) => (
                <Choices
                  id={`${place}-${choice.name}`}
                  choice={choice}
                  chosen={query[choice.name] || undefined}
                  to={(value) => listPath(place, { ...query, [choice.name]: value, cursor: undefined })}
                  counts={choice.isCounted && countsOf(choice, records, parts)}
                />
              ))}
              <FilterByText place={place} query={query} hint={filter.hint} />
            </>
          )}
        </div>
        {list.notice?.(request, parts)}
        {intro && <p class="soft">{intro}</p>}
        {data.length > 0 ? (
          <>
            <div class="box list" id={place}>
              <Rows list={list} rows={data} parts={parts} from={path} />
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
          <section class="box" id={filter ? `${id}-yet` : id} aria-labelledby="none">
            <h2 id="none">No {noun} yet</h2>
            {list.first(parts)}
          </section>
        ) : (
          <p class="box" id={id}>
            No matches. <Link href={unfiltered}>Clear filters</Link>
          </p>
        )}
        {list.below?.(parts)}
      </>
    );
    return { place, path, title, content };
  };
}

/** Shows records of a list as a table. @param props `from`: the page to return to */
export function Rows<Item extends object>(props: {
  list: List<Item>;
  rows: readonly Item[];
  parts: AppParts;
  from: string;
}) {
  const { noun, columns, keyOf, tableId = `${noun.toLowerCase()}-list` } = props.list;
  return (
    <Table
      id={tableId}
      label={`${capitalized(noun)}s, newest first`}
      columns={columns(props.parts, props.from)}
      rows={props.rows}
      keyOf={keyOf}
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
function queryOf<Item>({ cursor, ...query }: FormValues, filter?: Filter<Item>): FormValues {
  const names = filter ? [...filter.choices.map(({ name }) => name), 'text', ...(filter.fields ?? [])] : [];
  return {
    ...Object.fromEntries(names.map((name) => [name, query[name]])),
    cursor: cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined,
  };
}

/** Returns undefined if no filter is set. */
function matcher<Item>({ choices, texts }: Filter<Item>, query: FormValues, parts: AppParts) {
  const chosen = choices.filter(({ name }) => query[name]);
  const hasText = textMatcher(texts, query['text']);
  if (chosen.length === 0 && !hasText) return undefined;
  return (item: Item) =>
    chosen.every(({ name, of }) => item[name] === query[name] || of?.(item, parts) === query[name]) &&
    (hasText?.(item) ?? true);
}

/** Without the script, the user presses Enter. */
function FilterByText({ place, query, hint }: { place: Place; query: FormValues; hint: string }) {
  const { name: title, path } = PLACES[place];
  return (
    <search aria-label={title}>
      <form class="narrow" method="get" action={below(path)} aria-label="Filter">
        {Object.entries({ ...query, text: undefined, cursor: undefined }).map(
          ([name, value]) => value && <input type="hidden" name={name} value={value} />,
        )}
        <Field name="text" label="Text" value={query['text'] ?? ''} placeholder={hint} />
        <button type="submit" class="plain">
          Filter
        </button>
      </form>
    </search>
  );
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

function countsOf<Item>({ name, of }: Choice<Item>, records: Records<Item>, parts: AppParts) {
  const counts: Record<string, number> = {};
  records.backwards((item) => {
    const value = of ? of(item, parts) : String(item[name]);
    counts[value] = (counts[value] ?? 0) + 1;
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
  const words = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))].slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  return (item) => {
    // Words contain no line feeds, so no match spans two fields.
    const texts = fields
      .map((name) => item[name] ?? '')
      .join('\n')
      .toLowerCase();
    return words.every((word) => texts.includes(word) || texts.includes(asAmount(word)));
  };
}

/** Converts an amount from its format on pages to its format in records: `$1,250.00` to 1250.00. */
function asAmount(word: string): string {
  const [, digits] = /^[^\p{L}\d]?(\d[\d,]*(?:\.\d+)?)$/u.exec(word) ?? [];
  return digits?.replaceAll(',', '') ?? word;
}
