import type { Child } from 'hono/jsx';
import type { PaymentStatus } from '../../contract/vocabulary.ts';
import BUSY from './assets/busy.ts?text';
import CHECKOUT_STYLES from './assets/checkout.css?text';
import CLOSED_STYLES from './assets/closed.css?text';
import PANEL_STYLES from './assets/panel.css?text';
import { renderDocument } from './layout.tsx';
import { fill, WORDING, type Wording } from './messages.ts';
import type { PageView } from './page-view.ts';
import { DashboardStrip, SimulatorPanel, Tip } from './panel.tsx';
import { actionOf, type CheckoutView, Step } from './step.tsx';
import { Amount, Facts, Logo, merchantOf, type PaymentSummary } from './summary.tsx';

/** Renders the page that asks for the customer's e-mail or verification code, as a whole HTML document. */
export function checkoutPage(view: CheckoutView): string {
  const { payment, panel, tip } = view;
  const words = WORDING[view.language];
  const merchant = merchantOf(payment, words);
  const title = `${fill(words.payTitle, { amount: payment.amount, merchant })} · ${words.step[view.step]}`;
  return renderDocument({
    view,
    theme: view.theme,
    title: view.problem ? fill(words.errorTitle, { title }) : title,
    styles: panel ? CHECKOUT_STYLES + PANEL_STYLES : CHECKOUT_STYLES,
    inline: BUSY,
    children: (
      <>
        <main class="card checkout">
          <section class="summary" aria-label={words.facts.label}>
            <Logo payment={payment} />
            <h1>
              <span class="payee">{fill(words.pay, { merchant })}</span> <Amount text={payment.amount} />
            </h1>
            <Facts payment={payment} words={words} />
          </section>
          <Step view={view} words={words} />
          <Next view={view} words={words} />
        </main>
        {panel && (
          <SimulatorPanel
            {...panel}
            words={words}
            action={actionOf(view, 'panel')}
            codeAction={actionOf(view, 'code')}
            tip={tip}
          />
        )}
        {!panel && tip && (
          <footer class="tip strip">
            <span class="tag">gateway-sim</span> <Tip tip={tip} words={words} />
          </footer>
        )}
      </>
    ),
  });
}

/** What happens after a step, by mode. */
const NEXT = {
  sandbox: { email: ['enterCode', 'paid', 'back'], code: ['paid', 'back'] },
  live: { email: ['sendCode', 'confirm', 'back'], code: ['charged', 'back'] },
} as const;

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

/** Renders a page with a single card, styled like the checkout. */
export function renderCard(view: PageView, title: string, children: Child, below?: Child): string {
  const content = [<main class="card closed">{children}</main>, below];
  const styles = CHECKOUT_STYLES + CLOSED_STYLES;
  return renderDocument({ view, theme: view.theme, title, styles, children: content });
}

/** The content of a final page. */
interface End {
  /** The icon, which repeats the heading. */
  sign: keyof typeof SIGNS;
  title: string;
  text: string;
  more?: Child;
  /** The button below the text; no button if its URL is null. */
  back?: { url: string | null; label: string };
  /** The payment's page in the dashboard. */
  dashboard?: string | null;
}

export function renderEnd(view: PageView, { sign, title, text, more, back, dashboard }: End): string {
  return renderCard(
    view,
    title,
    <>
      <svg class={`end ${sign}`} viewBox="0 0 24 24" aria-hidden="true">
        <path d={SIGNS[sign]} />
      </svg>
      <h1>{title}</h1>
      <p>{text}</p>
      {more}
      {back && back.url !== null && (
        <a class="button" href={back.url}>
          {back.label}
        </a>
      )}
    </>,
    dashboard && <DashboardStrip to={dashboard} words={WORDING[view.language]} />,
  );
}

const SIGNS = {
  succeeded: 'M5 12.5l4.5 4.5L19 7.5',
  canceled: 'M7 7l10 10M17 7L7 17',
  failed: 'M12 5v8.5M12 18v.5',
  expired: 'M12 5v7l4.5 3',
  pending: 'M12 5v7l4.5 3',
  unknown: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18v.5',
} as const satisfies Record<PaymentStatus | 'unknown', string>;

/** A checkout that can no longer be paid. */
export interface ClosedView extends PageView {
  /** Null for an unknown payment. */
  payment: PaymentSummary | null;
  /** Whether the payment was settled just now, without a redirect. */
  stays: boolean;
  /** The merchant's URL to return to; null if there is none. */
  backUrl: string | null;
  /** The payment's page in the dashboard; null if the simulator panel is hidden. */
  dashboard: string | null;
}

/** Renders the page of a payment that is settled, expired or unknown, as a whole HTML document. */
export function closedPage(view: ClosedView): string {
  const { payment, stays, backUrl, dashboard } = view;
  const words = WORDING[view.language];
  const { now, earlier, title, unknown, back } = words.closed;
  const merchant = merchantOf(payment, words);
  const sign = payment?.status ?? 'unknown';
  return renderEnd(view, {
    sign,
    title: title[sign],
    text: fill({ unknown, ...earlier, ...(stays && now) }[sign], { merchant }),
    more: payment && (
      <div class="receipt">
        <Logo payment={payment} />
        <p>
          <Amount text={payment.amount} />
        </p>
        <Facts payment={payment} words={words} />
      </div>
    ),
    back: { url: backUrl, label: fill(back, { merchant }) },
    dashboard,
  });
}

/**
 * Renders the page for a request that the checkout rejected, as a whole HTML document.
 *
 * @param view `message`: the reason, for the developer; `backUrl`: the checkout's URL, null for an unknown payment;
 *   `dashboard`: as on a closed page
 */
export function refusedPage(
  view: PageView & { message: string } & Pick<ClosedView, 'backUrl' | 'dashboard'>,
): string {
  const { title, text, back } = WORDING[view.language].refused;
  const more = (
    <p class="detail" lang="en">
      {view.message}
    </p>
  );
  const { backUrl: url, dashboard } = view;
  return renderEnd(view, { sign: 'failed', title, text, more, back: { url, label: back }, dashboard });
}
