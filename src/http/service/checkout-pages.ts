import { randomBytes } from 'node:crypto';
import { type CheckoutProblem, stepOf } from '../../contract/checkout.ts';
import { quoted } from '../../contract/curl.ts';
import type { GatewayError } from '../../contract/error.ts';
import { command } from '../../contract/hint.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import type { AppContext, AppParts } from '../environment.ts';
import { notesOf, statusOf } from '../errors.ts';
import { shownAmount } from '../pages/amount.ts';
import { checkoutPage, closedPage, refusedPage } from '../pages/checkout.tsx';
import { pageView } from '../pages/page-view.ts';
import type { ClosedView, LiveTip, PageView, PaymentSummary } from '../pages/views.ts';

/** The value of a step's field, and what is wrong with it. */
export interface Entry {
  step: 'email' | 'code';
  value: string;
  problem: CheckoutProblem | null;
}

/** Answers with the pages of the checkout in one mode. */
export class CheckoutPages {
  readonly #parts: AppParts;
  readonly #mode: Mode;

  constructor(parts: AppParts, mode: Mode) {
    this.#parts = parts;
    this.#mode = mode;
  }

  /** The page of the step that the payment is on by now. The status tells a script whether an entry was refused. */
  step(c: AppContext, before: Payment, { value, problem }: Entry): Promise<Response> | Response {
    const { state, runtime, dialect } = this.#parts;
    const { settings } = runtime;
    const payment = state.current.payments.get(before.id) ?? before;
    const page = this.#pageView(c, payment.checkoutTheme, 'http: https: data:');
    const html = checkoutPage({
      ...page,
      step: stepOf(payment) === 'code' ? 'code' : 'email',
      payment: this.#summary(payment, page.language),
      path: dialect.paths.checkout[this.#mode],
      page: randomBytes(16).toString('base64url'),
      value,
      email: payment.payerEmail ?? '',
      problem,
      resent: problem === null && c.req.query('resent') === '1',
      sandbox: this.#mode === 'sandbox' ? { email: settings.sandboxEmail, code: settings.sandboxCode } : null,
      tip: this.#mode === 'live' ? this.#tipFor(payment) : null,
      panel: runtime.options.panel ? { defaultDelivery: settings.delivery } : null,
    });
    return c.html(html, problem && c.req.method === 'POST' ? 422 : 200);
  }

  /** The page of a payment that is over or unknown. */
  closed(
    c: AppContext,
    payment: Payment | null,
    reason: ClosedView['reason'],
    status: number,
  ): Promise<Response> | Response {
    const page = this.#pageView(c, payment?.checkoutTheme ?? 'system');
    const html = closedPage({
      ...page,
      reason,
      status: payment?.status ?? null,
      payment: payment && this.#summary(payment, page.language),
      backUrl: payment && (payment.status === 'succeeded' ? payment.successUrl : payment.cancelUrl),
    });
    return c.html(html, status as 200);
  }

  /** The page for a request that was refused before it could do anything. */
  refused(c: AppContext, payment: Payment | undefined, error: GatewayError): Promise<Response> | Response {
    const page = this.#pageView(c, payment?.checkoutTheme ?? 'system');
    const backUrl = payment ? this.#parts.dialect.checkoutUrl(payment, '') : null;
    c.get('exchange').notes = notesOf(error, this.#parts.runtime.style);
    return c.html(refusedPage({ ...page, message: error.message, backUrl }), statusOf(error));
  }

  #pageView(c: AppContext, theme: PageView['theme'], images = 'data:'): PageView {
    const view = pageView(c, theme, { ...CHECKOUT_POLICY, images });
    c.header('Content-Language', view.language);
    return view;
  }

  /** What a developer need not look for: a wallet that could pay, or how to fill one, and then the code. */
  #tipFor(payment: Payment): LiveTip {
    const { wallets, runtime } = this.#parts;
    const shown = (name: string, ...args: string[]) => runtime.style.command(command(name, ...args));
    if (stepOf(payment) === 'code') return { about: 'code', command: shown('inbox') };
    const found = wallets.payerOf(payment);
    if (!found) return { about: 'no_wallet', command: shown('wallets fund') };
    const { id: walletId, email } = found.wallet;
    if (found.canPay) return { about: 'wallet', email, command: shown('wallets') };
    // A state from outside may name its wallets as it likes.
    const id = /^\w[\w-]*$/.test(walletId) ? walletId : quoted(walletId);
    return { about: 'no_wallet', command: shown('wallets fund', id, '--amount', payment.amount) };
  }

  #summary(payment: Payment, language: PageView['language']): PaymentSummary {
    const { id, mode, merchantId, siteLogo, details, identifier } = payment;
    return {
      id,
      mode,
      merchantName: this.#parts.state.current.merchants.get(merchantId)?.name ?? '',
      siteLogo,
      details,
      amount: shownAmount(this.#parts, payment.amount, payment.currency, language),
      identifier,
    };
  }
}

/**
 * `form-action` also governs where a post may be redirected to, and the merchant's page may redirect further: any
 * http(s) address must do. A phone's web view shows the page on its own, so that `frame-ancestors` may shut out the
 * pages of other sites.
 */
const CHECKOUT_POLICY = { forms: "'self' http: https:", framedBy: "'self'" };
