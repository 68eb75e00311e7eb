import { randomBytes } from 'node:crypto';
import { urlProblem } from '../../contract/address.ts';
import { stepOf } from '../../contract/checkout.ts';
import { shellWord } from '../../contract/curl.ts';
import { command, type GatewayError } from '../../contract/error.ts';
import { moment } from '../../contract/time.ts';
import type { Payment } from '../../domain/state.ts';
import { CHECKOUT_PATHS, checkoutUrlOf } from '../../service/names.ts';
import { type AppContext, type AppDependencies, basePath, type ServerRuntime } from '../environment.ts';
import { statusOf } from '../errors.ts';
import {
  type CheckoutView,
  checkoutPage,
  closedPage,
  type LiveTip,
  type PaymentSummary,
  renderEnd,
} from '../pages/checkout.tsx';
import { type Language, WORDING } from '../pages/checkout-texts.ts';
import { PLACES, recordPath } from '../pages/dashboard/paths.ts';
import { type PageView, pageView, shownAmount } from '../pages/layout.tsx';
import { notesOf } from '../record-requests.ts';

/*
 * What the checkout shows. Loaded for the first page, to keep the start fast.
 */

export type Entry = Pick<CheckoutView, 'step' | 'value' | 'problem'>;

interface Visit {
  c: AppContext;
  parts: AppDependencies;
}

/** The page of the current step. @param status 422 for a rejected entry */
export function showStep(
  { c, parts }: Visit,
  before: Payment,
  { value, problem }: Entry,
  status: 200 | 422 = 200,
) {
  const { store, runtime } = parts;
  const { settings, options } = runtime;
  const payment = store.state.payments.get(before.id) ?? before;
  const isLive = payment.mode === 'live';
  const page = customerView(c, runtime, payment, 'http: https: data:');
  const html = checkoutPage({
    ...page,
    step: stepOf(payment),
    payment: summaryOf(parts, payment, page.language),
    path: basePath(runtime) + CHECKOUT_PATHS[payment.mode],
    page: randomBytes(16).toString('base64url'),
    value,
    email: payment.payerEmail ?? '',
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
export function showClosed({ c, parts }: Visit, payment: Payment | null, stays = false) {
  const page = customerView(c, parts.runtime, payment, payment ? 'http: https: data:' : 'data:');
  const { mapped } = parts.runtime.settings;
  const back = payment && mapped(payment.status === 'succeeded' ? payment.successUrl : payment.cancelUrl);
  const html = closedPage({
    ...page,
    payment: payment && summaryOf(parts, payment, page.language),
    dashboard: dashboardOf(parts, payment),
    // An imported state may contain any text.
    backUrl: back !== null && urlProblem(back) === undefined ? back : null,
  });
  if (stays) return c.html(html);
  return c.html(html, payment === null ? 404 : payment.status === 'expired' ? 410 : 409);
}

/** The page for a rejected request. */
export function showRefused({ c, parts }: Visit, payment: Payment | null, error: GatewayError) {
  const { runtime } = parts;
  c.get('requestLog').notes = notesOf(error, runtime);
  const page = customerView(c, runtime, payment);
  const { title, text, back } = WORDING[page.language].refused;
  const html = renderEnd(page, {
    sign: 'failed',
    title,
    text,
    detail: error.message,
    back: { url: payment && checkoutUrlOf(payment, basePath(runtime)), label: back },
    dashboard: dashboardOf(parts, payment),
  });
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
function tipFor({ wallets, runtime, checkout, store }: AppDependencies, payment: Payment): LiveTip {
  const commandText = (name: string, ...args: string[]) => runtime.style.command(command(name, ...args));
  if (stepOf(payment) === 'code') {
    const sent = checkout.codeProblem(payment)
      ? undefined
      : store.state.messages.get(payment.messageId ?? '');
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

function receiptOf({ trx, settledAt, createdAt, payerEmail, customerName }: Payment) {
  return { trx, date: `${moment(settledAt ?? createdAt)} UTC`, payer: payerEmail ?? customerName };
}

function summaryOf(parts: AppDependencies, payment: Payment, language: Language): PaymentSummary {
  return {
    ...payment,
    siteLogo: payment.siteLogo && parts.runtime.settings.mapped(payment.siteLogo),
    merchantName: parts.store.state.merchants.get(payment.merchantId)?.name ?? '',
    amount: shownAmount(parts, payment.amount, payment.currency, language),
    receipt: payment.status === 'succeeded' ? receiptOf(payment) : null,
  };
}
