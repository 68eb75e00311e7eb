import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import type { GatewayError } from '../../../contract/error.ts';
import { CARD_ACTIONS } from '../../../contract/vocabulary.ts';
import { readTextFields } from '../../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf } from '../../errors.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { actionsOf, type FormAction } from './actions.ts';
import type { FormValues } from './blocks.tsx';
import { Missing, type Problem, renderPage } from './frame.tsx';
import { PLACES, UI } from './navigation.ts';
import { type Page, type PageRenderer, pagesOf } from './pages.ts';
import { referencePage } from './reference.tsx';
import { LIVE_SCRIPT } from './script.ts';

/** Sent by the script when it fetches a page again. */
const LIVE_HEADER = 'x-gateway-sim-live';

/** Mounts the dashboard: its pages, and what their forms do. Both live here only, apart from the JSON routes. */
export function mountDashboard(
  app: Hono<AppEnvironment>,
  parts: AppParts,
  document: () => Promise<OpenApiDocument>,
): void {
  const pages = pagesOf(parts);
  for (const [place, { path }] of Object.entries(PLACES)) {
    const show = Object.hasOwn(pages, place) ? pages[place as keyof typeof pages] : undefined;
    if (show) mountPage(app, parts, path, show);
  }
  mountPage(app, parts, `${UI}/payments/:id`, pages.payment);
  mountPage(app, parts, `${PLACES.ipns.path}/:id`, pages.ipn);
  mountPage(app, parts, `${PLACES.cards.path}/:id`, pages.card);
  mountPage(app, parts, `${PLACES.requests.path}/:id`, pages.request);
  mountActions(app, parts);
  app.get(PLACES.reference.path, async (c) =>
    c.html(await referencePage(parts, dashboardHeaders(c), document)),
  );
  app.get(`${UI}/live.js`, (c) => {
    c.header('Cache-Control', 'no-cache');
    c.header('X-Content-Type-Options', 'nosniff');
    return c.body(LIVE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
  });
}

function mountPage(app: Hono<AppEnvironment>, parts: AppParts, path: string, show: PageRenderer): void {
  app.get(path, (c) => {
    try {
      return render(c, parts, show(c, {}), null);
    } catch (thrown) {
      return failed(c, parts, { show: missing, given: {} }, thrown);
    }
  });
}

function mountActions(app: Hono<AppEnvironment>, parts: AppParts): void {
  const pages = pagesOf(parts);
  const acts = actionsOf(parts);
  const action = (path: string, show: PageRenderer, act: FormAction, scope = '') =>
    app.post(path, async (c) => {
      let given: FormValues = {};
      try {
        const fields = await readTextFields(c);
        given = scoped(fields, scope);
        return c.redirect(await act(c, fields), 303);
      } catch (thrown) {
        return failed(c, parts, { show, given }, thrown);
      }
    });
  const { ipns, cards, keys, faults, clock } = PLACES;
  action(`${UI}/payments/:id/settle`, pages.payment, acts.settle);
  action(`${ipns.path}/:id/resend`, pages.ipn, acts.resend);
  action(`${ipns.path}/:id/tamper`, pages.ipn, acts.tamper);
  action(cards.path, pages.cards, acts.createCard);
  for (const kind of ['charge', 'fund'] as const)
    action(`${cards.path}/:id/${kind}`, pages.card, acts.moveCard(kind), `${kind}.`);
  for (const trigger of CARD_ACTIONS)
    action(`${cards.path}/:id/${trigger}`, pages.card, acts.applyCardAction(trigger));
  action(keys.path, pages.keys, acts.generateKeys);
  action(`${UI}/merchants`, pages.keys, acts.addMerchant);
  action(faults.path, pages.faults, acts.setFault);
  action(`${faults.path}/clear`, pages.faults, acts.clearFaults);
  action(clock.path, pages.clock, acts.moveClock);
}

/** Stands in for a page of something that is not there. */
const missing: PageRenderer = () => ({
  place: 'payments',
  path: PLACES.payments.path,
  title: 'Not there',
  content: Missing(),
});

/** The page with what went wrong over it; a fault of ours goes to the log. */
function failed(
  c: AppContext,
  parts: AppParts,
  { show, given }: { show: PageRenderer; given: FormValues },
  thrown: unknown,
): Response {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  try {
    return render(c, parts, show(c, given), error);
  } catch {
    // What the form was about is gone, and its page with it.
    return render(c, parts, missing(c, given), error);
  }
}

function render(
  c: AppContext,
  parts: AppParts,
  { content, ...page }: Page,
  error: GatewayError | null,
): Response {
  const problem: Problem | null = error && { message: error.problems.join('. '), remedy: error.remedy };
  const isAnswer = c.req.method === 'POST';
  const html = renderPage(parts, dashboardHeaders(c), { ...page, problem, isAnswer, children: content });
  // To the script a page that is gone is one that changed: an error status would stand in the console.
  const status = error === null || c.req.header(LIVE_HEADER) !== undefined ? 200 : statusOf(error);
  return c.html(html, status as 200);
}

/** The headers that keep a page of the dashboard to itself; gives the nonce of its styles. */
function dashboardHeaders(c: AppContext): string {
  const nonce = randomBytes(16).toString('base64');
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
  return nonce;
}

/** The fields of one of several forms of a page that have the same names. */
function scoped(fields: FormValues, scope: string): FormValues {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [scope + name, value]));
}
