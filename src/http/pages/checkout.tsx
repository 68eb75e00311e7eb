import type { PaymentStatus } from '../../domain/state.ts';
import { renderDocument } from './layout.tsx';
import { SimulatorPanel } from './panel.tsx';
import { actionOf, Step } from './step.tsx';
import { CHECKOUT_STYLES } from './styles.ts';
import { Amount, Facts, Logo, merchantOf } from './summary.tsx';
import type { CheckoutView, ClosedView } from './views.ts';
import { WORDING, type Wording } from './wording.ts';

/** The page that asks for the customer's e-mail or verification code, as a whole HTML document. */
export function checkoutPage(view: CheckoutView): string {
  const words: Wording = WORDING[view.language];
  const title = words.payTitle(view.payment.amount, merchantOf(view.payment, words));
  return renderDocument({
    view,
    theme: view.theme,
    title: view.problem ? words.errorTitle(title) : title,
    styles: CHECKOUT_STYLES,
    children: <Checkout view={view} words={words} />,
  });
}

/** The page of a payment that is settled, expired or unknown, as a whole HTML document. */
export function closedPage(view: ClosedView): string {
  const words: Wording = WORDING[view.language];
  return renderDocument({
    view,
    theme: view.theme,
    title: words.closed.title[endOf(view)],
    styles: CHECKOUT_STYLES,
    children: <Closed view={view} words={words} />,
  });
}

function Checkout({ view, words }: { view: CheckoutView; words: Wording }) {
  const { payment, panel } = view;
  return (
    <>
      <main class="card checkout">
        <section class="summary" aria-label={words.facts.label}>
          <Logo payment={payment} />
          <h1>
            <span class="payee">{words.pay(merchantOf(payment, words))}</span>{' '}
            <Amount text={payment.amount} />
          </h1>
          <Facts payment={payment} words={words} />
        </section>
        <Step view={view} words={words} />
      </main>
      {panel && (
        <SimulatorPanel
          view={view}
          words={words}
          action={actionOf(view, 'panel')}
          defaultDelivery={panel.defaultDelivery}
        />
      )}
    </>
  );
}

/** How a closed payment ended. */
function endOf({ reason, status }: ClosedView): PaymentStatus | 'unknown' {
  return reason === 'expired' ? 'expired' : reason === 'unknown' || status === null ? 'unknown' : status;
}

function Closed({ view, words }: { view: ClosedView; words: Wording }) {
  const { payment, backUrl } = view;
  const merchant = merchantOf(payment, words);
  const end = endOf(view);
  const texts = view.reason === 'stayed' ? words.closed.now : words.closed.earlier;
  return (
    <main class="card closed">
      <EndIcon end={end} />
      <h1>{words.closed.title[end]}</h1>
      <p>{end === 'unknown' ? words.closed.unknown : texts[end](merchant)}</p>
      {payment && (
        <>
          <p>
            <Amount text={payment.amount} />
          </p>
          <Facts payment={payment} words={words} />
        </>
      )}
      {backUrl !== null && (
        <a class="button" href={backUrl}>
          {words.closed.back(merchant)}
        </a>
      )}
    </main>
  );
}

const END_PATHS = {
  succeeded: 'M5 12.5l4.5 4.5L19 7.5',
  canceled: 'M7 7l10 10M17 7L7 17',
  failed: 'M12 6v7M12 17v.5',
  expired: 'M12 6v6l4 3',
  pending: 'M12 6v6l4 3',
  unknown: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.5',
} as const satisfies Record<PaymentStatus | 'unknown', string>;

function EndIcon({ end }: { end: PaymentStatus | 'unknown' }) {
  return (
    <svg class={`end ${end}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={END_PATHS[end]} />
    </svg>
  );
}
