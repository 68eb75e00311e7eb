import { parseInput } from '../../contract/input.ts';
import { SettleInput } from '../../contract/payment.ts';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import type { StepResult } from '../../usecases/checkout.ts';
import type { SettleCommand } from '../../usecases/payments.ts';
import { readTextFields } from '../body.ts';
import type { App, AppContext, AppParts } from '../environment.ts';
import { asGatewayError } from '../errors.ts';
import { refuseCrossSite } from '../guard.ts';
import { described } from '../operation.ts';
import { basePath } from '../pages/layout.tsx';
import { readsForm, STEP_NAMES, type StepName, showOperation, stepOperation } from './checkout-operations.ts';
import { type Entry, showClosed, showRefused, showStep } from './checkout-pages.ts';

/** Mounts the hosted checkout in both modes. A POST to its URL responds like the GET (observed: checkout-post), or with 405 (observed: checkout-post-refused). */
export function mountCheckout(app: App, parts: AppParts): void {
  for (const mode of MODES) {
    const path = parts.dialect.paths.checkout[mode];
    const steps = new Checkout(parts, mode);
    const isPostRefused = parts.runtime.settings.choices.checkoutByPost === 'refused';
    for (const method of isPostRefused ? (['GET'] as const) : (['GET', 'POST'] as const)) {
      const show = (c: AppContext) => steps.guarded(c, () => steps.show(c));
      app.on(method, path, described(showOperation(mode, method, parts.dialect), show));
    }
    for (const name of STEP_NAMES) {
      if (name === 'panel' && !parts.runtime.options.panel) continue;
      // A phone that reopens its web view repeats the last post as a GET.
      app.all(`${path}/${name}`, async (c, next) =>
        c.req.method === 'GET' && isBrowser(c) ? steps.backToPage(c) : next(),
      );
      const submit = (c: AppContext) => steps.guarded(c, () => steps.submit(c, name));
      app.post(`${path}/${name}`, described(stepOperation(mode, name, parts.dialect), submit));
    }
  }
}

/** Maximum number of rejected entries, and of results of settling forms, that are kept in memory. */
const REMEMBERED = 1_000;

/** Maximum length of a rejected entry that is shown again; longer than any e-mail address. */
const SHOWN_AGAIN = 320;

/** Keeps only the newest entries, so that visitors cannot fill the memory. */
class BoundedMap<Value> extends Map<string, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: string, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const [oldest = ''] = this.keys();
    if (this.size > this.#limit) this.delete(oldest);
    return this;
  }
}

/** The action of a form: one call and a redirect. */
type Step = (c: AppContext, payment: Payment, fields: Readonly<Record<string, string>>) => Promise<Response>;

/** The steps of the checkout in one mode. */
class Checkout {
  readonly #parts: AppParts;
  readonly #mode: Mode;
  /** The last rejected entry by payment, to show again with the problem. */
  readonly #refused = new BoundedMap<Entry>(REMEMBERED);
  /** Results of the forms that settle, by form and page. */
  readonly #sent = new BoundedMap<Promise<StepResult>>(REMEMBERED);

  constructor(parts: AppParts, mode: Mode) {
    this.#parts = parts;
    this.#mode = mode;
  }

  /** The forms below the checkout's address. */
  readonly #steps: Readonly<Record<StepName, Step>> = {
    email: async (c, payment, { email: value = '' }) => {
      const problem = await this.#parts.checkout.enterEmail(payment, value, requestId(c));
      return problem ? this.#again(c, payment, { step: 'email', value, problem }) : this.backToPage(c);
    },
    code: (c, payment, { code: value = '' }) =>
      this.#settle(c, payment, 'code', () => this.#parts.checkout.enterCode(payment, value, requestId(c))),
    resend: async (c, payment) => {
      await this.#parts.checkout.resendCode(payment, requestId(c));
      return this.backToPage(c, '&resent=1');
    },
    back: async (c, payment) => {
      await this.#parts.checkout.changeEmail(payment);
      return this.backToPage(c);
    },
    cancel: (c, payment) =>
      this.#settle(c, payment, 'cancel', () =>
        this.#end(payment, { outcome: 'cancel', by: 'customer', requestId: requestId(c) }),
      ),
    panel: (c, payment, fields) => {
      const { outcome, delivery } = parseInput(SettleInput, {
        outcome: fields['outcome'],
        delivery: fields['delivery'],
      });
      const end = () => this.#end(payment, { outcome, delivery, by: 'panel', requestId: requestId(c) });
      return this.#settle(c, payment, `panel ${outcome}`, end);
    },
  };

  /** Runs the action of a form. */
  async submit(c: AppContext, name: StepName): Promise<Response> {
    refuseCrossSite(c, this.#parts.runtime);
    const fields = readsForm(name) ? await readTextFields(c) : {};
    return this.#steps[name](c, this.#payment(c), fields);
  }

  /** Shows errors that a customer can cause as pages. */
  async guarded(c: AppContext, step: () => Promise<Response>): Promise<Response> {
    try {
      return await step();
    } catch (thrown) {
      const error = asGatewayError(thrown);
      const payment = this.#find(c);
      if (error.code === (payment ? 'wrong_state' : 'not_found')) {
        c.get('requestLog').notes = [error.message];
        return payment?.status === 'pending' ? this.backToPage(c) : await this.#over(c, payment);
      }
      if (!isBrowser(c) || error.code === 'internal') throw error;
      return showRefused(c, this.#parts, payment, error);
    }
  }

  #id(c: AppContext): string {
    return c.req.query(this.#parts.dialect.paymentParameter) ?? '';
  }

  #find(c: AppContext): Payment | null {
    const payment = this.#parts.payments.all.get(this.#id(c));
    return payment?.mode === this.#mode ? payment : null;
  }

  #payment(c: AppContext): Payment {
    const payment = this.#parts.payments.requireInMode(this.#id(c), this.#mode);
    c.get('requestLog').paymentId = payment.id;
    return payment;
  }

  /** The page of the current step. */
  async show(c: AppContext): Promise<Response> {
    const payment = this.#payment(c);
    if (payment.status !== 'pending') return this.#over(c, payment);
    await this.#parts.payments.note(payment, 'opened', null, requestId(c));
    return showStep(c, this.#parts, payment, this.#entry(c, payment));
  }

  /** The value of the field (the rejected entry, the test value, or empty) and its problem, such as an expired code. */
  #entry(c: AppContext, payment: Payment): Entry {
    const step = this.#parts.checkout.stepOf(payment);
    const refused = c.req.query('refused') === '1' ? this.#refused.get(payment.id) : undefined;
    if (refused?.step === step) return refused;
    const { sandboxEmail, sandboxCode } = this.#parts.runtime.settings;
    const fills = this.#mode === 'sandbox' && c.req.query('fill') === '1';
    const filled = step === 'email' ? sandboxEmail : sandboxCode;
    const problem = step === 'code' ? this.#parts.checkout.codeProblem(payment) : null;
    return { step, value: fills ? filled : '', problem };
  }

  /**
   * Shows the step again with the problem. A browser is redirected, so that its back button never leads to a posted
   * page. Other clients get the page as the response.
   */
  #again(c: AppContext, payment: Payment, entry: Entry): Response | Promise<Response> {
    // Copied, because a slice keeps the whole text in memory.
    const value = Buffer.from(entry.value.slice(0, SHOWN_AGAIN)).toString();
    this.#refused.set(payment.id, { ...entry, value });
    return isBrowser(c) ? this.backToPage(c, '&refused=1') : showStep(c, this.#parts, payment, entry, 422);
  }

  async #end({ id }: Payment, input: SettleCommand): Promise<StepResult> {
    const { redirectUrl } = await this.#parts.payments.settle(id, input);
    return { problem: null, redirectUrl };
  }

  /**
   * Runs the action of a form once per page. After a double click, a browser follows only the last response, which must
   * be the same redirect and not the page of a settled payment.
   */
  async #settle(c: AppContext, payment: Payment, form: string, run: () => Promise<StepResult>) {
    const page = c.req.query('page');
    const key = `${payment.id} ${form} ${page}`;
    const sent = this.#sent.get(key) ?? run();
    if (page) this.#sent.set(key, sent);
    const result = await sent.catch((error) => {
      this.#sent.delete(key);
      throw error;
    });
    if (!result.problem) return this.#leave(c, payment, result.redirectUrl);
    this.#sent.delete(key);
    // A wrong code is not shown again.
    return this.#again(c, payment, { step: 'code', value: '', problem: result.problem });
  }

  async #over(c: AppContext, payment: Payment | null): Promise<Response> {
    const { payments, runtime, dialect } = this.#parts;
    const address = payment && (await payments.autoSettled(payment));
    if (payment && address !== null) return this.#leave(c, payment, address);
    return payment && runtime.settings.choices.settledVisit === 'error'
      ? c.json(dialect.settledError)
      : showClosed(c, this.#parts, payment);
  }

  /** Redirects the browser to the merchant, or shows that the payment is settled. */
  async #leave(c: AppContext, payment: Payment, redirectUrl: string | null): Promise<Response> {
    const settled = this.#parts.payments.all.get(payment.id) ?? payment;
    if (redirectUrl === null) return showClosed(c, this.#parts, settled, true);
    await this.#parts.payments.note(settled, 'redirected', redirectUrl, requestId(c));
    return seeOther(c, redirectUrl);
  }

  /** Redirects to the page of the current step. */
  backToPage(c: AppContext, more = ''): Response {
    const { dialect, runtime } = this.#parts;
    const id = encodeURIComponent(this.#id(c));
    return seeOther(c, dialect.checkoutUrl({ id, mode: this.#mode }, basePath(runtime)) + more);
  }
}

const requestId = (c: AppContext): number | undefined => c.get('requestLog').id;

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
