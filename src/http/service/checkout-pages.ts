import { randomBytes } from 'node:crypto';
import type { GatewayError } from '../../contract/error.ts';
import { command } from '../../contract/hint.ts';
import type { Mode } from '../../contract/vocabulary.ts';
import { type CheckoutProblem, stepOf } from '../../domain/checkout.ts';
import { compare, formatAmount } from '../../domain/money.ts';
import type { Payment } from '../../domain/state.ts';
import { quoted } from '../../wire/curl.ts';
import { CHECKOUT_PATHS, checkoutUrl } from '../../wire/paths.ts';
import type { AppContext, AppParts } from '../environment.ts';
import { notesOf, statusOf } from '../errors.ts';
import { languageOf } from '../language.ts';
import { checkoutPage, closedPage, refusedPage } from '../pages/checkout.tsx';
import type { ClosedView, LiveTip, PageView, PaymentSummary } from '../pages/views.ts';

/** What stands in the field of a step, and what is wrong with it. */
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
    const { gateway, facts } = this.#parts;
    const { settings } = gateway;
    const payment = gateway.state.payments.get(before.id) ?? before;
    const page = this.#pageView(c, payment.checkoutTheme, 'http: https: data:');
    const html = checkoutPage({
      ...page,
      step: stepOf(payment) === 'code' ? 'code' : 'email',
      payment: this.#summary(payment, page.language),
      path: CHECKOUT_PATHS[this.#mode],
      page: randomBytes(16).toString('base64url'),
      value,
      email: payment.payerEmail ?? '',
      problem,
      resent: problem === null && c.req.query('resent') === '1',
      sandbox: this.#mode === 'sandbox' ? { email: settings.sandboxEmail, code: settings.sandboxCode } : null,
      tip: this.#mode === 'live' ? this.#tipFor(payment) : null,
      panel: facts.options.panel ? { defaultDelivery: settings.delivery } : null,
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
    const page = this.#pageView(c, payment?.checkoutTheme ?? 'system', 'data:');
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
    const page = this.#pageView(c, payment?.checkoutTheme ?? 'system', 'data:');
    const backUrl = payment ? checkoutUrl(payment, '') : null;
    c.get('exchange').notes = notesOf(error);
    return c.html(refusedPage({ ...page, message: error.message, backUrl }), statusOf(error));
  }

  #pageView(c: AppContext, theme: PageView['theme'], images: string): PageView {
    const nonce = randomBytes(16).toString('base64');
    const language = languageOf(c.req.header('accept-language') ?? '');
    secureCheckout(c, nonce, images);
    c.header('Content-Language', language);
    return { language, theme, nonce };
  }

  /** What a developer need not look for: a wallet that could pay, or how to fill one, and then the code. */
  #tipFor(payment: Payment): LiveTip {
    const { gateway, facts } = this.#parts;
    if (stepOf(payment) === 'code') return { about: 'code', command: facts.command('gateway-sim inbox') };
    let empty: string | null = null;
    for (const { id, email, currency, balance } of gateway.state.wallets.values()) {
      if (currency !== payment.currency) continue;
      if (compare(balance, payment.amount) >= 0)
        return { about: 'wallet', email, command: facts.command('gateway-sim wallets') };
      empty ??= id;
    }
    const fund = facts.command('gateway-sim wallets fund');
    if (empty === null) return { about: 'no_wallet', command: fund };
    // A state from outside may name its wallets as it likes.
    const id = /^\w[\w-]*$/.test(empty) ? empty : quoted(empty);
    return { about: 'no_wallet', command: `${fund} ${id} --amount ${payment.amount}` };
  }

  #summary(payment: Payment, language: PageView['language']): PaymentSummary {
    const { state, settings } = this.#parts.gateway;
    const currency = settings.currencies.get(payment.currency) ?? {
      code: payment.currency,
      name: payment.currency,
      symbol: payment.currency,
      decimals: 2,
    };
    return {
      id: payment.id,
      mode: payment.mode,
      merchantName: state.merchants.get(payment.merchantId)?.name ?? '',
      siteLogo: payment.siteLogo,
      details: payment.details,
      amount: formatAmount(payment.amount, currency, language),
      identifier: payment.identifier,
    };
  }
}

/**
 * The headers that keep a checkout page to itself. `form-action` also governs where a post may be redirected to, and
 * the merchant's page may redirect further: any http(s) address must do. A phone's web view shows the page on its
 * own, so that `frame-ancestors` may shut out the pages of other sites.
 */
function secureCheckout(c: AppContext, nonce: string, images: string): void {
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src ${images}; form-action 'self' http: https:; base-uri 'none'; frame-ancestors 'self'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
}
