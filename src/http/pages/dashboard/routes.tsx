import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { GatewayError } from '../../../contract/error.ts';
import { readTextFields } from '../../body.ts';
import { serviceCaller } from '../../call-service.ts';
import type { AppContext, AppEnvironment, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf } from '../../errors.ts';
import { described, type Operation } from '../../operation.ts';
import { page } from '../open-pages.tsx';
import { FORMS } from './actions.ts';
import { AUDIT_REPORT, auditPage } from './audit.tsx';
import { CARDS, cardPage } from './cards.tsx';
import { clockPage } from './clock.tsx';
import { faultsPage } from './faults.tsx';
import type { Refusal } from './frame.tsx';
import { INBOX } from './inbox.tsx';
import { IPNS, ipnPage } from './ipns.tsx';
import { keysPage } from './keys.tsx';
import { listPage } from './list-page.tsx';
import { NEW_PAYMENT, newPaymentPage } from './new-payment.tsx';
import {
  type FormValues,
  type PageRenderer,
  PLACES,
  type PostedForm,
  recordRoute,
  SEARCH,
  UI,
  withId,
} from './page.tsx';
import { PAYMENTS } from './payments.tsx';
import { REQUESTS, requestPage } from './requests.tsx';
import { WALLETS } from './wallets.tsx';

/** Whether the request comes from the script, which fetches pages again and sends forms. */
const isScript = (c: AppContext) => c.req.header('x-gateway-sim-live') !== undefined;

/** Imports a page on its first request, so that the emulator starts faster. */
const loaded =
  (load: () => Promise<PageRenderer>): PageRenderer =>
  async (request) =>
    (await load())(request);

const paymentPage = loaded(async () => (await import('./payment-page.tsx')).paymentPage);
const searchPage = loaded(async () => (await import('./search.tsx')).searchPage);
const signatureCheckerPage = loaded(
  async () => (await import('./signature-checker.tsx')).signatureCheckerPage,
);
const docsPage = loaded(async () => (await import('./docs.tsx')).docsPage);
const settingsPage = loaded(async () => (await import('./settings.tsx')).settingsPage);

const PAGES: Readonly<Record<string, PageRenderer>> = {
  [PLACES.payments.path]: listPage(PAYMENTS),
  [PLACES.ipns.path]: listPage(IPNS),
  [PLACES.cards.path]: listPage(CARDS),
  [PLACES.keys.path]: keysPage,
  [PLACES.requests.path]: listPage(REQUESTS),
  [PLACES.audit.path]: auditPage,
  [PLACES.wallets.path]: listPage(WALLETS),
  [PLACES.inbox.path]: listPage(INBOX),
  [PLACES.signature.path]: signatureCheckerPage,
  [PLACES.faults.path]: faultsPage,
  [PLACES.clock.path]: clockPage,
  [PLACES.settings.path]: settingsPage,
  [PLACES.docs.path]: docsPage,
  [`${PLACES.docs.path}/:id{.+}`]: docsPage,
  [NEW_PAYMENT]: newPaymentPage,
  [SEARCH]: searchPage,
  [recordRoute('payments')]: paymentPage,
  [recordRoute('ipns')]: ipnPage,
  [recordRoute('cards')]: cardPage,
  [recordRoute('requests')]: requestPage,
};

/** Pages that show the secret key for copying, alone or in a sample command. */
const SHOW_KEYS: ReadonlySet<string> = new Set([PLACES.keys.path, PLACES.cards.path]);

/** The pages in the OpenAPI document. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  [PLACES.payments.path]: page('The dashboard; asks for the control token if one is required', [401, 403]),
};

/** Mounts the dashboard's pages and forms. */
export function mountDashboard(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const [path, page] of Object.entries(PAGES)) {
    const get = (c: AppContext) => show(c, parts, page).catch((thrown) => refuse(c, parts, missing, thrown));
    app.get(path, OPERATIONS[path] ? described(OPERATIONS[path], get) : get);
  }
  const callService = serviceCaller(app);
  for (const [path, { page, act }] of Object.entries(FORMS)) {
    app.post(path, async (c) => {
      const id = c.req.param('id') ?? '';
      const posted: PostedForm = { to: withId(path, id), values: {} };
      try {
        posted.values = await readTextFields(c);
        return goTo(c, await act(parts, posted.values, id, callService));
      } catch (thrown) {
        return refuse(c, parts, PAGES[page] ?? missing, thrown, posted);
      }
    });
  }
  // The response is the page itself, because pasted text may be too long for a URL.
  const { path: checker } = PLACES.signature;
  app.post(checker, async (c) => {
    const posted: PostedForm = { to: checker, values: {} };
    try {
      posted.values = await readTextFields(c);
      return await show(c, parts, signatureCheckerPage, { query: posted.values });
    } catch (thrown) {
      return refuse(c, parts, signatureCheckerPage, thrown, posted);
    }
  });
  app.get(AUDIT_REPORT, async (c) => {
    const { last } = parts.audits;
    if (!last?.endedAt || last.orders === null) return show(c, parts, missing);
    const { htmlReport } = await import('../../../audit/reports.ts');
    const html = htmlReport({ ...last, orders: last.orders }, last.options.ipnUrl, new Date(last.endedAt));
    c.header('Content-Disposition', 'attachment; filename="gateway-sim-audit.html"');
    return c.html(parts.mask(html));
  });
  const asset = (name: string, type: string, load: () => Promise<{ default: string }>) =>
    app.get(`${UI}/${name}`, async (c) => {
      c.header('Cache-Control', 'no-cache');
      c.header('X-Content-Type-Options', 'nosniff');
      return compressed(c, (await load()).default, type);
    });
  asset('live.js', 'text/javascript', () => import('../assets/live.ts?text'));
  asset('dashboard.css', 'text/css', () => import('../assets/dashboard.css?text'));
}

/** Responds to an unknown path in the dashboard. */
export function dashboardError(c: AppContext, parts: AppParts, error: GatewayError): Promise<Response> {
  return refuse(c, parts, missing, error);
}

/** Whether a path is in the dashboard, known or not. */
export const isDashboard = (path: string): boolean => path.startsWith(`${UI}/`);

/** Content that a page shows in addition to the record or list in its path. */
interface Showing {
  refusal?: Refusal;
  query?: FormValues;
}

async function show(c: AppContext, parts: AppParts, page: PageRenderer, showing: Showing = {}) {
  const { refusal, query = c.req.query() } = showing;
  const shown = await page({ parts, query, id: c.req.param('id') ?? '' });
  const { renderPage } = await import('./frame.tsx');
  // The script gets 200 even for a removed page, because browsers log error statuses in the console.
  const status = refusal && !isScript(c) ? statusOf(refusal.error) : 200;
  const html = renderPage(c, parts, shown, refusal);
  // Not compressed: if another site can put text on the page, the compressed size reveals the key (BREACH).
  if (SHOW_KEYS.has(shown.path)) return c.html(html, status);
  return compressed(c, parts.mask(html), 'text/html', status);
}

/** Compresses a text if the client accepts it. Hono's own compression streams, which costs five times as much. */
function compressed(c: AppContext, text: string, type: string, status: ContentfulStatusCode = 200): Response {
  c.header('Content-Type', `${type}; charset=UTF-8`);
  c.header('Vary', 'Accept-Encoding');
  const encoding = accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: 'identity' });
  if (encoding !== 'gzip' || c.get('isRewritten')) return c.body(text, status);
  c.header('Content-Encoding', 'gzip');
  return c.body(gzipSync(text), status);
}

/** Redirects after a form. The script gets the path instead, because it stays on the page if the path is the same. */
function goTo(c: AppContext, path: string): Response {
  if (!isScript(c)) return c.redirect(path, 303);
  c.header('Location', path);
  return c.body(null, 204);
}

/** Shows the page with the error on top. Internal errors go to the log. */
function refuse(c: AppContext, parts: AppParts, page: PageRenderer, thrown: unknown, posted?: PostedForm) {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  // The form's record, and with it the page, may have been removed.
  const refusal = { error, posted: posted && { ...posted, error } };
  return show(c, parts, page, { refusal }).catch(() => show(c, parts, missing, { refusal }));
}

const missing: PageRenderer = () => {
  const { path } = PLACES.payments;
  const back = <a href={path}>Back to Payments</a>;
  return { place: null, path, title: 'Not found', content: [<h1>Not found</h1>, <p>{back}</p>] };
};
