import * as z from 'zod/mini';
import { CODE_LIFETIME_MS, MAX_ENTRY, stepOf } from '../../contract/checkout.ts';
import { GatewayError } from '../../contract/error.ts';
import { field, query, text } from '../../contract/field.ts';
import { parseInput } from '../../contract/input.ts';
import { FORM_TYPE, HTML_TYPE } from '../../contract/media-types.ts';
import { SETTLE_FIELDS, sentenceOf } from '../../contract/request-fields.ts';
import { DELIVERY_ORDERS, MODES, type Mode, OUTCOMES } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import { SETTLED_ERROR } from '../../service/errors.ts';
import { postedMessage } from '../../service/fields.ts';
import { CHECKOUT_PATHS, checkoutUrlOf, PAYMENT_PARAMETER } from '../../service/names.ts';
import type { CheckoutResult } from '../../usecases/checkout.ts';
import type { SettleCommand } from '../../usecases/payments.ts';
import { readTextFields } from '../body.ts';
import { type App, type AppContext, type AppDependencies, basePath } from '../environment.ts';
import { asGatewayError } from '../errors.ts';
import { rejectCrossSite } from '../guard.ts';
import { type Answer, described, type Operation } from '../operation.ts';
import type { Entry } from './checkout-pages.ts';
import { MODE_WORDS } from './initiate.ts';

/** Maximum number of rejected entries, and of results of settling forms, that are kept in memory. */
const REMEMBERED = 1_000;

/** What the checkout of one mode needs, and what it remembers between requests. */
interface Checkout {
  parts: AppDependencies;
  mode: Mode;
  /** The last rejected entry by payment, to show again with the problem. */
  rejected: Map<string, Entry>;
  /** Results of the forms that settle, by form and page. */
  sent: Map<string, Promise<CheckoutResult>>;
}

interface CheckoutVisit extends Checkout {
  c: AppContext;
}

/** A form of the checkout: one call and a redirect. */
interface CheckoutStep {
  summary: string;
  description?: string;
  form?: z.ZodMiniType;
  settles?: true;
  submit: (
    visit: CheckoutVisit,
    payment: Payment,
    fields: Readonly<Record<string, string>>,
  ) => Response | Promise<Response>;
}

const pages = () => import('./checkout-pages.ts');

const entered = field(text, 'What the customer entered.');

/** The forms by the last part of their path. */
const STEPS: Readonly<Record<string, CheckoutStep>> = {
  email: {
    summary: 'Enter the e-mail',
    form: postedMessage('EmailForm', 'First step of the checkout.', { email: entered }),
    submit: async (visit, payment, { email: value = '' }) => {
      const problem = await visit.parts.checkout.enterEmail(payment, value, requestId(visit));
      return problem ? showAgain(visit, payment, { step: 'email', value, problem }) : backToPage(visit);
    },
  },
  code: {
    summary: 'Enter the verification code',
    description: `In live mode it is valid for ${CODE_LIFETIME_MS / 60_000} minutes. The correct code pays.`,
    form: postedMessage('CodeForm', 'Second step of the checkout.', { code: entered }),
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
    form: postedMessage('PanelForm', 'The form of the simulator panel.', {
      outcome: field(z.enum(OUTCOMES), 'The outcome of the payment.'),
      delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), sentenceOf(SETTLE_FIELDS.delivery)),
    }),
    settles: true,
    submit: async (visit, payment, fields) => {
      const { SettleInput } = await import('../../contract/payment.ts');
      const { outcome, delivery } = parseInput(SettleInput, {
        outcome: fields['outcome'],
        delivery: fields['delivery'],
      });
      const run = () => settle(visit, payment, { outcome, delivery, by: 'panel' });
      return runOnce(visit, payment, `panel ${outcome}`, run);
    },
  },
};

const CheckoutQuery = query('CheckoutQuery', 'Selects the payment.', {
  [PAYMENT_PARAMETER]: field(text, 'The payment id in the checkout URL.'),
});

const page: Answer = { status: 200, description: 'A page.', type: HTML_TYPE };
const stays: Answer = { ...page, description: 'Settled without a redirect: delivery `ipn-only`.' };
const seeOtherPage: Answer = {
  status: 303,
  description: 'To the next page, or to the merchant’s URL, exactly as received.',
  headers: { Location: 'The next page for the browser.' },
};

const VIEWS = {
  GET: 'The current step of the payment. A payment that settled automatically redirects to the merchant.',
  POST: 'Same as GET. One published client sends the browser here by POST.',
};

/** Mounts the hosted checkout in both modes. */
export function mountCheckout(app: App, parts: AppDependencies): void {
  const { runtime } = parts;
  for (const mode of MODES) {
    const checkout: Checkout = { parts, mode, rejected: new Map(), sent: new Map() };
    const operation = {
      tag: 'Service: checkout',
      query: CheckoutQuery,
      lines: 'checkout-*',
    } as const;
    const path = CHECKOUT_PATHS[mode];
    for (const [method, description] of Object.entries(VIEWS)) {
      // A POST responds like the GET (observed: checkout-post), or with 405 (observed: checkout-post-refused).
      if (method === 'POST' && runtime.settings.choices.checkoutByPost === 'refused') continue;
      const describe = (): Operation => ({
        ...operation,
        summary: `Hosted checkout in ${MODE_WORDS[mode]}${method === 'POST' ? ', by POST' : ''}`,
        description,
        source: 'observed',
        headers: { 'Accept-Language': 'English, or French if preferred.' },
        answers: [page, seeOtherPage],
        errors: [404, 409, 410],
      });
      app.on(method, path, described(describe, guarded(checkout, show)));
    }
    for (const [name, { summary, description, form, settles, submit }] of Object.entries(STEPS)) {
      if (name === 'panel' && !runtime.options.panel) continue;
      // A phone that reopens its web view repeats the last post as a GET.
      app.all(`${path}/${name}`, async (c, next) =>
        c.req.method === 'GET' && isBrowser(c) ? backToPage({ ...checkout, c }) : next(),
      );
      const describe = (): Operation => ({
        ...operation,
        summary: `${summary}, in ${MODE_WORDS[mode]}`,
        description,
        source: 'chosen',
        body: form && { types: [FORM_TYPE], schema: form },
        answers: settles ? [stays, seeOtherPage] : [seeOtherPage],
        errors: [403, 404, 409, 410, ...(form ? [422] : [])],
      });
      const post = guarded(checkout, async (visit) => {
        rejectCrossSite(visit.c, runtime);
        const fields = form ? await readTextFields(visit.c) : {};
        return submit(visit, paymentOf(visit), fields);
      });
      app.post(`${path}/${name}`, described(describe, post));
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
      return (await pages()).showRefused(visit, payment, error);
    }
  };
}

function idOf({ c }: CheckoutVisit): string {
  return c.req.query(PAYMENT_PARAMETER) ?? '';
}

function find(visit: CheckoutVisit): Payment | null {
  const payment = visit.parts.store.state.payments.get(idOf(visit));
  return payment?.mode === visit.mode ? payment : null;
}

/** @throws GatewayError `not_found` */
function paymentOf(visit: CheckoutVisit): Payment {
  const payment = find(visit);
  if (!payment) {
    throw new GatewayError('not_found', `no payment has this ${PAYMENT_PARAMETER}`);
  }
  visit.c.get('requestLog').paymentId = payment.id;
  return payment;
}

async function show(visit: CheckoutVisit): Promise<Response> {
  const payment = paymentOf(visit);
  if (payment.status !== 'pending') return showEnd(visit, payment);
  await visit.parts.payments.note(payment, 'opened', null, requestId(visit));
  return (await pages()).showStep(visit, payment, entryOf(visit, payment));
}

/** The value of the field (the rejected entry, the test value, or empty) and its problem, such as an expired code. */
function entryOf({ c, parts, mode, rejected }: CheckoutVisit, payment: Payment): Entry {
  const { checkout, runtime } = parts;
  const { sandboxEmail, sandboxCode } = runtime.settings;
  const step = stepOf(payment);
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
async function showAgain(visit: CheckoutVisit, payment: Payment, entry: Entry): Promise<Response> {
  // Copied, because a slice keeps the whole text in memory.
  const value = Buffer.from(entry.value.slice(0, MAX_ENTRY)).toString();
  remember(visit.rejected, payment.id, { ...entry, value });
  if (isBrowser(visit.c)) return backToPage(visit, '&refused=1');
  return (await pages()).showStep(visit, payment, entry, 422);
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
  const { payments, runtime } = visit.parts;
  const address = payment && (await payments.autoSettled(payment));
  if (payment && address !== null) return redirectToMerchant(visit, payment, address);
  return payment && runtime.settings.choices.settledVisit === 'error'
    ? visit.c.json(SETTLED_ERROR)
    : (await pages()).showClosed(visit, payment);
}

/** Redirects the browser to the merchant, or shows that the payment is settled. */
async function redirectToMerchant(
  visit: CheckoutVisit,
  payment: Payment,
  redirectUrl: string | null,
): Promise<Response> {
  const { payments, store } = visit.parts;
  const settled = store.state.payments.get(payment.id) ?? payment;
  if (redirectUrl === null) return (await pages()).showClosed(visit, settled, true);
  await payments.sendToShop(settled, redirectUrl, requestId(visit));
  return seeOther(visit.c, redirectUrl);
}

function backToPage(visit: CheckoutVisit, more = ''): Response {
  const { c, parts, mode } = visit;
  const id = encodeURIComponent(idOf(visit));
  return seeOther(c, checkoutUrlOf({ id, mode }, basePath(parts.runtime)) + more);
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
export function isBrowser(c: AppContext): boolean {
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
