import {
  DELIVERY_ORDERS,
  type DeliveryOrder,
  OUTCOMES,
  PAYMENT_OUTCOMES,
} from '../../contract/vocabulary.ts';
import { fill, type Wording } from './messages.ts';
import { Tip } from './tip.tsx';
import type { LiveTip } from './views.ts';

/** The emulator's own word below a checkout, and its controls: settle at once. They fold away without a script. */
export function SimulatorPanel(props: {
  words: Wording;
  /** Where the form posts to. */
  action: string;
  defaultDelivery: DeliveryOrder;
  tip: LiveTip | null;
}) {
  const { words, action, defaultDelivery, tip } = props;
  return (
    <aside class="panel" aria-label={words.panel.region}>
      <details open>
        <summary>
          <span class="tag">{words.panel.title}</span> {words.panel.note}
        </summary>
        {tip && (
          <p class="tip">
            <Tip tip={tip} words={words} />
          </p>
        )}
        <form method="post" action={action}>
          <div>
            <label for="delivery">{words.panel.delivery}</label>
            <select id="delivery" name="delivery">
              {DELIVERY_ORDERS.map((order) => (
                <option value={order} selected={order === defaultDelivery}>
                  {order}
                </option>
              ))}
            </select>
          </div>
          <fieldset>
            <legend>{words.panel.settle}</legend>
            <div class="outcomes">
              {OUTCOMES.map((outcome) => (
                <button
                  type="submit"
                  name="outcome"
                  value={outcome}
                  title={fill(words.panel.result, {
                    status: words.status[PAYMENT_OUTCOMES[outcome].status].toLowerCase(),
                  })}
                >
                  {words.panel.outcomes[outcome]}
                </button>
              ))}
            </div>
          </fieldset>
        </form>
      </details>
    </aside>
  );
}
