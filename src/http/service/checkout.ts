import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import type { CheckoutProblem } from '../../domain/checkout.ts';
import { stepOf } from '../../domain/checkout.ts';
import { GatewayError } from '../../domain/error.ts';
import { formatAmount } from '../../domain/money.ts';
import { DELIVERY_ORDERS, type DeliveryOrder } from '../../domain/settings.ts';
import { selfSettledAddress } from '../../domain/settle.ts';
import { MODES, type Mode, OUTCOMES, type Payment, type PaymentOutcome } from '../../domain/state.ts';
import { readFields } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { asGatewayError, statusOf } from '../errors.ts';
import { refuseCrossSite } from '../guard.ts';
import { checkoutPage, closedPage } from '../pages/checkout.tsx';
import type { ClosedView, PageView, PaymentSummary } from '../pages/views.ts';
import { CHECKOUT_PATHS } from '../urls.ts';

/** Mounts the hosted checkout in both modes. A POST to its address answers like the GET (observed). */
export function mountCheckout(app: Hono<AppEnvironment>, parts: AppParts): void {
  for (const mode of MODES) {
    const path = CHECKOUT_PATHS[mode];
    const steps = new Checkout(parts, mode);
    app.on(['GET', 'POST'], path, (c) => steps.guarded(c, () => steps.show(c)));
    for (const [name, step] of Object.entries(steps.forms)) {
      app.post(`${path}/${name}`, (c) =>
        steps.guarded(c, () => {
          refuseCrossSite(c, parts.facts, { allowNavigation: false });
          return step(c);
        }),
      );
    }
  }
}

/** The steps of the checkout in one mode: each reads a form, makes one call, and redirects or shows the page again. */
class Checkout {
  readonly #parts: AppParts;
  readonly #mode: Mode;
  /** The forms below the checkout's address, by name. */
  readonly forms: Readonly<Record<string, (c: AppContext) => Promise<Response>>>;

  constructor(parts: AppParts, mode: Mode) {
    this.#parts = parts;
    this.#mode = mode;
    this.forms = {
      email: (c) => this.#email(c),
      code: (c) => this.#code(c),
      resend: async (c) => {
        await parts.gateway.resendCode(this.#payment(c));
        return this.#backToPage(c, '&resent=1');
      },
      back: async (c) => {
        await parts.gateway.changeEmail(this.#payment(c));
        return this.#backToPage(c);
      },
      cancel: (c) => this.#settle(c, 'cancel', undefined, 'customer'),
      ...(parts.facts.options.panel && { panel: (c: AppContext) => this.#panel(c) }),
    };
  }

  /** Turns the errors that a customer can run into to pages of their own. */
  async guarded(c: AppContext, step: () => Promise<Response>): Promise<Response> {
    try {
      return await step();
    } catch (thrown) {
      const error = asGatewayError(thrown);
      c.get('exchange').notes = [error.message];
      const payment = this.#find(c);
      if (error.code === 'not_found' && !payment) return this.#closed(c, null, 'unknown', statusOf(error));
      if (error.code === 'wrong_state' && payment && payment.status !== 'pending')
        return this.#over(c, payment);
      throw error;
    }
  }

  #find(c: AppContext): Payment | undefined {
    const payment = this.#parts.gateway.state.payments.get(c.req.query('payment_id') ?? '');
    return payment?.mode === this.#mode ? payment : undefined;
  }

  #payment(c: AppContext): Payment {
    const payment = this.#parts.gateway.payment(c.req.query('payment_id') ?? '', this.#mode);
    c.get('exchange').paymentId = payment.id;
    return payment;
  }

  /** The page of the step that the payment is on. */
  async show(c: AppContext): Promise<Response> {
    const payment = this.#payment(c);
    if (payment.status !== 'pending') return this.#over(c, payment);
    await this.#parts.gateway.note(payment, 'opened');
    const { sandboxEmail, sandboxCode } = this.#parts.gateway.settings;
    const fills = this.#mode === 'sandbox' && c.req.query('fill') === '1';
    const filled = stepOf(payment) === 'email' ? sandboxEmail : sandboxCode;
    return this.#page(c, payment, { value: fills ? filled : '', problem: null });
  }

  async #email(c: AppContext): Promise<Response> {
    const email = String((await readFields(c)).fields['email'] ?? '');
    const payment = this.#payment(c);
    const problem = await this.#parts.gateway.enterEmail(payment, email);
    return problem ? this.#page(c, payment, { value: email, problem }) : this.#backToPage(c);
  }

  async #code(c: AppContext): Promise<Response> {
    const code = String((await readFields(c)).fields['code'] ?? '');
    const payment = this.#payment(c);
    if (payment.status === 'pending' && stepOf(payment) === 'email') return this.#backToPage(c);
    const result = await this.#parts.gateway.enterCode(payment, code);
    if (result.problem) return this.#page(c, payment, { value: code, problem: result.problem });
    return this.#leave(c, payment, result.redirectUrl);
  }

  async #panel(c: AppContext): Promise<Response> {
    const { fields } = await readFields(c);
    const outcome = OUTCOMES.find((name) => name === fields['outcome']);
    const delivery = DELIVERY_ORDERS.find((name) => name === fields['delivery']);
    if (!outcome) {
      throw new GatewayError('invalid_fields', `outcome must be one of ${OUTCOMES.join(', ')}`);
    }
    return this.#settle(c, outcome, delivery, 'panel');
  }

  async #settle(
    c: AppContext,
    outcome: PaymentOutcome,
    delivery: DeliveryOrder | undefined,
    by: 'customer' | 'panel',
  ): Promise<Response> {
    const payment = this.#payment(c);
    const { redirectUrl } = await this.#parts.gateway.settle(payment.id, { outcome, delivery, by });
    return this.#leave(c, payment, redirectUrl);
  }

  /** Sends the browser to the merchant, or says that it stays here. */
  async #leave(c: AppContext, payment: Payment, redirectUrl: string | null): Promise<Response> {
    const settled = this.#parts.gateway.state.payments.get(payment.id) ?? payment;
    if (redirectUrl === null) return this.#closed(c, settled, 'stayed', 200);
    await this.#parts.gateway.note(settled, 'redirected', redirectUrl);
    return seeOther(c, redirectUrl);
  }

  #backToPage(c: AppContext, more = ''): Response {
    const id = encodeURIComponent(c.req.query('payment_id') ?? '');
    return seeOther(c, `${CHECKOUT_PATHS[this.#mode]}?payment_id=${id}${more}`);
  }

  #page(
    c: AppContext,
    before: Payment,
    { value, problem }: { value: string; problem: CheckoutProblem | null },
  ): Promise<Response> | Response {
    const payment = this.#parts.gateway.state.payments.get(before.id) ?? before;
    const { options } = this.#parts.facts;
    const { settings } = this.#parts.gateway;
    const page = this.#pageView(c, payment.checkoutTheme);
    const html = checkoutPage({
      ...page,
      step: stepOf(payment) === 'code' ? 'code' : 'email',
      payment: this.#summary(payment, page.language),
      path: CHECKOUT_PATHS[this.#mode],
      value,
      email: payment.payerEmail ?? '',
      problem,
      resent: problem === null && c.req.query('resent') === '1',
      sandbox: this.#mode === 'sandbox' ? { email: settings.sandboxEmail, code: settings.sandboxCode } : null,
      panel: options.panel ? { defaultDelivery: settings.delivery } : null,
    });
    return c.html(html, problem ? 422 : 200);
  }

  #over(c: AppContext, payment: Payment): Response | Promise<Response> {
    const address = selfSettledAddress(payment, this.#parts.gateway.settings.delivery);
    if (address !== null) return this.#leave(c, payment, address);
    const expired = payment.status === 'expired';
    return this.#closed(c, payment, expired ? 'expired' : 'settled', expired ? 410 : 409);
  }

  #closed(
    c: AppContext,
    payment: Payment | null,
    reason: ClosedView['reason'],
    status: 200 | 404 | 409 | 410 | number,
  ) {
    const page = this.#pageView(c, payment?.checkoutTheme ?? 'light');
    const html = closedPage({
      ...page,
      reason,
      status: payment?.status ?? null,
      payment: payment && this.#summary(payment, page.language),
      backUrl: payment && (payment.status === 'succeeded' ? payment.successUrl : payment.cancelUrl),
    });
    return c.html(html, status as 200);
  }

  #pageView(c: AppContext, theme: PageView['theme']): PageView {
    const nonce = randomBytes(16).toString('base64');
    secureCheckout(c, nonce);
    return { language: languageOf(c.req.header('accept-language') ?? ''), theme, nonce };
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

/** `fr` when the browser prefers it over English, else `en`. */
export function languageOf(header: string): 'en' | 'fr' {
  const preferences = header.split(',').map((part) => {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
    const quality = parameters.map((parameter) => /^\s*q=([\d.]+)/.exec(parameter)?.[1]).find(Boolean);
    return { language: tag.split('-')[0], quality: Number(quality ?? 1) };
  });
  const qualityOf = (language: string) =>
    Math.max(
      0,
      ...preferences.filter((preference) => preference.language === language).map(({ quality }) => quality),
    );
  return qualityOf('fr') > qualityOf('en') ? 'fr' : 'en';
}

/**
 * The headers that keep a checkout page to itself. `form-action` also governs where a post may be redirected to,
 * and the merchant's page may redirect further: any http(s) address must do.
 */
function secureCheckout(c: AppContext, nonce: string): void {
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src http: https: data:; form-action 'self' http: https:; base-uri 'none'; frame-ancestors 'self'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
}

/**
 * Redirects a browser, byte for byte as given: a header carries bytes, so the text goes out as its UTF-8 bytes,
 * neither re-encoded nor refused.
 */
function seeOther(c: AppContext, location: string): Response {
  c.header('Location', Buffer.from(location, 'utf8').toString('latin1'));
  return c.body(null, 303);
}
