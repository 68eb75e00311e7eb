import { OUTCOMES, PAYMENT_OUTCOMES, type PaymentOutcome } from '../../contract/outcomes.ts';
import { DELIVERY_ORDERS, type DeliveryOrder } from '../../contract/vocabulary.ts';
import { PLACES } from './dashboard/page.tsx';
import { fill, type Wording } from './messages.ts';

/**
 * What a developer who tries a live checkout would look for elsewhere: who can pay, and where the code is. The command tells
 * or does more, and can be pasted as it stands.
 */
export type LiveTip =
  | { about: 'wallet'; email: string; command: string }
  | { about: 'no_wallet'; command: string }
  /** `code`: the one that was sent last; null where it cannot pay any more. */
  | { about: 'code'; code: string | null; command: string };

/** The emulator's own word below a checkout, and its controls: settle at once. They fold away without a script. */
export function SimulatorPanel(props: {
  words: Wording;
  action: string;
  /** Where the form of the verification code posts to. */
  codeAction: string;
  /** The payment's page in the dashboard. */
  dashboard: string;
  defaultDelivery: DeliveryOrder;
  tip: LiveTip | null;
}) {
  const { words, action, codeAction, dashboard, defaultDelivery, tip } = props;
  const { panel, status } = words;
  const statusOf = (outcome: PaymentOutcome) => status[PAYMENT_OUTCOMES[outcome].status].toLowerCase();
  return (
    <aside class="panel" aria-label={panel.region}>
      <details open>
        <summary>
          <span class="tag">{panel.title}</span> {panel.note}
        </summary>
        {tip && <PanelTip tip={tip} words={words} codeAction={codeAction} />}
        <form method="post" action={action}>
          <div>
            <label for="delivery">{panel.delivery}</label>
            <select id="delivery" name="delivery">
              {DELIVERY_ORDERS.map((order) => (
                <option value={order} selected={order === defaultDelivery}>
                  {panel.timings[order]} ({order})
                </option>
              ))}
            </select>
          </div>
          <fieldset>
            <legend>{panel.settle}</legend>
            <div class="outcomes">
              {OUTCOMES.map((outcome) => (
                <button
                  type="submit"
                  name="outcome"
                  value={outcome}
                  data-to={statusOf(outcome)}
                  title={fill(panel.result, { status: statusOf(outcome) })}
                >
                  {panel.outcomes[outcome]}
                </button>
              ))}
            </div>
          </fieldset>
        </form>
        <p class="tip">
          <DashboardLink to={dashboard} words={words} />
        </p>
      </details>
    </aside>
  );
}

/** A code that can pay is there to be entered. @param codeAction where the form of the verification code posts to */
function PanelTip({ tip, words, codeAction }: { tip: LiveTip; words: Wording; codeAction: string }) {
  if (tip.about !== 'code' || tip.code === null) {
    return (
      <p class="tip">
        <Tip tip={tip} words={words} />
      </p>
    );
  }
  return (
    <form class="tip enter" method="post" action={codeAction}>
      <span>
        {words.tip.codeIs} <code>{tip.code}</code>, {words.tip.alsoIn} <InboxLink words={words} />.
      </span>
      <input type="hidden" name="code" value={tip.code} />
      <button type="submit">{words.tip.enter}</button>
    </form>
  );
}

/** To what the emulator knows of the payment, in a tab of its own: the checkout stays where it is. */
function DashboardLink({ to, words }: { to: string; words: Wording }) {
  return (
    <a href={to} target="_blank" rel="noopener">
      {words.panel.dashboard}
    </a>
  );
}

/** The emulator's own word below a page that is over. */
export function DashboardStrip({ to, words }: { to: string; words: Wording }) {
  return (
    <footer class="tip strip">
      <span class="tag">{words.panel.title}</span> <DashboardLink to={to} words={words} />
    </footer>
  );
}

/** Who can pay, and where the code is: on a live page, where the emulator sends nothing to anybody. */
export function Tip({ tip, words }: { tip: LiveTip; words: Wording }) {
  const { tip: texts } = words;
  const command = <Command text={tip.command} />;
  switch (tip.about) {
    case 'wallet':
      return [<code>{tip.email}</code>, ` ${texts.wallet} `, command];
    case 'no_wallet':
      return [`${texts.noWallet} `, command];
    case 'code':
      return (
        <>
          {texts.code} {command} {texts.orIn} <InboxLink words={words} />.
        </>
      );
  }
}

function InboxLink({ words }: { words: Wording }) {
  return (
    <a href={PLACES.inbox.path} target="_blank" rel="noopener">
      {words.tip.inbox}
    </a>
  );
}

/** A command to paste. A line ends between its words, not at a hyphen within one. */
export function Command({ text }: { text: string }) {
  const words = text.split(' ').flatMap((word, index) => [index > 0 && ' ', <span>{word}</span>]);
  return <code class="command">{words}</code>;
}
