import { Hono } from 'hono';
import { readTextFields } from '../../body.ts';
import { type App, type AppContext, type AppDependencies, basePath } from '../../environment.ts';
import { asGatewayError, requestLine, statusOf, unknownRoute } from '../../errors.ts';
import BASE_STYLES from '../assets/base.css?text';
import DASHBOARD_STYLES from '../assets/dashboard.css?text';
import SCRIPT from '../assets/live.ts?text';
import { Link } from '../layout.tsx';
import { CARD_PAGES } from './cards.tsx';
import { renderPage } from './frame.tsx';
import { IPN_PAGES } from './ipns.tsx';
import { NEW_PAYMENT_PAGES } from './new-payment.tsx';
import type { NounPages, PageRenderer, Refusal } from './page.tsx';
import { type FormValues, ownPage, PLACES, UI, withId } from './paths.ts';
import { PAYMENT_PAGES } from './payments.tsx';
import { REQUEST_PAGES } from './requests.tsx';
import { SETTINGS_PAGES } from './settings.tsx';
import { SIGNATURE_PAGES } from './signature.tsx';

/** Whether the request comes from the script, which fetches pages again and sends forms. */
const isScript = (c: AppContext) => c.req.header('x-gateway-sim-live') !== undefined;

const NOUNS: readonly NounPages[] = [
  ...[PAYMENT_PAGES, NEW_PAYMENT_PAGES, IPN_PAGES, REQUEST_PAGES, CARD_PAGES],
  ...[SIGNATURE_PAGES, SETTINGS_PAGES],
];

const missing: PageRenderer = () => {
  const { path } = PLACES.payments;
  const back = <Link href={path}>Back to Payments</Link>;
  return { place: null, path, title: 'Not found', content: [<h1>Not found</h1>, <p>{back}</p>] };
};

/** The dashboard's pages and forms. @param app the whole app */
export function dashboard(app: App, parts: AppDependencies): App {
  const pages: App = new Hono();
  // Code that reads a body notes it here, although requests to the dashboard are not logged.
  pages.use((c, next) => {
    c.set('requestLog', {});
    c.set('secrets', parts.secrets);
    return next();
  });

  const show = async (c: AppContext, page: PageRenderer, query: FormValues, refusal?: Refusal) => {
    const shown = page({ parts, query, id: c.req.param('id') ?? '', refusal });
    if (typeof shown === 'string') return c.redirect(basePath(parts.runtime) + shown, 303);
    // The script gets 200 even for a removed page, because browsers log error statuses in the console.
    const status = refusal && !isScript(c) ? statusOf(refusal.error) : 200;
    const html = renderPage(c, parts, shown, refusal);
    c.status(status);
    // Only the settings show the secret key, for copying.
    return c.html(shown.path === PLACES.settings.path ? html : parts.secrets.mask(html));
  };
  /** Shows the page with the error on top. Internal errors go to the log. */
  const refuse = (c: AppContext, page: PageRenderer, thrown: unknown, form?: Omit<Refusal, 'error'>) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal') throw thrown;
    const refusal = { ...form, error };
    const query = c.req.query();
    // The form's record, and with it the page, may have been removed.
    return show(c, page, query, refusal).catch(() => show(c, missing, query, refusal));
  };

  for (const noun of NOUNS) {
    for (const [path, page] of Object.entries(noun.pages)) {
      pages.get(path, async (c) => {
        try {
          return await show(c, page, c.req.query());
        } catch (thrown) {
          return refuse(c, missing, thrown);
        }
      });
    }
    for (const [path, act] of Object.entries(noun.forms ?? {})) {
      let above = path;
      while (above && !noun.pages[above]) above = above.slice(0, above.lastIndexOf('/'));
      const page = noun.pages[above] ?? missing;
      pages.post(path, async (c) => {
        const id = c.req.param('id') ?? '';
        let values: FormValues = {};
        try {
          values = await readTextFields(c);
          const next = await act(parts, values, id, app);
          if (typeof next === 'object') return await show(c, page, next);
          const target = basePath(parts.runtime) + (next ?? ownPage(values['from'], withId(above, id)));
          if (!isScript(c)) return c.redirect(target, 303);
          // The script stays on the page if the path is the same.
          c.header('Location', target);
          return c.body(null, 204);
        } catch (thrown) {
          return refuse(c, page, thrown, { to: withId(path, id), values });
        }
      });
    }
  }

  const asset = (name: string, type: string, text: string) =>
    pages.get(`${UI}/${name}`, (c) => {
      c.header('Cache-Control', 'no-cache');
      c.header('X-Content-Type-Options', 'nosniff');
      return c.body(text, 200, { 'Content-Type': `${type}; charset=UTF-8` });
    });
  asset('live.js', 'text/javascript', SCRIPT);
  asset('dashboard.css', 'text/css', BASE_STYLES + DASHBOARD_STYLES);
  // Users of the dashboard do not know the routes of its forms.
  pages.notFound((c) => refuse(c, missing, unknownRoute(requestLine(c), [])));
  pages.onError((error) => {
    throw error;
  });
  return pages;
}
