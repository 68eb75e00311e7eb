import { gzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { readTextFields } from '../../body.ts';
import { serviceCaller } from '../../call-service.ts';
import type { App, AppContext, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf, unknownRoute } from '../../errors.ts';
import STYLES from '../assets/dashboard.css?text';
import SCRIPT from '../assets/live.ts?text';
import { basePath, Link } from '../layout.tsx';
import { FORMS } from './actions.ts';
import { AUDIT_REPORT, auditPage } from './audit.tsx';
import type { PageRenderer, Refusal } from './blocks.tsx';
import { CARDS, cardPage } from './cards.tsx';
import { clockPage } from './clock.tsx';
import { docsPage } from './docs.tsx';
import { faultsPage } from './faults.tsx';
import { renderPage } from './frame.tsx';
import { INBOX } from './inbox.tsx';
import { IPNS, ipnPage } from './ipns.tsx';
import { keysPage } from './keys.tsx';
import { listPage } from './list.tsx';
import { NEW_PAYMENT, newPaymentPage } from './new-payment.tsx';
import { type FormValues, ownPage, PLACES, recordRoute, SEARCH, UI, withId } from './paths.ts';
import { PAYMENTS, paymentPage } from './payments.tsx';
import { REQUESTS, requestPage } from './requests.tsx';
import { searchPage } from './search.tsx';
import { settingsPage } from './settings.tsx';
import { signatureCheckerPage } from './signature.tsx';
import { WALLETS } from './wallets.tsx';

/** Whether the request comes from the script, which fetches pages again and sends forms. */
const isScript = (c: AppContext) => c.req.header('x-gateway-sim-live') !== undefined;

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

/** The dashboard's pages and forms. @param app the whole app */
export function dashboard(app: App, parts: AppParts): App {
  const pages: App = new Hono();
  const callService = serviceCaller(app);
  // Whoever reads a body notes it here, although requests to the dashboard are not logged.
  pages.use((c, next) => {
    c.set('requestLog', {});
    return next();
  });
  for (const [path, page] of Object.entries(PAGES)) {
    pages.get(path, (c) => show(c, parts, page).catch((thrown) => refuse(c, parts, missing, thrown)));
  }
  /** @param page the page that shows a rejected form again */
  const mountForm = (
    path: string,
    page: PageRenderer,
    act: (c: AppContext, values: FormValues, id: string) => Promise<Response>,
  ) =>
    pages.post(path, async (c) => {
      const id = c.req.param('id') ?? '';
      let values: FormValues = {};
      try {
        values = await readTextFields(c);
        return await act(c, values, id);
      } catch (thrown) {
        return refuse(c, parts, page, thrown, { to: withId(path, id), values });
      }
    });
  for (const [path, act] of Object.entries(FORMS)) {
    let above = path;
    while (!PAGES[above]) above = above.slice(0, above.lastIndexOf('/'));
    mountForm(path, PAGES[above] ?? missing, async (c, values, id) => {
      const next = await act(parts, values, id, callService);
      return goTo(c, parts, next ?? ownPage(values['from'], withId(above, id)));
    });
  }
  // The response is the page itself, because pasted text may be too long for a URL.
  mountForm(PLACES.signature.path, signatureCheckerPage, (c, query) =>
    show(c, parts, signatureCheckerPage, { query }),
  );
  pages.get(AUDIT_REPORT, async (c) => {
    const { last } = parts.audits;
    if (!last?.endedAt || last.orders === null) return show(c, parts, missing);
    const { htmlReport } = await import('../../../audit/html-report.ts');
    const html = htmlReport({ ...last, orders: last.orders }, last.options.ipnUrl, new Date(last.endedAt));
    c.header('Content-Disposition', 'attachment; filename="gateway-sim-audit.html"');
    return c.html(parts.mask(html));
  });
  for (const [name, type, text] of [
    ['live.js', 'text/javascript', SCRIPT],
    ['dashboard.css', 'text/css', STYLES],
  ] as const)
    pages.get(`${UI}/${name}`, (c) => {
      c.header('Cache-Control', 'no-cache');
      c.header('X-Content-Type-Options', 'nosniff');
      return compressed(c, text, type);
    });
  // Users of the dashboard do not know the routes of its forms.
  pages.notFound((c) => refuse(c, parts, missing, unknownRoute(c.req.method, c.req.path, [], parts.dialect)));
  pages.onError((error) => {
    throw error;
  });
  return pages;
}

interface Showing {
  refusal?: Refusal;
  query?: FormValues;
}

async function show(c: AppContext, parts: AppParts, page: PageRenderer, showing: Showing = {}) {
  const { refusal, query = c.req.query() } = showing;
  const shown = await page({ parts, query, id: c.req.param('id') ?? '' });
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
  if (encoding !== 'gzip') return c.body(text, status);
  c.header('Content-Encoding', 'gzip');
  return c.body(gzipSync(text), status);
}

/** Redirects after a form. The script gets the path instead, because it stays on the page if the path is the same. */
function goTo(c: AppContext, { runtime }: AppParts, path: string): Response {
  const target = basePath(runtime) + path;
  if (!isScript(c)) return c.redirect(target, 303);
  c.header('Location', target);
  return c.body(null, 204);
}

/** Shows the page with the error on top. Internal errors go to the log. */
function refuse(
  c: AppContext,
  parts: AppParts,
  page: PageRenderer,
  thrown: unknown,
  form?: Omit<Refusal, 'error'>,
) {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  const refusal = { ...form, error };
  // The form's record, and with it the page, may have been removed.
  return show(c, parts, page, { refusal }).catch(() => show(c, parts, missing, { refusal }));
}

const missing: PageRenderer = () => {
  const { path } = PLACES.payments;
  const back = <Link href={path}>Back to Payments</Link>;
  return { place: null, path, title: 'Not found', content: [<h1>Not found</h1>, <p>{back}</p>] };
};
