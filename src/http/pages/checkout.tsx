import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { CheckoutProblem } from '../../contract/checkout.ts';
import {
  DELIVERY_ORDERS,
  type DeliveryOrder,
  OUTCOMES,
  type PaymentStatus,
} from '../../contract/vocabulary.ts';
import type { Payment } from '../../domain/state.ts';
import { PAYMENT_PARAMETER } from '../../service/names.ts';
import BASE_STYLES from './assets/base.css?text';
import BUSY from './assets/busy.ts?text';
import CHECKOUT_STYLES from './assets/checkout.css?text';
import CLOSED_STYLES from './assets/closed.css?text';
import PANEL_STYLES from './assets/panel.css?text';
import { fill, WORDING, type Wording } from './checkout-texts.ts';
import { CUSTOMERS } from './dashboard/paths.ts';
import { inGroups, Link, type PageView, renderDocument, useWording, wordByWord } from './layout.tsx';

/** Renders the page that asks for the customer's e-mail or verification code, as a whole HTML document. */
export function checkoutPage(view: CheckoutView): string {
  const { payment, panel, tip } = view;
  const words = WORDING[view.language];
  const merchant = merchantOf(payment, words);
  const title = `${fill(words.payTitle, { amount: payment.amount, merchant })} · ${words.step[view.step]}`;
  return renderDocument(
    view,
    view.problem ? fill(words.errorTitle, { title }) : title,
    [styles(view, panel ? PANEL_STYLES : ''), <script nonce={view.nonce}>{raw(BUSY)}</script>],
    <>
      <main class="card checkout">
        <section class="summary" aria-label={words.facts.label}>
          <Logo payment={payment} />
          <h1>
            <span class="payee">{fill(words.pay, { merchant })}</span> <Amount text={payment.amount} />
          </h1>
          <Facts payment={payment} />
        </section>
        <Step view={view} />
      </main>
      {panel && <SimulatorPanel view={view} panel={panel} />}
      {!panel && tip && (
        <footer class="tip strip">
          <span class="tag">gateway-sim</span> <Tip tip={tip} />
        </footer>
      )}
    </>,
  );
}

function styles({ nonce }: PageView, more: string) {
  return <style nonce={nonce}>{raw(BASE_STYLES + CHECKOUT_STYLES + more)}</style>;
}

/** Renders a page with a single card, styled like the checkout. */
export function renderCard(view: PageView, title: string, children: Child, below?: Child): string {
  const content = [<main class="card closed">{children}</main>, below];
  return renderDocument(view, title, styles(view, CLOSED_STYLES), content);
}

interface End {
  /** The icon, which repeats the heading. */
  sign: keyof typeof SIGNS;
  title: string;
  text?: string;
  more?: Child;
  /** For the developer, in English. */
  detail?: string;
  /** The button below the text; no button if its URL is null. */
  back?: { url: string | null; label: string };
  dashboard?: string | null;
}

export function renderEnd(view: PageView, { sign, title, text, more, detail, back, dashboard }: End): string {
  return renderCard(
    view,
    title,
    <>
      <svg class={`end ${sign}`} viewBox="0 0 24 24" aria-hidden="true">
        <path d={SIGNS[sign]} />
      </svg>
      <h1>{title}</h1>
      {text !== undefined && <p>{text}</p>}
      {more}
      {detail !== undefined && (
        <p class="detail" lang="en">
          {detail}
        </p>
      )}
      {back && back.url !== null && (
        <a class="button" href={back.url}>
          {back.label}
        </a>
      )}
    </>,
    dashboard && <DashboardStrip to={dashboard} />,
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
  /** The merchant's URL to return to; null if there is none. */
  backUrl: string | null;
  /** The payment's page in the dashboard; null if the simulator panel is hidden. */
  dashboard: string | null;
}

/** Renders the page of a payment that is settled, expired or unknown, as a whole HTML document. */
export function closedPage(view: ClosedView): string {
  const { payment, backUrl, dashboard } = view;
  const words = WORDING[view.language];
  const { title, text, back } = words.closed;
  const merchant = merchantOf(payment, words);
  const sign = payment?.status ?? 'unknown';
  return renderEnd(view, {
    sign,
    title: title[sign],
    text: fill(text[sign], { merchant }),
    more: payment && (
      <div class="receipt">
        <Logo payment={payment} />
        <p>
          <Amount text={payment.amount} />
        </p>
        <Facts payment={payment} />
      </div>
    ),
    back: { url: backUrl, label: fill(back, { merchant }) },
    dashboard,
  });
}

export interface CheckoutView extends PageView {
  step: 'email' | 'code';
  payment: PaymentSummary;
  /** The checkout's path without its query. Forms post below it. */
  path: string;
  /** Identifies this page, so that a form that is sent twice counts once. */
  page: string;
  value: string;
  /** The e-mail that the customer entered; empty on the first step. */
  email: string;
  problem: CheckoutProblem | null;
  /** Whether the customer requested a new code. */
  resent: boolean;
  /** The only values that a sandbox checkout accepts; null in live mode. */
  sandbox: { email: string; code: string } | null;
  /** The emulator's tip; null in the sandbox, where the page itself shows the values. */
  tip: LiveTip | null;
  panel: { defaultDelivery: DeliveryOrder; dashboard: string } | null;
}

interface StepProps {
  view: CheckoutView;
}

/** One step: the main form with its field, and a form for each other action. */
function Step({ view }: StepProps) {
  const words = useWording();
  const { step, payment, sandbox } = view;
  const canResend = step === 'code' && payment.mode === 'live';
  const ways: ('resend' | 'cancel')[] = canResend ? ['resend', 'cancel'] : ['cancel'];
  return (
    <section class="step" aria-label={words.step[step]}>
      <div class="heading">
        <p class={`progress ${step}`}>{words.step[step]}</p>
        <h2>{words.stepTitle[step]}</h2>
      </div>
      {sandbox && <SandboxNotice view={view} />}
      {step === 'code' && (
        <PostForm view={view} name="back" class="payer">
          <p>
            <span>{words.facts.email}</span> <strong dir="auto">{view.email}</strong>
          </p>
          <button type="submit" class="link">
            {words.changeEmail}
          </button>
        </PostForm>
      )}
      {view.resent && (
        <p class="sent" role="status" id="sent">
          {words.resent}
        </p>
      )}
      <MainForm view={view} />
      <div class="ways">
        {ways.map((name) => (
          <PostForm view={view} name={name}>
            <button type="submit" class="button quiet">
              {words[name]}
            </button>
          </PostForm>
        ))}
      </div>
    </section>
  );
}

/** Its button submits the test e-mail, but only fills in the test code: paying takes another click. */
function SandboxNotice({ view }: StepProps) {
  const words = useWording();
  const fillIn = (
    <button type="submit" class="link fill">
      {words.sandbox.fill[view.step]}
    </button>
  );
  return (
    <div class="notice">
      <p>
        <strong>{words.testMode}.</strong> <span>{words.sandbox.note}</span>
      </p>
      {view.step === 'email' ? (
        <PostForm view={view} name="email">
          <input type="hidden" name="email" value={view.sandbox?.email} />
          {fillIn}
        </PostForm>
      ) : (
        <form method="get" action={view.path}>
          <input type="hidden" name={PAYMENT_PARAMETER} value={view.payment.id} />
          <input type="hidden" name="fill" value="1" />
          {fillIn}
        </form>
      )}
    </div>
  );
}

/** Uses `novalidate`, so that only the server reports errors. */
function MainForm({ view }: StepProps) {
  const words = useWording();
  const { step, problem, payment, sandbox } = view;
  return (
    <PostForm view={view} name={step} class="main">
      <label for={step}>{words.label[step]}</label>
      <p class="hint" id={`${step}-hint`}>
        {words.hint[payment.mode][step]} {sandbox && <code>{sandbox[step]}</code>}
      </p>
      <Field view={view} />
      {problem && (
        <p class="problem" role="alert" id={`${step}-problem`}>
          {{ ...words.problems, ...(step === 'code' && words.problemsAtCode) }[problem]}
        </p>
      )}
      <button type="submit" class="button">
        {fill(words.submit[step], { amount: payment.amount })}
      </button>
    </PostForm>
  );
}

/** The step's only field. It has the focus, and its hint and problem describe it. */
function Field({ view: { step, value, problem, resent, sandbox } }: StepProps) {
  const described = [problem && `${step}-problem`, resent && 'sent', `${step}-hint`];
  const field = {
    id: step,
    name: step,
    value,
    dir: 'ltr',
    required: true,
    autofocus: true,
    autocapitalize: 'off',
    autocorrect: 'off',
    spellcheck: false,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': described.filter(Boolean).join(' '),
  } as const;
  if (step === 'email')
    return <input {...field} type="email" inputmode="email" autocomplete="email" enterkeyhint="next" />;
  // The test code is configurable and may contain letters.
  const inputmode = sandbox && /\D/.test(sandbox.code) ? 'text' : 'numeric';
  return (
    <input {...field} type="text" inputmode={inputmode} autocomplete="one-time-code" enterkeyhint="done" />
  );
}

function PostForm(props: StepProps & { name: string; class?: string; children: Child }) {
  return (
    <form method="post" action={actionOf(props.view, props.name)} class={props.class} novalidate>
      {props.children}
    </form>
  );
}

function actionOf({ path, payment, page }: CheckoutView, name: string): string {
  return `${path}/${name}?${PAYMENT_PARAMETER}=${encodeURIComponent(payment.id)}&page=${encodeURIComponent(page)}`;
}

/** What a customer sees of a payment on any checkout page. The amount is already formatted. */
export interface PaymentSummary
  extends Pick<Payment, 'id' | 'mode' | 'status' | 'siteLogo' | 'details' | 'amount' | 'identifier'> {
  merchantName: string;
  /** The other facts on a receipt; null for a payment that is not paid. */
  receipt: { trx: string; date: string; payer: string } | null;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The merchant's name as pages show it. A right-to-left name is isolated, so it does not reorder the text after it. */
function merchantOf(payment: PaymentSummary | null, words: Pick<Wording, 'merchant'>): string {
  const name = payment?.merchantName.trim() || words.merchant;
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/**
 * The merchant's logo in a box of fixed size, or a monogram as wide as the box. Next to an image, the monogram wraps
 * out of sight. If the image does not load, it is visible. No script, no broken image, no layout shift.
 */
function Logo({ payment }: { payment: PaymentSummary }) {
  const monogram = /[\p{L}\p{N}]/u.exec(payment.merchantName)?.[0].toUpperCase() ?? '•';
  return (
    <div class="logo" aria-hidden="true">
      {payment.siteLogo !== null && (
        <span class="plate">
          <img src={payment.siteLogo} alt="" referrerpolicy="no-referrer" />
        </span>
      )}
      <span class="fallback">
        <span class="monogram">{monogram}</span>
      </span>
    </div>
  );
}

/**
 * The amount. A long amount (up to 20 digits and 8 decimals) is smaller, and breaks only between groups of digits. The
 * limits fit a phone 360 pixels wide.
 */
function Amount({ text }: { text: string }) {
  const { length } = text.replace(/[\s.,]/g, '');
  if (length <= 8) return <span class="amount">{text}</span>;
  return <span class="amount long">{inGroups(text)}</span>;
}

/** What the payment is for. The merchant wrote the texts, so each may be left-to-right or right-to-left. */
function Facts({ payment }: { payment: PaymentSummary }) {
  const { facts } = useWording();
  return (
    <dl class="facts">
      <dt>{facts.details}</dt>
      <dd dir="auto">{payment.details}</dd>
      <dt>{facts.identifier}</dt>
      <dd dir="auto">{payment.identifier}</dd>
      {payment.receipt &&
        (['date', 'trx', 'payer'] as const).map((name) => (
          <>
            <dt>{facts[name]}</dt>
            <dd dir="auto">{payment.receipt?.[name]}</dd>
          </>
        ))}
    </dl>
  );
}

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
function SimulatorPanel(props: StepProps & { panel: NonNullable<CheckoutView['panel']> }) {
  const {
    view,
    panel: { defaultDelivery, dashboard },
  } = props;
  const { tip } = view;
  const { panel } = useWording();
  return (
    <aside class="panel" aria-label={panel.region}>
      <details open>
        <summary>
          <span class="tag">{panel.title}</span> {panel.note}
        </summary>
        {tip && <PanelTip view={view} tip={tip} />}
        <form method="post" action={actionOf(view, 'panel')}>
          <div>
            <label for="delivery">{panel.delivery}</label>
            <select id="delivery" name="delivery">
              {DELIVERY_ORDERS.map((order) => (
                <option value={order} selected={order === defaultDelivery}>
                  {panel.timings[order]}
                </option>
              ))}
            </select>
          </div>
          <fieldset>
            <legend>{panel.settle}</legend>
            <div class="outcomes">
              {OUTCOMES.map((outcome) => (
                <button type="submit" name="outcome" value={outcome}>
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

/** Offers a button that enters a valid code. */
function PanelTip({ view, tip }: StepProps & { tip: LiveTip }) {
  const { tip: texts } = useWording();
  if (tip.about !== 'code' || tip.code === null) {
    return (
      <p class="tip">
        <Tip tip={tip} />
      </p>
    );
  }
  return (
    <form class="tip enter" method="post" action={actionOf(view, 'code')}>
      <span>
        {texts.codeIs} <code>{tip.code}</code>, {texts.alsoIn} <NewTab to={CUSTOMERS} text={texts.inbox} />.
      </span>
      <input type="hidden" name="code" value={tip.code} />
      <button type="submit">{texts.enter}</button>
    </form>
  );
}

/** Opens in a new tab, so that the checkout stays open. */
function NewTab({ to, text }: { to: string; text: string }) {
  return (
    <Link href={to} target="_blank" rel="noopener">
      {text}
    </Link>
  );
}

function DashboardStrip({ to }: { to: string }) {
  const { panel } = useWording();
  return (
    <footer class="tip strip">
      <span class="tag">{panel.title}</span> <NewTab to={to} text={panel.dashboard} />
    </footer>
  );
}

/** Says who can pay, or where to find the code, because the emulator sends no e-mails. */
function Tip({ tip }: { tip: LiveTip }) {
  const { tip: texts } = useWording();
  const command = <Command text={tip.command} />;
  switch (tip.about) {
    case 'wallet':
      return [<code>{tip.email}</code>, ` ${texts.wallet} `, command];
    case 'no_wallet':
      return [`${texts.noWallet} `, command];
    case 'code':
      return (
        <>
          {texts.code} {command} {texts.orIn} <NewTab to={CUSTOMERS} text={texts.inbox} />.
        </>
      );
  }
}

export function Command({ text }: { text: string }) {
  return <code class="command">{wordByWord(text)}</code>;
}
