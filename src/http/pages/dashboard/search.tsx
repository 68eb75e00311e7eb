import type { Child } from 'hono/jsx';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Section } from './blocks.tsx';
import { CARDS } from './cards.tsx';
import { type List, Rows, textMatcher } from './list.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { listPath, PLACES, SEARCH } from './paths.ts';
import { PAYMENTS } from './payments.tsx';
import { REQUESTS } from './requests.tsx';

const SHOWN = 10;

/** Searches all records that have their own page. */
const searchPage: PageRenderer = ({ parts, query: { q = '' } }) => {
  const text = q.trim();
  const groups = text
    ? [found(PAYMENTS, text, parts), found(REQUESTS, text, parts), found(CARDS, text, parts)]
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

function found<Item extends object>(list: List<Item>, text: string, parts: AppDependencies): Child {
  const { place } = list;
  const matches = textMatcher(list.filter.texts, text);
  const rows: Item[] = [];
  for (const item of list.records(parts, {})) {
    if (rows.length > SHOWN) break;
    if (matches(item) && !list.filter.isOfAudit?.(item, parts)) rows.push(item);
  }
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
