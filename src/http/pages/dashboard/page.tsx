import { type Child, createContext } from 'hono/jsx';
import type { GatewayError } from '../../../contract/error.ts';
import { type HintStyle, PLAIN } from '../../../contract/hint.ts';
import type { AppParts } from '../../environment.ts';

/** Where the dashboard's script and its other pages are. */
export const UI = '/_sim/ui';

/** Maximum records on a page of a list. */
export const PER_PAGE = 50;

/** The places of the navigation, in their order. */
export const PLACES = {
  payments: { name: 'Payments', path: '/_sim' },
  ipns: { name: 'IPNs', path: `${UI}/ipns` },
  cards: { name: 'Cards', path: `${UI}/cards` },
  keys: { name: 'Api Key', path: `${UI}/keys` },
  requests: { name: 'Requests', path: `${UI}/requests` },
  audit: { name: 'Audit', path: `${UI}/audit` },
  wallets: { name: 'Wallets', path: `${UI}/wallets` },
  inbox: { name: 'Inbox', path: `${UI}/inbox` },
  signature: { name: 'Signature', path: `${UI}/signature` },
  faults: { name: 'Faults', path: `${UI}/faults` },
  clock: { name: 'Clock', path: `${UI}/clock` },
  reference: { name: 'API reference', path: `${UI}/reference` },
} as const;
export type Place = keyof typeof PLACES;

export function listPath(place: Place, query: FormValues): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { path } = PLACES[place];
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The places whose records have pages. */
export type RecordPlace = 'payments' | 'ipns' | 'cards' | 'requests';

export function recordPath(place: RecordPlace, id: string | number): string {
  return `${UI}/${place}/${id}`;
}

export interface Page {
  place: Place;
  path: string;
  title: string;
  content: Child;
  /** Nothing on it changes by what happens. */
  isStill?: boolean;
  /** Styles of this page alone. */
  styles?: string;
}

/** What a form was given, or a list is narrowed to, by field. */
export type FormValues = Readonly<Record<string, string | undefined>>;

/** What was posted where and refused, to be posted again. */
export interface PostedForm {
  to: string;
  given: FormValues;
  /** What was wrong with it. */
  error?: GatewayError;
}

/** What reaches every part of a page; `style` is how commands are written. */
export const PageContext = createContext<{ style: HintStyle; posted?: PostedForm | undefined }>({
  style: PLAIN,
});

/** What a page is made from: the query of its address, and the record in it. */
export interface PageRequest {
  parts: AppParts;
  query: FormValues;
  id: string;
}

/** @throws GatewayError `not_found` for a record that does not exist */
export type PageRenderer = (request: PageRequest) => Page | Promise<Page>;

export function pageAt(place: Place, content: Child): Page {
  const { name: title, path } = PLACES[place];
  return { place, path, title, content };
}

interface Heading {
  title: string;
  /** An amount that matters more than the other facts. */
  sum?: string;
  status: Child;
}

/** The page of one record: its heading, the way back to the list, and its sections. */
export function recordPage(place: RecordPlace, id: string | number, heading: Heading, sections: Child): Page {
  const { title, sum, status } = heading;
  const content = (
    <>
      <div class="heading">
        <h1>{title}</h1>
        {sum !== undefined && <span class="sum">{sum}</span>}
        {status}
        <a class="back" href={PLACES[place].path}>
          Back to the list
        </a>
      </div>
      {sections}
    </>
  );
  return { place, path: recordPath(place, id), title, content };
}
