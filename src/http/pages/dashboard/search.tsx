import { setImmediate } from 'node:timers/promises';
import type { Child } from 'hono/jsx';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import STYLES from '../assets/search.css?text';
import { Ago, Section, Short, ShortLink, Status } from './blocks.tsx';
import { CARD_TEXTS } from './cards.tsx';
import { Standing } from './delivery-columns.tsx';
import { IPN_TEXTS } from './ipns.tsx';
import {
  listPath,
  type Page,
  type PageRenderer,
  PLACES,
  type RecordPlace,
  recordPath,
  SEARCH,
} from './page.tsx';
import { PAYMENT_TEXTS } from './payments.tsx';
import { listedRequests, REQUEST_TEXTS, ResponseStatus, titleOf } from './requests.tsx';
import { clip, grouped } from './text.ts';
import { textMatcher } from './text-matcher.ts';

/** Maximum records shown of each kind. */
const SHOWN = 10;
/** Maximum records of each kind that are looked at, newest first. */
const LOOKED = 200_000;
/** Records that are looked at before others have their turn: a search must not hold up payments. */
const AT_ONCE = 5_000;

/** A record that was found, as a row. */
interface Found {
  id: string;
  title: string;
  status: Child;
  about: Child;
  at: string;
}

/** What was found in one place; `looked` is how many records were looked at, if not all. */
interface Finds {
  place: RecordPlace;
  found: Found[];
  isMore: boolean;
  looked: number | null;
}

/** Looks for a text in all that has a page of its own. */
export const searchPage: PageRenderer = async ({ parts, query: { q = '' } }): Promise<Page> => {
  const text = q.trim();
  const all: Finds[] = [];
  for (const look of text ? [inPayments, inIpns, inRequests, inCards] : []) all.push(await look(parts, text));
  const groups = all.filter(({ found }) => found.length > 0);
  const looked = Math.max(0, ...all.map((finds) => finds.looked ?? 0));
  const content = (
    <>
      <h1>{text ? `Results for “${text}”` : 'Search'}</h1>
      {groups.map((finds) => (
        <Group finds={finds} text={text} />
      ))}
      {groups.length === 0 && (
        <p class="box" id="no-result">
          {text
            ? 'No matches.'
            : 'Type an order, a customer’s name or e-mail, an amount, a receiver’s address, a path or a card.'}
        </p>
      )}
      {looked > 0 && <p class="soft">Of each kind the newest {grouped(looked)} were looked at.</p>}
    </>
  );
  return { place: null, path: SEARCH, title: 'Search', content, isStill: true, styles: STYLES, query: q };
};

async function inPayments(parts: AppParts, text: string): Promise<Finds> {
  const { payments } = parts.state.current;
  const finds = await find(payments, textMatcher(PAYMENT_TEXTS, text), (payment) => ({
    ...payment,
    title: payment.identifier,
    status: <Status of={payment.status} />,
    about: [shownAmount(parts, payment.amount, payment.currency), ` · ${clip(payment.customerName)}`],
    at: payment.createdAt,
  }));
  return { place: 'payments', ...finds };
}

async function inIpns(parts: AppParts, text: string): Promise<Finds> {
  const finds = await find(parts.state.current.deliveries, textMatcher(IPN_TEXTS, text), (delivery) => ({
    id: delivery.id,
    title: `IPN of ${delivery.identifier}`,
    status: <Standing delivery={delivery} parts={parts} isBrief />,
    about: <Short text={delivery.url} />,
    at: delivery.createdAt,
  }));
  return { place: 'ipns', ...finds };
}

async function inRequests(parts: AppParts, text: string): Promise<Finds> {
  const requests = listedRequests(parts);
  const backwards = (visit: (request: (typeof requests)[number], place: number) => boolean) =>
    void requests.every((request) => visit(request, request.id));
  const finds = await find({ backwards }, textMatcher(REQUEST_TEXTS, text), (request) => ({
    id: String(request.id),
    title: titleOf(request),
    status: <ResponseStatus of={request} />,
    about: <Short text={request.identifier} />,
    at: request.at,
  }));
  return { place: 'requests', ...finds };
}

async function inCards(parts: AppParts, text: string): Promise<Finds> {
  const finds = await find(parts.state.current.cards, textMatcher(CARD_TEXTS, text), (card) => ({
    ...card,
    status: <Status of={card.status} />,
    about: [shownAmount(parts, card.availableBalance, card.currency), ` · ${card.nameOnCard}`],
    at: card.createdAt,
  }));
  return { place: 'cards', ...finds };
}

/** @param records may change between two parts of them: each has its place for good */
async function find<Item>(
  records: { backwards: (visit: (item: Item, place: number) => boolean, before?: number) => void },
  matches: ((item: Item) => boolean) | undefined,
  rowOf: (item: Item) => Found,
): Promise<Omit<Finds, 'place'>> {
  const found: Found[] = [];
  let isMore = false;
  let isCut = false;
  let count = 0;
  let rest: number | undefined;
  const look = (item: Item, place: number) => {
    isCut = count === LOOKED;
    if (isCut) return false;
    count++;
    if (matches?.(item)) {
      isMore = found.length === SHOWN;
      if (!isMore) found.push(rowOf(item));
    }
    if (isMore || count % AT_ONCE) return !isMore;
    rest = place;
    return false;
  };
  do {
    const before = rest;
    rest = undefined;
    records.backwards(look, before);
    if (rest !== undefined) await setImmediate();
  } while (rest !== undefined);
  return { found, isMore, looked: isCut ? LOOKED : null };
}

function Group({ finds: { place, found, isMore }, text }: { finds: Finds; text: string }) {
  const { name } = PLACES[place];
  return (
    <Section id={place} title={name}>
      <ul class="results">
        {found.map(({ id, title, status, about, at }) => (
          <li>
            <ShortLink to={recordPath(place, id)} text={title} />
            {status}
            <span>{about}</span>
            <Ago at={at} />
          </li>
        ))}
      </ul>
      {isMore && <a href={listPath(place, { text })}>All that match in {name}</a>}
    </Section>
  );
}
