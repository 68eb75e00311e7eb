import { randomBytes } from 'node:crypto';
import { urlProblem } from '../../contract/address.ts';
import { CODE_LIFETIME_MS, MAX_ENTRY } from '../../contract/checkout.ts';
import { shellWord } from '../../contract/curl.ts';
import { command, GatewayError } from '../../contract/error.ts';
import { parseInput } from '../../contract/input.ts';
import { SettleInput } from '../../contract/payment.ts';
import { moment } from '../../contract/time.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import type { CheckoutResult } from '../../usecases/checkout.ts';
import type { SettleCommand } from '../../usecases/payments.ts';
import { readTextFields } from '../body.ts';
import {
  type App,
  type AppContext,
  type AppDependencies,
  basePath,
  type ServerRuntime,
} from '../environment.ts';
import { asGatewayError, statusOf } from '../errors.ts';
import { rejectCrossSite } from '../guard.ts';
import { type Answer, described, FORM_TYPE, HTML_TYPE, seeOtherAnswer } from '../operation.ts';
import {
  type CheckoutView,
  checkoutPage,
  closedPage,
  type LiveTip,
  type PaymentSummary,
  refusedPage,
} from '../pages/checkout.tsx';
import type { Language } from '../pages/checkout-texts.ts';
import { PLACES, recordPath } from '../pages/dashboard/paths.ts';
import { type PageView, pageView, shownAmount } from '../pages/layout.tsx';
import { notesOf } from '../record-requests.ts';
import { MODE_WORDS } from './initiate.ts';

/** Maximum number of rejected entries, and of results of settling forms, that are kept in memory. */
const REMEMBERED = 1_000;

type Entry = Pick<CheckoutView, 'step' | 'value' | 'problem'>;

/** What the checkout of one mode needs, and what it remembers between requests. */
interface Checkout {
  parts: AppDependencies;
  mode: Mode;
  /** The last rejected entry by payment, to show again with the problem. */
  rejected: Map<string, Entry>;
  /** Results of the forms that settle, by form and page. */
  sent: Map<string, Promise<CheckoutResult>>;
}

/** A request to the checkout. */
interface CheckoutVisit extends Checkout {
  c: AppContext;
}

/** A form of the checkout: one call and a redirect. */
interface CheckoutStep {
  summary: string;
  description?: string;
  form?: 'EmailForm' | 'CodeForm' | 'PanelForm';
  settles?: true;
  submit: (
    visit: CheckoutVisit,
    payment: Payment,
    fields: Readonly<Record<string, string>>,
  ) => Response | Promise<Response>;
}

/** The forms by the last part of their path. */
const STEPS: Readonly<Record<string, CheckoutStep>> = {
  email: {
    summary: 'Enter the e-mail',
    form: 'EmailForm',
    submit: async (visit, payment, { email: value = '' }) => {
      const problem = await visit.parts.checkout.enterEmail(payment, value, requestId(visit));
      return problem ? showAgain(visit, payment, { step: 'email', value, problem }) : backToPage(visit);
    },
  },
  code: {
    summary: 'Enter the verification code',
    description: `In live mode it is valid for ${CODE_LIFETIME_MS / 60_000} minutes. The correct code pays.`,
    form: 'CodeForm',
    settles: true,
    submit: (visit, payment, { code = '' }) =>
      runOnce(visit, payment, 'code', () => visit.parts.checkout.enterCode(payment, code, requestId(visit))),
  },
  resend: {
    summary: 'Request a new verification code',
    submit: async (visit, payment) => {
      await visit.parts.checkout.resendCode(payment, requestId(visit));
      return backToPage(visit, '&resent=1');
    },
  },
  back: {
    summary: 'Change the e-mail',
    submit: async (visit, payment) => {
      await visit.parts.checkout.changeEmail(payment);
      return backToPage(visit);
    },
  },
  cancel: {
    summary: 'Cancel',
    settles: true,
    submit: (visit, payment) =>
      runOnce(visit, payment, 'cancel', () => settle(visit, payment, { outcome: 'cancel', by: 'customer' })),
  },
  panel: {
    summary: 'Settle from the simulator panel',
    description: 'Not available with --no-panel.',
    form: 'PanelForm',
    settles: true,
    submit: (visit, payment, fields) => {
      const { outcome, delivery } = parseInput(SettleInput, {
        outcome: fields['outcome'],
        delivery: fields['delivery'],
      });
      const run = () => settle(visit, payment, { outcome, delivery, by: 'panel' });
      return runOnce(visit, payment, `panel ${outcome}`, run);
    },
  },
};

const page: Answer = { status: 200, description: 'A page.', type: HTML_TYPE };
const stays: Answer = { ...page, description: 'Settled without a redirect: delivery `ipn-only`.' };
const seeOtherPage = seeOtherAnswer('To the next page, or to the merchant’s URL, exactly as received.');

const VIEWS = {
  GET: 'The current step of the payment. A payment that settled automatically redirects to the merchant.',
  POST: 'Same as GET. One published client sends the browser here by POST.',
};

/** Mounts the hosted checkout in both modes. */
export function mountCheckout(app: App, parts: AppDependencies): void {
  const { dialect, runtime } = parts;
  for (const mode of MODES) {
    const checkout: Checkout = { parts, mode, rejected: new Map(), sent: new Map() };
    const operation = {
      tag: 'Service: checkout',
      query: dialect.messages.CheckoutQuery,
      lines: 'checkout-*',
    } as const;
    const path = dialect.paths.checkout[mode];
    for (const [method, description] of Object.entries(VIEWS)) {
      // A POST responds like the GET (observed: checkout-post), or with 405 (observed: checkout-post-refused).
      if (method === 'POST' && runtime.settings.choices.checkoutByPost === 'refused') continue;
      const about = {
        ...operation,
        summary: `Hosted checkout in ${MODE_WORDS[mode]}${method === 'POST' ? ', by POST' : ''}`,
        description,
        source: 'observed',
        headers: { 'Accept-Language': 'English, or French if preferred.' },
        answers: [page, seeOtherPage],
        errors: [404, 409, 410],
      } as const;
      app.on(method, path, described(about, guarded(checkout, show)));
    }
    for (const [name, { summary, description, form, settles, submit }] of Object.entries(STEPS)) {
      if (name === 'panel' && !runtime.options.panel) continue;
      // A phone that reopens its web view repeats the last post as a GET.
      app.all(`${path}/${name}`, async (c, next) =>
        c.req.method === 'GET' && isBrowser(c) ? backToPage({ ...checkout, c }) : next(),
      );
      const about = {
        ...operation,
        summary: `${summary}, in ${MODE_WORDS[mode]}`,
        description,
        source: 'chosen',
        body: form && { types: [FORM_TYPE], schema: dialect.messages[form] },
        answers: settles ? [stays, seeOtherPage] : [seeOtherPage],
        errors: [403, 404, 409, 410, ...(form ? [422] : [])],
      } as const;
      const post = guarded(checkout, async (visit) => {
        rejectCrossSite(visit.c, runtime);
        const fields = form ? await readTextFields(visit.c) : {};
        return submit(visit, paymentOf(visit), fields);
      });
      app.post(`${path}/${name}`, described(about, post));
    }
  }
}

/** A handler that shows errors that a customer can cause as pages. */
function guarded(checkout: Checkout, run: (visit: CheckoutVisit) => Promise<Response>) {
  return async (c: AppContext): Promise<Response> => {
    const visit = { ...checkout, c };
    try {
      return await run(visit);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      const payment = find(visit);
      if (error.code === (payment ? 'wrong_state' : 'not_found')) {
        c.get('requestLog').notes = [error.message];
        return payment?.status === 'pending' ? backToPage(visit) : showEnd(visit, payment);
      }
      if (!isBrowser(c) || error.code === 'internal') throw error;
      return showRefused(visit, payment, error);
    }
  };
}

function idOf({ c, parts }: CheckoutVisit): string {
  return c.req.query(parts.dialect.paymentParameter) ?? '';
}

function find(visit: CheckoutVisit): Payment | null {
  const payment = visit.parts.payments.all.get(idOf(visit));
  return payment?.mode === visit.mode ? payment : null;
}

/** @throws GatewayError `not_found` */
function paymentOf(visit: CheckoutVisit): Payment {
  const payment = find(visit);
  if (!payment) {
    throw new GatewayError('not_found', `no payment has this ${visit.parts.dialect.paymentParameter}`);
  }
  visit.c.get('requestLog').paymentId = payment.id;
  return payment;
}

/** The page of the current step. */
async function show(visit: CheckoutVisit): Promise<Response> {
  const payment = paymentOf(visit);
  if (payment.status !== 'pending') return showEnd(visit, payment);
  await visit.parts.payments.note(payment, 'opened', null, requestId(visit));
  if (isFramed(visit.c)) visit.c.get('requestLog').notes = [NOT_FRAMED];
  return showStep(visit, payment, entryOf(visit, payment));
}

const NOT_FRAMED =
  'the browser does not show the checkout in a frame of another page: send the whole window to it, or open a new one';

/** Whether a page of another origin opens the checkout in a frame, which `CHECKOUT_POLICY` forbids. */
function isFramed({ req }: AppContext): boolean {
  const isFrame = ['iframe', 'frame', 'object', 'embed'].includes(req.header('sec-fetch-dest') ?? '');
  return isFrame && req.header('sec-fetch-site') !== 'same-origin';
}

/** The value of the field (the rejected entry, the test value, or empty) and its problem, such as an expired code. */
function entryOf({ c, parts, mode, rejected }: CheckoutVisit, payment: Payment): Entry {
  const { checkout, runtime } = parts;
  const { sandboxEmail, sandboxCode } = runtime.settings;
  const { name: step } = checkout.stepOf(payment);
  const last = c.req.query('refused') === '1' ? rejected.get(payment.id) : undefined;
  if (last?.step === step) return last;
  const fills = mode === 'sandbox' && c.req.query('fill') === '1';
  const filled = step === 'email' ? sandboxEmail : sandboxCode;
  const problem = step === 'code' ? checkout.codeProblem(payment) : null;
  return { step, value: fills ? filled : '', problem };
}

/**
 * Shows the step again with the problem. A browser is redirected, so that its back button never leads to a posted
 * page. Other clients get the page as the response, with 422.
 */
function showAgain(visit: CheckoutVisit, payment: Payment, entry: Entry): Response | Promise<Response> {
  // Copied, because a slice keeps the whole text in memory.
  const value = Buffer.from(entry.value.slice(0, MAX_ENTRY)).toString();
  remember(visit.rejected, payment.id, { ...entry, value });
  return isBrowser(visit.c) ? backToPage(visit, '&refused=1') : showStep(visit, payment, entry, 422);
}

async function settle(visit: CheckoutVisit, { id }: Payment, how: SettleCommand): Promise<CheckoutResult> {
  const { redirectUrl } = await visit.parts.payments.settle(id, { ...how, requestId: requestId(visit) });
  return { problem: null, redirectUrl };
}

/**
 * Runs the action of a form once per page. After a double click, a browser follows only the last response, which must
 * be the same redirect and not the page of a settled payment.
 */
async function runOnce(
  visit: CheckoutVisit,
  payment: Payment,
  form: string,
  run: () => Promise<CheckoutResult>,
) {
  const { c, sent } = visit;
  const page = c.req.query('page');
  const key = `${payment.id} ${form} ${page}`;
  const running = sent.get(key) ?? run();
  if (page) remember(sent, key, running);
  const result = await running.catch((error) => {
    sent.delete(key);
    throw error;
  });
  if (!result.problem) return redirectToMerchant(visit, payment, result.redirectUrl);
  sent.delete(key);
  // A wrong code is not shown again.
  return showAgain(visit, payment, { step: 'code', value: '', problem: result.problem });
}

async function showEnd(visit: CheckoutVisit, payment: Payment | null): Promise<Response> {
  const { payments, runtime, dialect } = visit.parts;
  const address = payment && (await payments.autoSettled(payment));
  if (payment && address !== null) return redirectToMerchant(visit, payment, address);
  return payment && runtime.settings.choices.settledVisit === 'error'
    ? visit.c.json(dialect.settledError)
    : showClosed(visit, payment);
}

/** Redirects the browser to the merchant, or shows that the payment is settled. */
async function redirectToMerchant(
  visit: CheckoutVisit,
  payment: Payment,
  redirectUrl: string | null,
): Promise<Response> {
  const { payments } = visit.parts;
  const settled = payments.all.get(payment.id) ?? payment;
  if (redirectUrl === null) return showClosed(visit, settled, true);
  await payments.sendToShop(settled, redirectUrl, requestId(visit));
  return seeOther(visit.c, redirectUrl);
}

/** Redirects to the page of the current step. */
function backToPage(visit: CheckoutVisit, more = ''): Response {
  const { c, parts, mode } = visit;
  const id = encodeURIComponent(idOf(visit));
  return seeOther(c, parts.dialect.checkoutUrl({ id, mode }, basePath(parts.runtime)) + more);
}

/** Keeps only the newest entries of a map, so that visitors cannot fill the memory. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest = ''] = map.keys();
  if (map.size > REMEMBERED) map.delete(oldest);
}

const requestId = ({ c }: CheckoutVisit): number | undefined => c.get('requestLog').id;

/** Whether the client accepts HTML, as browsers do. */
function isBrowser(c: AppContext): boolean {
  return (c.req.header('accept') ?? '').includes('text/html');
}

/**
 * Redirects a browser to exactly this location. The header has the UTF-8 bytes of the text, without percent-encoding.
 */
function seeOther(c: AppContext, location: string): Response {
  c.header('Location', Buffer.from(location, 'utf8').toString('latin1'));
  c.header('Cache-Control', 'no-store');
  return c.body(null, 303);
}

/** The page of the current step. @param status 422 for a rejected entry */
function showStep(
  { c, parts }: CheckoutVisit,
  before: Payment,
  { value, problem }: Entry,
  status: 200 | 422 = 200,
) {
  const { payments, runtime, dialect } = parts;
  const { settings, options } = runtime;
  const payment = payments.all.get(before.id) ?? before;
  const isLive = payment.mode === 'live';
  const step = parts.checkout.stepOf(payment);
  const page = customerView(c, runtime, payment, 'http: https: data:');
  const html = checkoutPage({
    ...page,
    step: step.name,
    payment: summaryOf(parts, payment, page.language),
    path: basePath(runtime) + dialect.paths.checkout[payment.mode],
    parameter: dialect.paymentParameter,
    page: randomBytes(16).toString('base64url'),
    value,
    email: step.email ?? '',
    problem,
    resent: problem === null && c.req.query('resent') === '1',
    sandbox: isLive ? null : { email: settings.sandboxEmail, code: settings.sandboxCode },
    tip: isLive ? tipFor(parts, payment) : null,
    panel: options.panel
      ? { defaultDelivery: settings.delivery, dashboard: recordPath('payments', payment.id) }
      : null,
  });
  return c.html(html, status);
}

/**
 * The page of a settled or unknown payment.
 *
 * @param stays whether this request settled it, without a redirect
 */
function showClosed({ c, parts }: CheckoutVisit, payment: Payment | null, stays = false) {
  const page = customerView(c, parts.runtime, payment, payment ? 'http: https: data:' : 'data:');
  const { mapped } = parts.runtime.settings;
  const back = payment && mapped(payment.status === 'succeeded' ? payment.successUrl : payment.cancelUrl);
  const html = closedPage({
    ...page,
    stays,
    payment: payment && summaryOf(parts, payment, page.language),
    dashboard: dashboardOf(parts, payment),
    // An imported state may contain any text.
    backUrl: back !== null && urlProblem(back) === undefined ? back : null,
  });
  if (stays) return c.html(html);
  return c.html(html, payment === null ? 404 : payment.status === 'expired' ? 410 : 409);
}

/** The page for a rejected request. */
function showRefused({ c, parts }: CheckoutVisit, payment: Payment | null, error: GatewayError) {
  const { runtime, dialect } = parts;
  const backUrl = payment && dialect.checkoutUrl(payment, basePath(runtime));
  c.get('requestLog').notes = notesOf(error, runtime);
  const dashboard = dashboardOf(parts, payment);
  const page = customerView(c, runtime, payment);
  const html = refusedPage({ ...page, message: error.message, backUrl, dashboard });
  return c.html(html, statusOf(error));
}

/** The dashboard's page for the payment; null if the panel is hidden, because then nothing may reveal the emulator. */
function dashboardOf({ runtime }: AppDependencies, payment: Payment | null): string | null {
  if (!runtime.options.panel) return null;
  return payment ? recordPath('payments', payment.id) : PLACES.payments.path;
}

/**
 * `form-action` also restricts the redirects after a post. The merchant's page may redirect further, so it must allow
 * any http(s) URL. `frame-ancestors` can exclude other sites because a phone's web view uses no frame.
 */
const CHECKOUT_POLICY = { forms: "'self' http: https:", framedBy: "'self'", script: 'inline' } as const;

function customerView(
  c: AppContext,
  runtime: ServerRuntime,
  payment: Payment | null,
  images = 'data:',
): PageView {
  const view = pageView(c, runtime, payment?.checkoutTheme ?? 'system', { ...CHECKOUT_POLICY, images });
  c.header('Content-Language', view.language);
  return view;
}

/** The tip for developers: a wallet that can pay or a command to fund one; in the next step, the code. */
function tipFor({ wallets, runtime, checkout }: AppDependencies, payment: Payment): LiveTip {
  const commandText = (name: string, ...args: string[]) => runtime.style.command(command(name, ...args));
  if (checkout.stepOf(payment).name === 'code') {
    const sent = checkout.codeProblem(payment) ? undefined : checkout.messages.get(payment.messageId ?? '');
    return { about: 'code', code: sent?.code ?? null, command: commandText('inbox') };
  }
  const found = wallets.payerOf(payment);
  if (!found) return { about: 'no_wallet', command: commandText('wallets fund') };
  const { id: walletId, email } = found.wallet;
  if (found.canPay) return { about: 'wallet', email, command: commandText('wallets') };
  // An imported state may have any wallet id.
  return {
    about: 'no_wallet',
    command: commandText('wallets fund', shellWord(walletId), '--amount', payment.amount),
  };
}

function receiptOf({ checkout }: AppDependencies, payment: Payment) {
  const { trx, settledAt, createdAt, customerName } = payment;
  const payer = checkout.stepOf(payment).email ?? customerName;
  return { trx, date: `${moment(settledAt ?? createdAt)} UTC`, payer };
}

function summaryOf(parts: AppDependencies, payment: Payment, language: Language): PaymentSummary {
  return {
    ...payment,
    siteLogo: payment.siteLogo && parts.runtime.settings.mapped(payment.siteLogo),
    merchantName: parts.merchants.of(payment)?.name ?? '',
    amount: shownAmount(parts, payment.amount, payment.currency, language),
    receipt: payment.status === 'succeeded' ? receiptOf(parts, payment) : null,
  };
}
