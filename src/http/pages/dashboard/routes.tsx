import type { Hono } from 'hono';
import type { GatewayError } from '../../../contract/error.ts';
import { CARD_ACTIONS, CARD_MOVEMENTS } from '../../../contract/vocabulary.ts';
import { readTextFields } from '../../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf } from '../../errors.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { described, type Operation } from '../../operation.ts';
import LIVE_SCRIPT from '../assets/live.ts?text';
import { page } from '../open-pages.tsx';
import { secure } from '../page-view.ts';
import * as actions from './actions.ts';
import { cardPage } from './card.tsx';
import { cardsPage } from './cards.tsx';
import { clockPage } from './clock.tsx';
import { faultsPage } from './faults.tsx';
import type { FormValues } from './forms.tsx';
import { renderPage } from './frame.tsx';
import { inboxPage } from './inbox.tsx';
import { ipnPage } from './ipn.tsx';
import { ipnsPage } from './ipns.tsx';
import { keysPage } from './keys.tsx';
import { PLACES, recordPath, UI } from './navigation.ts';
import { type Page, type PageRenderer, pageAt } from './page.ts';
import { paymentPage } from './payment.tsx';
import { paymentsPage } from './payments.tsx';
import { referencePage } from './reference.tsx';
import { requestPage, requestsPage } from './requests.tsx';

/** Sent by the script when it fetches a page again. */
const LIVE_HEADER = 'x-gateway-sim-live';

/** The pages by their path. */
const PAGES: Readonly<Record<string, PageRenderer>> = {
  [PLACES.payments.path]: paymentsPage,
  [PLACES.ipns.path]: ipnsPage,
  [PLACES.cards.path]: cardsPage,
  [PLACES.keys.path]: keysPage,
  [PLACES.requests.path]: requestsPage,
  [PLACES.inbox.path]: inboxPage,
  [PLACES.faults.path]: faultsPage,
  [PLACES.clock.path]: clockPage,
  [recordPath('payments', ':id')]: paymentPage,
  [recordPath('ipns', ':id')]: ipnPage,
  [recordPath('cards', ':id')]: cardPage,
  [recordPath('requests', ':id')]: requestPage,
};

/** A form by the path that it posts to: what it does, and the page that it stands on. */
interface Form {
  act: actions.FormAction;
  page: PageRenderer;
  /** Put before the names of its fields, where several forms of a page have the same. */
  scope?: string;
}

const FORMS: Readonly<Record<string, Form>> = {
  [`${recordPath('payments', ':id')}/settle`]: { act: actions.settle, page: paymentPage },
  [`${recordPath('ipns', ':id')}/resend`]: { act: actions.resend, page: ipnPage },
  [`${recordPath('ipns', ':id')}/tamper`]: { act: actions.sendTampered, page: ipnPage },
  [PLACES.cards.path]: { act: actions.createCard, page: cardsPage },
  ...Object.fromEntries(
    CARD_MOVEMENTS.map((kind) => [
      `${recordPath('cards', ':id')}/${kind}`,
      { act: actions.moveCard(kind), page: cardPage, scope: `${kind}.` },
    ]),
  ),
  ...Object.fromEntries(
    CARD_ACTIONS.map((action) => [
      `${recordPath('cards', ':id')}/${action}`,
      { act: actions.actOnCard(action), page: cardPage },
    ]),
  ),
  [PLACES.keys.path]: { act: actions.generateKeys, page: keysPage },
  [`${UI}/merchants`]: { act: actions.createMerchant, page: keysPage },
  [PLACES.faults.path]: { act: actions.addFault, page: faultsPage },
  [`${PLACES.faults.path}/clear`]: { act: actions.removeFaults, page: faultsPage },
  [PLACES.clock.path]: { act: actions.changeClock, page: clockPage },
};

const START_OPERATION = page('The dashboard; asks for the control token where one is needed', [401, 403]);
const REFERENCE_OPERATION: Operation = {
  ...page('This document as a page', [401, 403]),
  security: 'controlToken',
};

/** Mounts the dashboard: its pages, and what their forms do. Both live here only, apart from the JSON routes. */
export function mountDashboard(
  app: Hono<AppEnvironment>,
  parts: AppParts,
  document: () => Promise<OpenApiDocument>,
): void {
  for (const [path, renderer] of Object.entries(PAGES)) {
    const show = (c: AppContext) => {
      try {
        return render(c, parts, renderer({ parts, c, given: {} }), null);
      } catch (thrown) {
        return failed(c, parts, missing, {}, thrown);
      }
    };
    app.get(path, path === PLACES.payments.path ? described(START_OPERATION, show) : show);
  }
  for (const [path, { act, page, scope = '' }] of Object.entries(FORMS)) {
    app.post(path, async (c) => {
      let given: FormValues = {};
      try {
        const fields = await readTextFields(c);
        given = Object.fromEntries(Object.entries(fields).map(([name, value]) => [scope + name, value]));
        return c.redirect(await act(parts, c, fields), 303);
      } catch (thrown) {
        return failed(c, parts, page, given, thrown);
      }
    });
  }
  app.get(
    PLACES.reference.path,
    described(REFERENCE_OPERATION, async (c: AppContext) =>
      c.html(await referencePage(parts, secure(c, { script: true }), document)),
    ),
  );
  app.get(`${UI}/live.js`, (c) => {
    c.header('Cache-Control', 'no-cache');
    c.header('X-Content-Type-Options', 'nosniff');
    return c.body(LIVE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
  });
}

/** Instead of the page of something that does not exist. */
const missing: PageRenderer = () => ({
  ...pageAt(
    'payments',
    <>
      <h1>Not there</h1>
      <p>
        <a href={PLACES.payments.path}>Back to the start</a>
      </p>
    </>,
  ),
  title: 'Not there',
});

/** The page with what went wrong over it; a fault of ours goes to the log. */
function failed(c: AppContext, parts: AppParts, page: PageRenderer, given: FormValues, thrown: unknown) {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  try {
    return render(c, parts, page({ parts, c, given }), error);
  } catch {
    // What the form was about is gone, and its page with it.
    return render(c, parts, missing({ parts, c, given }), error);
  }
}

function render(c: AppContext, parts: AppParts, page: Page, problem: GatewayError | null) {
  const isAnswer = c.req.method === 'POST';
  const html = renderPage(parts, secure(c, { script: true }), { ...page, problem, isAnswer });
  // To the script a page that is gone is one that changed: an error status would stand in the console.
  const status = problem === null || c.req.header(LIVE_HEADER) !== undefined ? 200 : statusOf(problem);
  return c.html(html, status as 200);
}
