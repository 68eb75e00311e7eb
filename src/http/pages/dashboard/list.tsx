import type { Child } from 'hono/jsx';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type Column, Status, Table } from './blocks.tsx';
import type { PageRenderer } from './page.tsx';
import { type FormValues, LISTS, listPath, PER_PAGE, PLACES, type Place } from './paths.ts';
import { capitalized, grouped } from './text.ts';

/** The filter of a list: one click selects a value, and each shows how many records have it. */
interface Choice<Item> {
  name: keyof Item & string;
  values: readonly string[];
  label: string;
  shown?: Readonly<Record<string, Child>>;
  /** Computes the values of an item. Default: the field itself. */
  of?: (item: Item, parts: AppDependencies) => readonly string[];
}

/** The definition of a list. */
export interface List<Item> {
  place: Place;
  /** The name of one record, in the singular. */
  noun: string;
  choice?: Choice<Item>;
  /** The fields in which the search looks for every word. */
  texts: readonly (keyof Item)[];
  /** Whether an audit made an item. These are collapsed. */
  isOfAudit?: (item: Item, parts: AppDependencies) => boolean;
  /** Shown next to the heading of a list that is not empty. */
  action?: Child;
  /** Shown between the heading and the list. */
  notice?: (parts: AppDependencies) => Child;
  /** Newest first. */
  records: (parts: AppDependencies, query: FormValues) => readonly Item[];
  /** @param from the page to return to */
  columns: (parts: AppDependencies, from: string, query: FormValues) => readonly Column<Item>[];
  /** Explains how to get a first record. */
  first: (parts: AppDependencies) => Child;
  below?: (parts: AppDependencies) => Child;
}

export function listPage<Item extends object>(list: List<Item>): PageRenderer {
  const { place, noun, choice } = list;
  const { name: title, path: unfiltered } = PLACES[place];
  return ({ parts, query: request }) => {
    const query = queryOf(request, list);
    const path = listPath(place, query);
    // The first page of the list with another filter, or another page.
    const to = (changes: FormValues) => listPath(place, { ...query, page: undefined, ...changes });
    const all = list.records(parts, query);
    const ofAudits = all.filter((item) => list.isOfAudit?.(item, parts));
    const hidden = new Set(query['audits'] === undefined ? ofAudits : []);
    const records = all.filter((item) => !hidden.has(item));
    const isEmpty = records.length === 0;
    const found = records.filter(matcher(list, query, parts));
    const page = Math.max(1, Number(query['page'] ?? 1));
    const start = (page - 1) * PER_PAGE;
    const end = Math.min(start + PER_PAGE, found.length);
    const id = `no-${noun}`;
    const content = (
      <>
        <div class="toolbar">
          <h1>{title}</h1>
          {!isEmpty && list.action}
          {!isEmpty && choice && (
            <Choices
              id={`${place}-${choice.name}`}
              choice={choice}
              chosen={query[choice.name] || undefined}
              to={(value) => to({ [choice.name]: value })}
              records={records}
              parts={parts}
            />
          )}
        </div>
        {list.notice?.(parts)}
        {query['text'] && (
          <p class="inline">
            Only matches of “{query['text']}”.
            <Link href={to({ text: undefined })}>Show all</Link>
            {LISTS.filter((other) => other !== place).map((other) => (
              <Link href={listPath(other, { text: query['text'] })}>Search in {PLACES[other].name}</Link>
            ))}
          </p>
        )}
        {end > start ? (
          <>
            <div class="box list" id={place}>
              <Table
                id={`${noun}-list`}
                label={`${capitalized(noun)}s, newest first`}
                columns={list.columns(parts, path, query)}
                rows={found.slice(start, end)}
              />
            </div>
            <p class="pages" id="pages">
              <span>
                {grouped(start + 1)}-{grouped(end)} of {grouped(found.length)}
              </span>
              {page > 1 && (
                <Link class="button plain" href={to({ page: page > 2 ? String(page - 1) : undefined })}>
                  Newer
                </Link>
              )}
              {end < found.length && (
                <Link class="button plain" href={to({ page: String(page + 1) })}>
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
        {ofAudits.length > 0 && (
          <p class="soft">
            {grouped(ofAudits.length)} from audits,{' '}
            <Link href={to({ audits: query['audits'] ? undefined : 'show' })}>
              {query['audits'] ? 'hide' : 'show'}
            </Link>
          </p>
        )}
        {list.below?.(parts)}
      </>
    );
    return { place, path, title, content, query: query['text'] };
  };
}

/** Reads the filter and the page of a list. A page that is not a number is ignored. */
function queryOf<Item>({ page, ...query }: FormValues, { choice }: List<Item>): FormValues {
  return {
    ...(choice && { [choice.name]: query[choice.name] }),
    text: query['text'],
    audits: query['audits'],
    page: page !== undefined && /^\d{1,10}$/.test(page) ? page : undefined,
  };
}

const valuesOf = <Item,>({ name, of }: Choice<Item>, item: Item, parts: AppDependencies) =>
  of ? of(item, parts) : [String(item[name])];

function matcher<Item>({ choice, texts }: List<Item>, query: FormValues, parts: AppDependencies) {
  const chosen = choice && query[choice.name];
  const hasText = textMatcher(texts, query['text']);
  return (item: Item) => (!chosen || valuesOf(choice, item, parts).includes(chosen)) && hasText(item);
}

/**
 * Links to the values of a choice, with the number of records that have each.
 *
 * @param props `to`: the path of the list with a value
 */
function Choices<Item>(props: {
  id: string;
  choice: Choice<Item>;
  chosen: string | undefined;
  to: (value: string | undefined) => string;
  records: readonly Item[];
  parts: AppDependencies;
}) {
  const { id, choice, chosen, to, records, parts } = props;
  const { values, label, shown } = choice;
  const counts: Record<string, number> = {};
  for (const item of records)
    for (const value of valuesOf(choice, item, parts)) counts[value] = (counts[value] ?? 0) + 1;
  return (
    <nav id={id} aria-label={label}>
      <ul class="counts">
        <li>
          <Link href={to(undefined)} aria-current={chosen === undefined ? 'true' : undefined}>
            <span class="number">{grouped(records.length)}</span> all
          </Link>
        </li>
        {values.map((value) => (
          <li>
            <Link href={to(value)} aria-current={value === chosen ? 'true' : undefined}>
              <span class="number">{grouped(counts[value] ?? 0)}</span>{' '}
              {shown?.[value] ?? <Status of={value} />}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Maximum number of distinct words in a search (chosen), because every record is searched for each. */
const MAX_WORDS = 10;

/** Matches items with every word of a text in some field, ignoring case. */
function textMatcher<Item>(fields: readonly (keyof Item)[], text = ''): (item: Item) => boolean {
  const distinct = [...new Set(text.toLowerCase().split(/\s+/).filter(Boolean))];
  const words = distinct.slice(0, MAX_WORDS).map((word) => [word, asAmount(word)] as const);
  if (words.length === 0) return () => true;
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
