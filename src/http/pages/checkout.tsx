import type { Child } from 'hono/jsx';
import type { PaymentStatus } from '../../domain/state.ts';
import { renderDocument } from './layout.tsx';
import { Logo, merchantOf } from './merchant.tsx';
import { SimulatorPanel } from './panel.tsx';
import { CHECKOUT_STYLES } from './styles.ts';
import type { CheckoutView, ClosedView, PaymentSummary } from './views.ts';
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

interface CheckoutProps {
  view: CheckoutView;
  words: Wording;
}

function Checkout({ view, words }: CheckoutProps) {
  const { payment, panel } = view;
  return (
    <>
      <main class="card checkout">
        <section class="summary" aria-label={words.facts.label}>
          <Logo payment={payment} />
          <h1>
            <span class="payee">{words.pay(merchantOf(payment, words))}</span>{' '}
            <span class={amountClass(payment.amount)}>{payment.amount}</span>
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

function Facts({ payment, words }: { payment: PaymentSummary; words: Wording }) {
  return (
    <dl class="facts">
      <dt>{words.facts.details}</dt>
      <dd>{payment.details}</dd>
      <dt>{words.facts.identifier}</dt>
      <dd>{payment.identifier}</dd>
    </dl>
  );
}

/** One step: the main form with its one field, and around it the forms that each do one other thing. */
function Step({ view, words }: CheckoutProps) {
  const { step, payment, sandbox } = view;
  return (
    <section class="step" aria-labelledby="progress">
      <p class="progress" id="progress">
        {words.step[step]}
      </p>
      {sandbox && <SandboxNotice view={view} words={words} accepted={sandbox[step]} />}
      {step === 'code' && (
        <PostForm view={view} name="back" class="payer">
          <p>
            <span>{words.facts.email}</span> <strong>{view.email}</strong>
          </p>
          <button type="submit" class="link">
            {words.changeEmail}
          </button>
        </PostForm>
      )}
      {view.resent && (
        <p class="sent" role="status">
          {words.resent(view.email)}
        </p>
      )}
      <MainForm view={view} words={words} />
      {step === 'code' && payment.mode === 'live' && (
        <PostForm view={view} name="resend">
          <button type="submit" class="link wide">
            {words.resend}
          </button>
        </PostForm>
      )}
      <PostForm view={view} name="cancel">
        <button type="submit" class="button quiet">
          {words.cancel}
        </button>
      </PostForm>
      <p class="returns">{words.returns(merchantOf(payment, words))}</p>
    </section>
  );
}

function SandboxNotice({ view, words, accepted }: CheckoutProps & { accepted: string }) {
  return (
    <div class="notice">
      <p>
        <strong>{words.testMode}.</strong> {words.sandbox.note} {words.sandbox.accepts[view.step]}{' '}
        <code>{accepted}</code>
      </p>
      <form method="get" action={view.path}>
        <input type="hidden" name="payment_id" value={view.payment.id} />
        <input type="hidden" name="fill" value="1" />
        <button type="submit" class="button small">
          {words.sandbox.fill[view.step]}
        </button>
      </form>
    </div>
  );
}

/** The server checks, so that its errors are the only ones: hence `novalidate`. */
function MainForm({ view, words }: CheckoutProps) {
  const { step, problem } = view;
  const hint = words.hint[view.payment.mode];
  return (
    <PostForm view={view} name={step}>
      <label for={step}>{words.label[step]}</label>
      <p class="hint" id={`${step}-hint`}>
        {step === 'email' ? hint.email : hint.code(view.email)}
        {step === 'code' && view.payment.mode === 'live' && view.panel === null && (
          <>
            {' '}
            {words.codeWithoutPanel} <code>gateway-sim inbox</code>.
          </>
        )}
      </p>
      <Field view={view} />
      {problem && (
        <p class="problem" role="alert" id={`${step}-problem`}>
          {(step === 'code' && words.problemsAtCode[problem]) || words.problems[problem]}
        </p>
      )}
      <button type="submit" class="button">
        {step === 'email' ? words.submit.email : words.submit.code(view.payment.amount)}
      </button>
    </PostForm>
  );
}

/** The step's one field. It takes the focus except on arrival, where the customer first reads what is to be paid. */
function Field({ view: { step, value, problem } }: { view: CheckoutView }) {
  const field = {
    id: step,
    name: step,
    value,
    required: true,
    autofocus: step === 'code' || value !== '' || problem !== null,
    autocapitalize: 'off',
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': problem ? `${step}-problem ${step}-hint` : `${step}-hint`,
  } as const;
  return step === 'email' ? (
    <input {...field} type="email" inputmode="email" autocomplete="email" enterkeyhint="next" />
  ) : (
    <input {...field} type="text" inputmode="numeric" autocomplete="one-time-code" enterkeyhint="done" />
  );
}

function PostForm(props: { view: CheckoutView; name: string; class?: string; children: Child }) {
  return (
    <form method="post" action={actionOf(props.view, props.name)} class={props.class} novalidate>
      {props.children}
    </form>
  );
}

function actionOf(view: CheckoutView, name: string): string {
  return `${view.path}/${name}?payment_id=${encodeURIComponent(view.payment.id)}`;
}

/** Amounts may have 20 digits and 8 decimals: long ones are set smaller, so that they stay on few lines. */
function amountClass(amount: string): string {
  return amount.length > 12 ? 'amount long' : 'amount';
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
          <p class={amountClass(payment.amount)}>{payment.amount}</p>
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
