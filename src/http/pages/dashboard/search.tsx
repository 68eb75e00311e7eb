import type { Child } from 'hono/jsx';
import { setImmediate } from '../../../system/real-time.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Section } from './blocks.tsx';
import { CARDS } from './cards.tsx';
import { IPNS } from './ipns.tsx';
import { type List, Rows, textMatcher } from './list.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { listPath, PLACES, SEARCH } from './paths.ts';
import { PAYMENTS } from './payments.tsx';
import { REQUESTS } from './requests.tsx';

const SHOWN = 10;
/** The number of records to check before other requests get a turn: a search must not delay payments. */
const BATCH = 5_000;

/** Searches all records that have their own page. */
export const searchPage: PageRenderer = async ({ parts, query: { q = '' } }) => {
  const text = q.trim();
  const groups = text
    ? [
        await found(PAYMENTS, text, parts),
        await found(IPNS, text, parts),
        await found(REQUESTS, text, parts),
        await found(CARDS, text, parts),
      ]
    : [];
  const content = (
    <>
      <h1>{text ? `Results for “${text}”` : 'Search'}</h1>
      {groups}
      {groups.every((group) => group === null) && (
        <p class="box" id="no-result">
          {text
            ? 'No matches.'
            : 'Search for an order, a customer’s name or e-mail, an amount, a receiver’s address, a path or a card.'}
        </p>
      )}
    </>
  );
  return { place: null, path: SEARCH, title: 'Search', content, isStill: true, query: q };
};

async function found<Item extends object>(list: List<Item>, text: string, parts: AppParts): Promise<Child> {
  const { place } = list;
  const matches = textMatcher(list.filter?.texts ?? [], text);
  const records = list.records(parts);
  const rows: Item[] = [];
  let count = 0;
  let rest: number | undefined;
  const visit = (item: Item, at: number) => {
    if (matches?.(item)) rows.push(item);
    if (++count % BATCH === 0) rest = at;
    return rest === undefined && rows.length <= SHOWN;
  };
  do {
    // New records do not shift the others, because each keeps its place.
    const before = rest;
    rest = undefined;
    records.backwards(visit, before);
    if (rest !== undefined) await new Promise((resolve) => setImmediate(resolve));
  } while (rest !== undefined && rows.length <= SHOWN);
  if (rows.length === 0) return null;
  const { name } = PLACES[place];
  return (
    <Section id={place} title={name}>
      <div class="list">
        <Rows
          list={list}
          rows={rows.slice(0, SHOWN)}
          parts={parts}
          from={`${SEARCH}?${new URLSearchParams({ q: text })}`}
        />
      </div>
      {rows.length > SHOWN && <Link href={listPath(place, { text })}>All matches in {name}</Link>}
    </Section>
  );
}

export const SEARCH_PAGES: NounPages = {
  pages: { [SEARCH]: searchPage },
};
