import type { Child } from 'hono/jsx';
import type { AppContext } from '../../environment.ts';
import { Fields } from './forms.tsx';
import { type ListQuery, listPath, PLACES, type Place } from './navigation.ts';
import type { Page } from './page.tsx';
import { Table, type TableParts } from './table.tsx';

/** What a list is made of. */
export interface ListParts<Item> {
  place: Place;
  query: ListQuery;
  intro?: string;
  /** What stands over the table: charts, the filter. */
  tools?: Child;
  /** Of the box around the table. */
  id: string;
  table: Pick<TableParts<Item>, 'id' | 'label' | 'columns' | 'keyOf'>;
  page: { data: readonly Item[]; nextCursor: string | null };
  /** Instead of a table without rows. */
  empty: Child;
  below?: Child;
}

/** The page of a list: every noun has one, and they differ by their parts only. */
export function listPage<Item extends object>(list: ListParts<Item>): Page {
  const { place, query, table, page } = list;
  const title = PLACES[place].name;
  const content = (
    <>
      <h1>{title}</h1>
      {list.intro && <p class="soft">{list.intro}</p>}
      {list.tools}
      {page.data.length > 0 ? (
        <div class="box" id={list.id}>
          <Table {...table} rows={page.data} />
        </div>
      ) : (
        list.empty
      )}
      <Pages place={place} query={query} next={page.nextCursor} />
      {list.below}
    </>
  );
  return { place, path: listPath(place, query), title, content };
}

/** Leads through the pages of a list. */
function Pages({ place, query, next }: { place: Place; query: ListQuery; next: string | null }) {
  const isFirst = query['cursor'] === undefined;
  if (next === null && isFirst) return null;
  return (
    <p class="pages" id="pages">
      {!isFirst && <a href={listPath(place, { ...query, cursor: undefined })}>Newest</a>}
      {next !== null && <a href={listPath(place, { ...query, cursor: next })}>Older ones</a>}
    </p>
  );
}

/** What stands where nothing was ever listed: how to change that. */
export function Empty({ id, title, children }: { id: string; title: string; children: Child }) {
  return (
    <section class="box empty" id={id} aria-labelledby="none">
      <h2 id="none">{title}</h2>
      {children}
    </section>
  );
}

/** What stands where the filter leaves nothing. */
export function NoMatch({ id, what, place }: { id: string; what: string; place: Place }) {
  return (
    <p class="box" id={id}>
      No {what} fits. <a href={PLACES[place].path}>Show all</a>
    </p>
  );
}

/** What a list can be narrowed to. */
export interface Filter<Item> {
  /** Fields of a record, and the values that can be chosen. */
  choices: readonly { name: keyof Item & string; label: string; options: readonly string[] }[];
  /** Texts of a record; one of them must hold what was typed, in any case. */
  texts: (item: Item) => readonly string[];
  hint: string;
}

/** What a list is asked for: its filter and its cursor, which makes no sense unless it is a number. */
export function queryOf<Item>(c: AppContext, filter?: Filter<Item>): ListQuery {
  const { cursor, ...query } = c.req.query();
  const names = filter ? [...filter.choices.map(({ name }) => name), 'text'] : [];
  return {
    ...Object.fromEntries(names.map((name) => [name, query[name]])),
    cursor: cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined,
  };
}

/** Whether a record is in a list that is narrowed so. */
export function matcher<Item>({ choices, texts }: Filter<Item>, query: ListQuery): (item: Item) => boolean {
  const wanted = query['text']?.trim().toLowerCase();
  return (item) =>
    choices.every(({ name }) => !query[name] || item[name] === query[name]) &&
    (!wanted || texts(item).some((text) => text.toLowerCase().includes(wanted)));
}

export function FilterForm<Item>(props: { place: Place; filter: Filter<Item>; query: ListQuery }) {
  const { place, filter, query } = props;
  const choices = filter.choices.map(({ options, ...choice }) => ({
    ...choice,
    value: query[choice.name] ?? '',
    options: [['', 'any'] as const, ...options],
  }));
  const text = { name: 'text', label: 'Text', value: query['text'] ?? '', placeholder: filter.hint };
  return (
    <search>
      <form class="form" method="get" action={PLACES[place].path} aria-label="Filter">
        <Fields fields={[...choices, text]} />
        <button type="submit" class="plain">
          Filter
        </button>
      </form>
    </search>
  );
}
