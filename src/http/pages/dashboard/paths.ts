/** The path prefix of the dashboard's pages and assets, except the first page. */
export const UI = '/_sim/ui';

/** Maximum number of records on one page of a list. */
export const PER_PAGE = 50;

/** The pages in the navigation, in order. */
export const PLACES = {
  payments: { name: 'Payments', path: '/_sim' },
  requests: { name: 'Requests', path: `${UI}/requests` },
  cards: { name: 'Cards', path: `${UI}/cards` },
  settings: { name: 'Settings', path: `${UI}/settings` },
} as const satisfies Record<string, { name: string; path: string }>;
export type Place = keyof typeof PLACES;

/** The forms of the banners, which every page may have. */
export const CLEAR_FAULTS = `${PLACES.settings.path}/clear-faults`;
export const RESUME_CLOCK = `${PLACES.settings.path}/resume-clock`;

/** Parts of the settings: the active fault rules, and the codes "sent" to customers. */
export const FAULTS = `${PLACES.settings.path}#faults`;
export const CUSTOMERS = `${PLACES.settings.path}#customers`;

/** The signature checker, which verdicts open. */
export const SIGNATURE = `${UI}/signature`;

/** The tab of payments that went wrong in the shop. */
export const ATTENTION = 'needs-attention';

/** The pages with lists, which the search finds records in. */
export const LISTS = ['payments', 'requests', 'cards'] as const;

export function listPath(place: Place, query: FormValues): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { path } = PLACES[place];
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

/** The kinds of records that have pages. */
export type RecordPlace = 'payments' | 'ipns' | 'cards' | 'requests';

/** Returns the route of a record's page. */
export function recordRoute(place: RecordPlace): string {
  return `${UI}/${place}/:id`;
}

/** @param id any text: an imported state may contain any ids */
export function recordPath(place: RecordPlace, id: string | number): string {
  return withId(recordRoute(place), id);
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
