import { DELIVERY_ORDERS, type DeliveryOrder } from '../../domain/settings.ts';
import { STATUS_AFTER } from '../../domain/settle.ts';
import { OUTCOMES } from '../../domain/state.ts';
import type { CheckoutView } from './views.ts';
import type { Wording } from './wording.ts';

/** The emulator's own controls below a checkout: settle at once, and where to find what the page asks for. */
export function SimulatorPanel(props: {
  view: CheckoutView;
  words: Wording;
  /** Where the form posts to. */
  action: string;
  defaultDelivery: DeliveryOrder;
}) {
  const { view, words, action, defaultDelivery } = props;
  return (
    <aside class="panel" aria-label={words.panel.region}>
      <p>
        <strong>{words.panel.title}</strong> {words.panel.note}
      </p>
      {view.payment.mode === 'live' && <LiveHelp step={view.step} words={words} />}
      <form method="post" action={action}>
        <label for="delivery">{words.panel.delivery}</label>
        <select id="delivery" name="delivery">
          {DELIVERY_ORDERS.map((order) => (
            <option value={order} selected={order === defaultDelivery}>
              {order}
            </option>
          ))}
        </select>
        <div class="outcomes">
          {OUTCOMES.map((outcome) => (
            <button
              type="submit"
              name="outcome"
              value={outcome}
              title={words.panel.result(words.status[STATUS_AFTER[outcome]].toLowerCase())}
            >
              {words.panel.outcomes[outcome]}
            </button>
          ))}
        </div>
      </form>
    </aside>
  );
}

function LiveHelp({ step, words }: { step: CheckoutView['step']; words: Wording }) {
  if (step === 'email') {
    return (
      <p>
        {words.panel.wallets} <code>gateway-sim wallets</code>
      </p>
    );
  }
  return (
    <p>
      {words.panel.code} <code>gateway-sim inbox</code> · <a href="/_sim/inbox">/_sim/inbox</a>
    </p>
  );
}
