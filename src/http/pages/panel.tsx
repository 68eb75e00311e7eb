import { OUTCOMES, PAYMENT_OUTCOMES, type PaymentOutcome } from '../../contract/outcomes.ts';
import { DELIVERY_ORDERS, type DeliveryOrder } from '../../contract/vocabulary.ts';
import { PLACES } from './dashboard/page.tsx';
import { fill, type Wording } from './messages.ts';

/**
 * What a developer needs to test a live checkout: a wallet that can pay, or the verification code. `command` is ready
 * to paste.
 */
export type LiveTip =
  | { about: 'wallet'; email: string; command: string }
  | { about: 'no_wallet'; command: string }
  /** `code`: the latest code; null if it is no longer valid. */
  | { about: 'code'; code: string | null; command: string };

/** The emulator's tip below a checkout, and buttons that settle the payment immediately. Needs no script. */
export function SimulatorPanel(props: {
  words: Wording;
  action: string;
  /** Where the verification code is posted. */
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
          <NewTab to={dashboard} text={panel.dashboard} />
        </p>
      </details>
    </aside>
  );
}

/** Offers a button that enters a valid code. @param codeAction where the code is posted */
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
        {words.tip.codeIs} <code>{tip.code}</code>, {words.tip.alsoIn}{' '}
        <NewTab to={PLACES.inbox.path} text={words.tip.inbox} />.
      </span>
      <input type="hidden" name="code" value={tip.code} />
      <button type="submit">{words.tip.enter}</button>
    </form>
  );
}

/** Opens in a new tab, so that the checkout stays open. */
function NewTab({ to, text }: { to: string; text: string }) {
  return (
    <a href={to} target="_blank" rel="noopener">
      {text}
    </a>
  );
}

/** The emulator's link below a final page. */
export function DashboardStrip({ to, words }: { to: string; words: Wording }) {
  return (
    <footer class="tip strip">
      <span class="tag">{words.panel.title}</span> <NewTab to={to} text={words.panel.dashboard} />
    </footer>
  );
}

/** Says who can pay, or where to find the code, because the emulator sends no e-mails. */
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
          {texts.code} {command} {texts.orIn} <NewTab to={PLACES.inbox.path} text={words.tip.inbox} />.
        </>
      );
  }
}

/** Makes a command wrap between words, not at hyphens. */
export function wordByWord(text: string) {
  return text.split(' ').flatMap((word, index) => [index > 0 && ' ', <span>{word}</span>]);
}

/** A command to paste. */
export function Command({ text }: { text: string }) {
  return <code class="command">{wordByWord(text)}</code>;
}
