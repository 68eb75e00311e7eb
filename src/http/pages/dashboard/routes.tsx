import type { Hono } from 'hono';
import type { GatewayError } from '../../../contract/error.ts';
import { readTextFields } from '../../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf } from '../../errors.ts';
import { mask } from '../../mask.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { described, type Operation } from '../../operation.ts';
import LIVE_SCRIPT from '../assets/live.ts?text';
import { page } from '../open-pages.tsx';
import { FORMS, withId } from './actions.ts';
import { auditPage } from './audit.tsx';
import { cardPage, cardsPage } from './cards.tsx';
import { clockPage } from './clock.tsx';
import { faultsPage } from './faults.tsx';
import { type Refusal, renderPage } from './frame.tsx';
import { inboxPage } from './inbox.tsx';
import { ipnPage, ipnsPage } from './ipns.tsx';
import { keysPage } from './keys.tsx';
import { type PageRenderer, PLACES, type PostedForm, recordPath, SEARCH, UI } from './page.tsx';
import { paymentPage } from './payment-page.tsx';
import { paymentsPage } from './payments.tsx';
import { referencePages } from './reference-pages.tsx';
import { requestPage, requestsPage } from './requests.tsx';
import { searchPage } from './search.tsx';

/** Sent by the script when it fetches a page again. */
const LIVE_HEADER = 'x-gateway-sim-live';

const PAGES: Readonly<Record<string, PageRenderer>> = {
  [PLACES.payments.path]: paymentsPage,
  [PLACES.ipns.path]: ipnsPage,
  [PLACES.cards.path]: cardsPage,
  [PLACES.keys.path]: keysPage,
  [PLACES.requests.path]: requestsPage,
  [PLACES.audit.path]: auditPage,
  [PLACES.inbox.path]: inboxPage,
  [PLACES.faults.path]: faultsPage,
  [PLACES.clock.path]: clockPage,
  [SEARCH]: searchPage,
  [recordPath('payments', ':id')]: paymentPage,
  [recordPath('ipns', ':id')]: ipnPage,
  [recordPath('cards', ':id')]: cardPage,
  [recordPath('requests', ':id')]: requestPage,
};

/** Where the secret key is shown to be copied, alone or in a sample command. */
const SHOW_KEYS: ReadonlySet<string> = new Set([PLACES.keys.path, PLACES.cards.path]);

/** What the OpenAPI document says of the pages that are in it. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  [PLACES.payments.path]: page('The dashboard; asks for the control token where one is needed', [401, 403]),
  [PLACES.reference.path]: { ...page('This document as a page', [401, 403]), security: 'controlToken' },
};

/** Mounts the dashboard: its pages, and what their forms do. Both live here only, apart from the JSON routes. */
export function mountDashboard(
  app: Hono<AppEnvironment>,
  parts: AppParts,
  document: () => Promise<OpenApiDocument>,
): void {
  const pages = { ...PAGES, ...referencePages(document) };
  for (const [path, page] of Object.entries(pages)) {
    const get = (c: AppContext) => show(c, parts, page).catch((thrown) => refuse(c, parts, missing, thrown));
    app.get(path, OPERATIONS[path] ? described(OPERATIONS[path], get) : get);
  }
  for (const [path, { page, act }] of Object.entries(FORMS)) {
    app.post(path, async (c) => {
      const id = c.req.param('id') ?? '';
      const posted: PostedForm = { to: withId(path, id), given: {} };
      try {
        posted.given = await readTextFields(c);
        return c.redirect(await act(parts, posted.given, id), 303);
      } catch (thrown) {
        return refuse(c, parts, PAGES[page] ?? missing, thrown, posted);
      }
    });
  }
  app.get(`${UI}/live.js`, (c) => {
    c.header('Cache-Control', 'no-cache');
    c.header('X-Content-Type-Options', 'nosniff');
    return c.body(LIVE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
  });
}

/** The page for an address of the dashboard that is none. */
export function dashboardError(c: AppContext, parts: AppParts, error: GatewayError): Promise<Response> {
  return refuse(c, parts, missing, error);
}

/** Whether an address is one of the dashboard, known or not. */
export const isDashboard = (path: string): boolean => path.startsWith(`${UI}/`);

async function show(c: AppContext, parts: AppParts, page: PageRenderer, refusal?: Refusal) {
  const shown = await page({ parts, query: c.req.query(), id: c.req.param('id') ?? '' });
  // To the script a page that is gone is one that changed: an error status would stand in the console.
  const status = refusal && c.req.header(LIVE_HEADER) === undefined ? statusOf(refusal.error) : 200;
  const html = renderPage(c, parts, shown, refusal);
  return c.html(SHOW_KEYS.has(shown.path) ? html : mask(html, parts), status);
}

/** The page with what went wrong over it; a fault of ours goes to the log. */
function refuse(c: AppContext, parts: AppParts, page: PageRenderer, thrown: unknown, posted?: PostedForm) {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  // What the form was about may be gone, and its page with it.
  return show(c, parts, page, { error, posted }).catch(() => show(c, parts, missing, { error, posted }));
}

/** Instead of the page of something that does not exist. */
const missing: PageRenderer = () => {
  const { path } = PLACES.payments;
  const back = <a href={path}>Back to the start</a>;
  return { place: null, path, title: 'Not found', content: [<h1>Not found</h1>, <p>{back}</p>] };
};
