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
  inbox: { name: 'Inbox', path: `${UI}/inbox` },
  faults: { name: 'Faults', path: `${UI}/faults` },
  clock: { name: 'Clock', path: `${UI}/clock` },
  reference: { name: 'API reference', path: `${UI}/reference` },
} as const;
export type Place = keyof typeof PLACES;

/** What a list is narrowed to, and where its page begins. */
export type ListQuery = Readonly<Record<string, string | undefined>>;

/** The address of a list: its place and what it is narrowed to. */
export function listPath(place: Place, query: ListQuery): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { path } = PLACES[place];
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The places whose records have pages. */
export type RecordPlace = 'payments' | 'ipns' | 'cards' | 'requests';

/** The address of a record in a list. */
export function recordPath(place: RecordPlace, id: string | number): string {
  return `${UI}/${place}/${id}`;
}
