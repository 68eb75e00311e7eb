import { namesOf } from '../../../contract/vocabulary.ts';

/** The path prefix of the dashboard's pages and assets, except the first page. */
export const UI = '/_sim/ui';

/** Maximum number of records on one page of a list. */
export const PER_PAGE = 50;

/** The navigation groups in order, with their titles. */
export const GROUPS = { records: '', tools: 'Test tools', code: '' } as const;

export interface PlaceFacts {
  group: keyof typeof GROUPS;
  name: string;
  path: string;
  /** The label in the navigation. Default: the name. */
  tab?: string;
  /** The documentation page that explains it. */
  docs?: string;
}

/** The pages in the navigation, in order. */
export const PLACES = {
  payments: { group: 'records', name: 'Payments', path: '/_sim', docs: 'initiate.md' },
  ipns: { group: 'records', name: 'IPNs', path: `${UI}/ipns`, docs: 'ipns-by-hand.md' },
  requests: { group: 'records', name: 'Requests', path: `${UI}/requests` },
  cards: { group: 'records', name: 'Cards', path: `${UI}/cards`, docs: 'cards.md' },
  faults: { group: 'tools', name: 'Faults', path: `${UI}/faults`, docs: 'faults.md' },
  clock: { group: 'tools', name: 'Clock', path: `${UI}/clock`, docs: 'time.md' },
  wallets: { group: 'tools', name: 'Wallets', path: `${UI}/wallets` },
  inbox: { group: 'tools', name: 'Inbox', path: `${UI}/inbox` },
  audit: { group: 'tools', name: 'Audit', path: `${UI}/audit`, docs: 'audit.md' },
  signature: { group: 'code', name: 'Signature', path: `${UI}/signature`, docs: 'receive-and-verify.md' },
  keys: { group: 'code', name: 'Api Key', tab: 'API keys', path: `${UI}/keys` },
  settings: { group: 'code', name: 'Settings', path: `${UI}/settings`, docs: 'configuration.md' },
  docs: { group: 'code', name: 'Documentation', path: `${UI}/docs` },
} as const satisfies Record<string, PlaceFacts>;
export type Place = keyof typeof PLACES;

export const docsPath = (file: string): string => `${PLACES.docs.path}/${file}`;

export function placesOf(group: keyof typeof GROUPS): (PlaceFacts & { place: Place })[] {
  return namesOf(PLACES)
    .map((place) => ({ place, ...PLACES[place] }))
    .filter((facts) => facts.group === group);
}

/** The path of the search in all records. */
export const SEARCH = `${UI}/search`;

export function listPath(place: Place, query: FormValues): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { path } = PLACES[place];
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The lists whose records have pages. */
export type RecordPlace = 'payments' | 'ipns' | 'cards' | 'requests';

/** Returns the route of a record's page. */
export function recordRoute(place: RecordPlace): string {
  return `${UI}/${place}/:id`;
}

/**
 * @param id any text: an imported state may contain any ids
 * @param list the path of the list that links to the page, so that the page links back with the same filter
 */
export function recordPath(place: RecordPlace, id: string | number, list = ''): string {
  const [, query] = list.split('?', 2);
  return withId(recordRoute(place), id) + (query ? `?${query}` : '');
}

/** Fills the id into the route of a record's page or form. */
export function withId(route: string, id: string | number): string {
  return route.split(':id').join(encodeURIComponent(id));
}

/** Matches the path of a dashboard page, with its filter. */
const OWN_PAGE = /^\/_sim(\/ui\/[\w/-]*)?(\?[\w=&%.+~*-]*)?$/;

/** Returns the dashboard page that a request wants to return to, and never a URL elsewhere. */
export function ownPage(requested: string | undefined, otherwise: string): string {
  return requested !== undefined && OWN_PAGE.test(requested) ? requested : otherwise;
}

/** The values in a form or in a list's filter, by field. */
export type FormValues = Readonly<Record<string, string | undefined>>;
