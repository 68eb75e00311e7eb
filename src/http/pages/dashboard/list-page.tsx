import type { Child } from 'hono/jsx';
import type { Page as Listed } from '../../../domain/collection.ts';
import type { AppParts } from '../../environment.ts';
import { Field, Given } from './forms.tsx';
import { type FormValues, listPath, type PageRenderer, PER_PAGE, PLACES, type Place } from './page.tsx';
import { type Column, type RowKey, Table } from './table.tsx';
import { capitalized } from './text.ts';

/** What a list can be narrowed to. */
interface Filter<Item> {
  /** Fields, with the values that can be chosen. */
  choices: readonly (readonly [name: keyof Item & string, values: readonly string[]])[];
  /** Fields of which one must hold what was typed, in any case. */
  texts: readonly (keyof Item)[];
  hint: string;
}

/** What tells a list from the others. */
interface ListParts<Item> {
  place: Place;
  /** What one of its records is called. */
  noun: string;
  intro?: string;
  filter?: Filter<Item>;
  /** Stands beside the heading of a list that is not empty. */
  action?: () => Child;
  /** Stands over the filter. */
  overview?: (parts: AppParts, query: FormValues) => Child;
  records: (parts: AppParts) => {
    size: number;
    page: (limit: number, cursor: string | undefined, wanted: (item: Item) => boolean) => Listed<Item>;
  };
  tableId?: string;
  /** @param from the address of the page, to come back to */
  columns: (parts: AppParts, from: string) => readonly Column<Item>[];
  keyOf?: (item: Item) => RowKey;
  /** How to get the first record. */
  first: (parts: AppParts) => Child;
  below?: (parts: AppParts) => Child;
}

export function listPage<Item extends object>(list: ListParts<Item>): PageRenderer {
  const { place, noun, filter, tableId = `${noun.toLowerCase()}-list`, keyOf } = list;
  const { name: title, path: home } = PLACES[place];
  const nothing = `no-${noun.toLowerCase()}`;
  const label = `${capitalized(noun)}s, newest first`;
  return ({ parts, query: asked }) => {
    const query = queryOf(asked, filter);
    const path = listPath(place, query);
    const records = list.records(parts);
    const { data, nextCursor } = records.page(PER_PAGE, query['cursor'], matcher(filter, query));
    const isFiltered = filter && records.size > 0;
    const content = (
      <>
        {list.action && records.size > 0 ? (
          <div class="heading">
            <h1>{title}</h1>
            {list.action()}
          </div>
        ) : (
          <h1>{title}</h1>
        )}
        {list.intro && <p class="soft">{list.intro}</p>}
        {isFiltered && list.overview?.(parts, query)}
        {isFiltered && <FilterForm path={home} filter={filter} query={query} />}
        {data.length > 0 ? (
          <div class="box" id={place}>
            <Table id={tableId} label={label} columns={list.columns(parts, path)} rows={data} keyOf={keyOf} />
          </div>
        ) : isFiltered ? (
          <p class="box" id={nothing}>
            No {noun} fits. <a href={home}>Show all</a>
          </p>
        ) : (
          <section class="box empty" id={filter ? `${nothing}-yet` : nothing} aria-labelledby="none">
            <h2 id="none">No {noun} yet</h2>
            {list.first(parts)}
          </section>
        )}
        <Pages place={place} query={query} next={nextCursor} />
        {list.below?.(parts)}
      </>
    );
    return { place, path, title, content };
  };
}

function Pages({ place, query, next }: { place: Place; query: FormValues; next: string | null }) {
  const isFirst = query['cursor'] === undefined;
  if (next === null && isFirst) return null;
  return (
    <p class="pages" id="pages">
      {!isFirst && <a href={listPath(place, { ...query, cursor: undefined })}>Newest</a>}
      {next !== null && <a href={listPath(place, { ...query, cursor: next })}>Older ones</a>}
    </p>
  );
}

/** What a list is asked for: its filter and its cursor, which makes no sense unless it is a number. */
function queryOf<Item>({ cursor, ...query }: FormValues, filter?: Filter<Item>): FormValues {
  const names = filter ? [...filter.choices.map(([name]) => name), 'text'] : [];
  return {
    ...Object.fromEntries(names.map((name) => [name, query[name]])),
    cursor: cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined,
  };
}

function matcher<Item>(filter: Filter<Item> | undefined, query: FormValues): (item: Item) => boolean {
  if (!filter) return () => true;
  const wanted = query['text']?.trim().toLowerCase();
  return (item) =>
    filter.choices.every(([name]) => !query[name] || item[name] === query[name]) &&
    (!wanted || filter.texts.some((name) => `${item[name] ?? ''}`.toLowerCase().includes(wanted)));
}

function FilterForm<Item>({
  path,
  filter,
  query,
}: {
  path: string;
  filter: Filter<Item>;
  query: FormValues;
}) {
  return (
    <search>
      <form class="form" method="get" action={path} aria-label="Filter">
        <Given.Provider value={query}>
          {filter.choices.map(([name, values]) => (
            <Field name={name} label={capitalized(name)} value="" options={[['', 'any'], ...values]} />
          ))}
          <Field name="text" label="Text" value="" placeholder={filter.hint} />
        </Given.Provider>
        <button type="submit" class="plain">
          Filter
        </button>
      </form>
    </search>
  );
}
