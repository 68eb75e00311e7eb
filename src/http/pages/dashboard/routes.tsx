import type { Hono } from 'hono';
import type { GatewayError } from '../../../contract/error.ts';
import { CARD_ACTIONS, CARD_MOVEMENTS } from '../../../contract/vocabulary.ts';
import { readTextFields } from '../../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../../environment.ts';
import { asGatewayError, statusOf } from '../../errors.ts';
import type { OpenApiDocument } from '../../openapi.ts';
import { described, type Operation } from '../../operation.ts';
import LIVE_SCRIPT from '../assets/live.ts?text';
import { page } from '../open-pages.ts';
import { secure } from '../page-view.ts';
import * as actions from './actions.ts';
import { cardPage, cardsPage } from './cards.tsx';
import { clockPage } from './clock.tsx';
import { faultsPage } from './faults.tsx';
import type { FormValues } from './forms.tsx';
import { renderPage } from './frame.tsx';
import { inboxPage } from './inbox.tsx';
import { ipnPage } from './ipn.tsx';
import { ipnsPage } from './ipns.tsx';
import { keysPage } from './keys.tsx';
import { PLACES, recordPath, UI } from './navigation.ts';
import { type Page, type PageRenderer, type PageRequest, pageAt } from './page.tsx';
import { paymentPage, paymentsPage } from './payments.tsx';
import { requestPage, requestsPage } from './requests.tsx';

/** Sent by the script when it fetches a page again. */
const LIVE_HEADER = 'x-gateway-sim-live';

const PAYMENT = recordPath('payments', ':id');
const IPN = recordPath('ipns', ':id');
const CARD = recordPath('cards', ':id');

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
  [PAYMENT]: paymentPage,
  [IPN]: ipnPage,
  [CARD]: cardPage,
  [recordPath('requests', ':id')]: requestPage,
};

/** The forms: where one posts to, what it does, and the page that it stands on. */
const FORMS: readonly (readonly [path: string, act: actions.FormAction, page: PageRenderer])[] = [
  [`${PAYMENT}/settle`, actions.settle, paymentPage],
  [`${IPN}/resend`, actions.resend, ipnPage],
  [`${IPN}/tamper`, actions.sendTampered, ipnPage],
  [PLACES.cards.path, actions.createCard, cardsPage],
  ...CARD_MOVEMENTS.map((kind) => [`${CARD}/${kind}`, actions.moveCard(kind), cardPage] as const),
  ...CARD_ACTIONS.map((action) => [`${CARD}/${action}`, actions.actOnCard(action), cardPage] as const),
  [PLACES.keys.path, actions.generateKeys, keysPage],
  [`${UI}/merchants`, actions.createMerchant, keysPage],
  [PLACES.faults.path, actions.addFault, faultsPage],
  [`${PLACES.faults.path}/clear`, actions.removeFaults, faultsPage],
  [PLACES.clock.path, actions.changeClock, clockPage],
];

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
  const pages = { ...PAGES, [PLACES.reference.path]: referencePage(document) };
  for (const [path, renderer] of Object.entries(pages)) {
    const show = async (c: AppContext) => {
      const request = { parts, c, given: {} };
      try {
        return render(request, await renderer(request), null);
      } catch (thrown) {
        return failed(request, missing, thrown);
      }
    };
    const operation = OPERATIONS[path];
    app.get(path, operation ? described(operation, show) : show);
  }
  for (const [path, act, page] of FORMS) {
    app.post(path, async (c) => {
      let given: FormValues = {};
      try {
        given = await readTextFields(c);
        return c.redirect(await act(parts, c, given), 303);
      } catch (thrown) {
        return failed({ parts, c, given }, page, thrown);
      }
    });
  }
  app.get(`${UI}/live.js`, (c) => {
    c.header('Cache-Control', 'no-cache');
    c.header('X-Content-Type-Options', 'nosniff');
    return c.body(LIVE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
  });
}

/** The page of the OpenAPI document. What it is made of is loaded only now: a start has no time for it. */
function referencePage(document: () => Promise<OpenApiDocument>): PageRenderer {
  return async ({ parts: { merchants, runtime } }) => {
    const [openApi, { Reference }, { default: styles }] = await Promise.all([
      document(),
      import('../reference.tsx'),
      import('../assets/reference.css?text'),
    ]);
    const facts = {
      baseUrl: runtime.baseUrl(),
      publicKey: merchants.default.publicKey,
      asksForToken: runtime.controlToken !== null,
    };
    const content = <Reference document={openApi} facts={facts} />;
    return { ...pageAt('reference', content), isStill: true, styles };
  };
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
async function failed(request: PageRequest, page: PageRenderer, thrown: unknown) {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  try {
    return render(request, await page(request), error);
  } catch {
    // What the form was about is gone, and its page with it.
    return render(request, await missing(request), error);
  }
}

function render({ parts, c }: PageRequest, page: Page, problem: GatewayError | null) {
  const html = renderPage(parts, secure(c, { script: true }), page, {
    problem,
    isAnswer: c.req.method === 'POST',
  });
  // To the script a page that is gone is one that changed: an error status would stand in the console.
  return c.html(html, problem === null || c.req.header(LIVE_HEADER) !== undefined ? 200 : statusOf(problem));
}
