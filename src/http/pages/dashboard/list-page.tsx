import type { Child } from 'hono/jsx';
import type { AppParts } from '../../environment.ts';
import { Status } from './blocks.tsx';
import { Field } from './forms.tsx';
import { type FormValues, listPath, type PageRenderer, PER_PAGE, PLACES, type Place } from './page.tsx';
import { type Backwards, type Slice, sliceOf } from './slice.ts';
import { type Column, type RowKey, Table } from './table.tsx';
import { capitalized, grouped } from './text.ts';

/** A field that filters a list: one click selects a value. */
interface Choice<Item> {
  name: keyof Item & string;
  values: readonly string[];
  label: string;
  /** Labels for the values. */
  shown?: Readonly<Record<string, string>>;
  /** Computes the value, if it is not the field itself. */
  of?: (item: Item, parts: AppParts) => string;
  /** Shows the number of records with each value. */
  isCounted?: true;
}

/** The filters of a list. */
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
  values: () => Iterable<Item>;
  backwards: Backwards<Item>;
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
  /** The notice above the list. */
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
  const { place, filter } = list;
  const { name: title } = PLACES[place];
  return ({ parts, query: request }) => {
    const query = queryOf(request, filter);
    const path = listPath(place, query);
    const records = list.records(parts, query);
    const { size } = records;
    const wanted = filter && matcher(filter, query, parts);
    const slice = sliceOf(
      (visit) => records.backwards(visit),
      { limit: PER_PAGE, cursor: query['cursor'], wanted },
      size,
    );
    const content = (
      <>
        <div class="toolbar">
          <h1>{title}</h1>
          {size > 0 && list.action?.(path)}
          {filter && size > 0 && (
            <Filters place={place} filter={filter} query={query} records={records} parts={parts} />
          )}
        </div>
        {list.notice?.(request, parts)}
        {list.intro && <p class="soft">{list.intro}</p>}
        {slice.data.length > 0 ? (
          <div class="box list" id={place}>
            <Rows list={list} rows={slice.data} parts={parts} from={path} />
          </div>
        ) : (
          <Nothing list={list} parts={parts} isNarrowed={size > 0} />
        )}
        <Pages place={place} query={query} slice={slice} />
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

function Nothing<Item>(props: { list: List<Item>; parts: AppParts; isNarrowed: boolean }) {
  const { place, noun, filter, first } = props.list;
  const id = `no-${noun.toLowerCase()}`;
  if (props.isNarrowed) {
    return (
      <p class="box" id={id}>
        No matches. <a href={PLACES[place].path}>Clear filters</a>
      </p>
    );
  }
  return (
    <section class="box" id={filter ? `${id}-yet` : id} aria-labelledby="none">
      <h2 id="none">No {noun} yet</h2>
      {first(props.parts)}
    </section>
  );
}

/** Shows the range of the visible records, and links to the others. */
function Pages<Item>({ place, query, slice }: { place: Place; query: FormValues; slice: Slice<Item> }) {
  const { data, before, total, isCounted, newer, older } = slice;
  if (data.length === 0) return null;
  const to = (cursor: string) => listPath(place, { ...query, cursor: cursor || undefined });
  return (
    <p class="pages" id="pages">
      <span>
        {grouped(before + 1)}-{grouped(before + data.length)} of {isCounted ? '' : 'more than '}
        {grouped(total)}
      </span>
      {newer !== null && (
        <a class="button plain" href={to(newer)}>
          Newer
        </a>
      )}
      {older !== null && (
        <a class="button plain" href={to(older)}>
          Older
        </a>
      )}
    </p>
  );
}

/** Reads the filter and the cursor of a list. A cursor that is not a number is ignored. */
function queryOf<Item>({ cursor, ...query }: FormValues, filter?: Filter<Item>): FormValues {
  const names = filter ? [...filter.choices.map(({ name }) => name), 'text', ...(filter.fields ?? [])] : [];
  return {
    ...Object.fromEntries(names.map((name) => [name, query[name]])),
    cursor: cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined,
  };
}

/** Counts the records with each value. */
function countsOf<Item>({ name, of }: Choice<Item>, records: Records<Item>, parts: AppParts) {
  const counts: Record<string, number> = {};
  for (const item of records.values()) {
    const value = of ? of(item, parts) : String(item[name]);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
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

interface FiltersProps<Item> {
  place: Place;
  filter: Filter<Item>;
  query: FormValues;
  records: Records<Item>;
  parts: AppParts;
}

/** Choices are links. Without the script, the user presses Enter to apply the text filter. */
function Filters<Item>({ place, filter, query, records, parts }: FiltersProps<Item>) {
  const { choices, hint } = filter;
  return (
    <>
      {choices.map((choice) => (
        <Choices place={place} choice={choice} query={query} records={records} parts={parts} />
      ))}
      <search aria-label={PLACES[place].name}>
        <form class="narrow" method="get" action={PLACES[place].path} aria-label="Filter">
          {Object.entries({ ...query, text: undefined, cursor: undefined }).map(
            ([name, value]) => value && <input type="hidden" name={name} value={value} />,
          )}
          <Field name="text" label="Text" value={query['text'] ?? ''} placeholder={hint} />
          <button type="submit" class="plain">
            Filter
          </button>
        </form>
      </search>
    </>
  );
}

function Choices<Item>(props: Omit<FiltersProps<Item>, 'filter'> & { choice: Choice<Item> }) {
  const { place, query, choice, records, parts } = props;
  const { name, values, label, shown, isCounted } = choice;
  const counts = isCounted && countsOf(choice, records, parts);
  const chosen = query[name] || undefined;
  const to = (value: string | undefined) => listPath(place, { ...query, [name]: value, cursor: undefined });
  return (
    <nav id={`${place}-${name}`} aria-label={label}>
      <ul class="counts">
        {counts && (
          <li>
            <a href={to(undefined)} aria-current={chosen === undefined ? 'true' : undefined}>
              <span class="number">{grouped(records.size)}</span> all
            </a>
          </li>
        )}
        {values.map((value) => (
          <li>
            {/* A click on the selected value deselects it. */}
            <a
              href={to(value === chosen && !counts ? undefined : value)}
              aria-current={value === chosen ? 'true' : undefined}
            >
              {counts && [<span class="number">{grouped(counts[value] ?? 0)}</span>, ' ']}
              {shown?.[value] ?? (counts ? <Status of={value} /> : value)}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
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
