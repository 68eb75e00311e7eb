import type { Child } from 'hono/jsx';
import type { PaymentStatus } from '../../contract/vocabulary.ts';
import CHECKOUT_STYLES from './assets/checkout.css?text';
import PANEL_STYLES from './assets/panel.css?text';
import { renderDocument } from './layout.tsx';
import { fill, WORDING, type Wording } from './messages.ts';
import type { PageView } from './page-view.ts';
import { SimulatorPanel, Tip } from './panel.tsx';
import { actionOf, type CheckoutView, Step } from './step.tsx';
import { Amount, Facts, Logo, merchantOf, type PaymentSummary } from './summary.tsx';

/** The page that asks for the customer's e-mail or verification code, as a whole HTML document. */
export function checkoutPage(view: CheckoutView): string {
  const words = WORDING[view.language];
  const paying = fill(words.payTitle, {
    amount: view.payment.amount,
    merchant: merchantOf(view.payment, words),
  });
  const title = `${paying} · ${words.step[view.step]}`;
  return renderDocument({
    view,
    theme: view.theme,
    title: view.problem ? fill(words.errorTitle, { title }) : title,
    styles: view.panel ? CHECKOUT_STYLES + PANEL_STYLES : CHECKOUT_STYLES,
    children: <Checkout view={view} words={words} />,
  });
}

/** A page that is one card, in the look of the checkout. */
export function renderCard(view: PageView, title: string, children: Child): string {
  const content = <main class="card closed">{children}</main>;
  return renderDocument({ view, theme: view.theme, title, styles: CHECKOUT_STYLES, children: content });
}

/** A checkout that is over. */
export interface ClosedView extends PageView {
  /** Null for one that was never known. */
  payment: PaymentSummary | null;
  /** It was settled just now, without a redirect. */
  stays: boolean;
  /** The merchant's address to go back to; null where there is none. */
  backUrl: string | null;
}

/** The page of a payment that is settled, expired or unknown, as a whole HTML document. */
export function closedPage(view: ClosedView): string {
  const words = WORDING[view.language];
  return renderCard(
    view,
    words.closed.title[view.payment?.status ?? 'unknown'],
    <Closed view={view} words={words} />,
  );
}

/**
 * The page for a request that the checkout did not take, as a whole HTML document.
 *
 * @param view `message`: why, for the developer; `backUrl`: the checkout's address, null where the payment is not known
 */
export function refusedPage(view: PageView & { message: string; backUrl: string | null }): string {
  const { refused } = WORDING[view.language];
  return renderCard(
    view,
    refused.title,
    <>
      <EndIcon end="failed" />
      <h1>{refused.title}</h1>
      <p>{refused.text}</p>
      <p class="detail" lang="en">
        {view.message}
      </p>
      {view.backUrl !== null && (
        <a class="button" href={view.backUrl}>
          {refused.back}
        </a>
      )}
    </>,
  );
}

function Checkout({ view, words }: { view: CheckoutView; words: Wording }) {
  const { payment, panel, tip } = view;
  return (
    <>
      <main class="card checkout">
        <section class="summary" aria-label={words.facts.label}>
          <Logo payment={payment} />
          <h1>
            <span class="payee">{fill(words.pay, { merchant: merchantOf(payment, words) })}</span>{' '}
            <Amount text={payment.amount} />
          </h1>
          <Facts payment={payment} words={words} />
        </section>
        <Step view={view} words={words} />
        <Next view={view} words={words} />
      </main>
      {panel ? (
        <SimulatorPanel
          words={words}
          action={actionOf(view, 'panel')}
          defaultDelivery={panel.defaultDelivery}
          tip={tip}
        />
      ) : (
        tip && (
          <footer class="tip strip">
            <span class="tag">gateway-sim</span> <Tip tip={tip} words={words} />
          </footer>
        )
      )}
    </>
  );
}

/** What follows on a step, by mode. */
const NEXT = {
  sandbox: { email: ['enterCode', 'paid', 'back'], code: ['paid', 'back'] },
  live: { email: ['sendCode', 'confirm', 'back'], code: ['charged', 'back'] },
} as const;

/** What the customer may expect, beside or below the step. */
function Next({ view: { payment, step }, words }: { view: CheckoutView; words: Wording }) {
  const { next } = words;
  const merchant = merchantOf(payment, words);
  return (
    <section class="next" aria-labelledby="next">
      <h2 id="next">{next.title}</h2>
      <ol>
        {NEXT[payment.mode][step].map((name) => (
          <li>{fill(next.steps[name], { merchant })}</li>
        ))}
      </ol>
      {payment.mode === 'live' && <p>{fill(next.assurance, { merchant })}</p>}
    </section>
  );
}

function Closed({ view, words }: { view: ClosedView; words: Wording }) {
  const { payment, stays, backUrl } = view;
  const merchant = merchantOf(payment, words);
  const end = payment?.status ?? 'unknown';
  const { now, earlier, title, unknown, back } = words.closed;
  const texts = { unknown, ...earlier, ...(stays && now) };
  return (
    <>
      <EndIcon end={end} />
      <h1>{title[end]}</h1>
      <p>{fill(texts[end], { merchant })}</p>
      {payment && (
        <div class="receipt">
          <p>
            <Amount text={payment.amount} />
          </p>
          <Facts payment={payment} words={words} />
        </div>
      )}
      {backUrl !== null && (
        <a class="button" href={backUrl}>
          {fill(back, { merchant })}
        </a>
      )}
    </>
  );
}

const END_PATHS = {
  succeeded: 'M5 12.5l4.5 4.5L19 7.5',
  canceled: 'M7 7l10 10M17 7L7 17',
  failed: 'M12 5v8.5M12 18v.5',
  expired: 'M12 5v7l4.5 3',
  pending: 'M12 5v7l4.5 3',
  unknown: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18v.5',
} as const satisfies Record<PaymentStatus | 'unknown', string>;

/** A sign of how a payment ended; the heading below says the same in words. */
export function EndIcon({ end }: { end: PaymentStatus | 'unknown' }) {
  return (
    <svg class={`end ${end}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={END_PATHS[end]} />
    </svg>
  );
}
