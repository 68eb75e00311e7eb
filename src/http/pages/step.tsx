import type { Child } from 'hono/jsx';
import type { CheckoutProblem } from '../../contract/checkout.ts';
import type { DeliveryOrder } from '../../contract/vocabulary.ts';
import { fill, type Wording } from './messages.ts';
import type { PageView } from './page-view.ts';
import type { LiveTip } from './panel.tsx';
import type { PaymentSummary } from './summary.tsx';

export interface CheckoutView extends PageView {
  step: 'email' | 'code';
  payment: PaymentSummary;
  /** The checkout's path without its query. Forms post below it. */
  path: string;
  /** The query parameter with the payment's id. */
  parameter: string;
  /** Identifies this page, so that a form that is sent twice counts once. */
  page: string;
  /** The value of the step's only field. */
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
  /** The simulator panel; null when it is hidden. */
  panel: { defaultDelivery: DeliveryOrder; dashboard: string } | null;
}

interface StepProps {
  view: CheckoutView;
  words: Wording;
}

/** One step: the main form with its field, and a form for each other action. */
export function Step({ view, words }: StepProps) {
  const { step, payment, sandbox } = view;
  const canResend = step === 'code' && payment.mode === 'live';
  const ways: ('resend' | 'cancel')[] = canResend ? ['resend', 'cancel'] : ['cancel'];
  return (
    <section class="step" aria-label={words.step[step]}>
      <div class="heading">
        <p class={`progress ${step}`}>{words.step[step]}</p>
        <h2>{words.stepTitle[step]}</h2>
      </div>
      {sandbox && <SandboxNotice view={view} words={words} />}
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
      <MainForm view={view} words={words} />
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
function SandboxNotice({ view, words }: StepProps) {
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
          <input type="hidden" name={view.parameter} value={view.payment.id} />
          <input type="hidden" name="fill" value="1" />
          {fillIn}
        </form>
      )}
    </div>
  );
}

/** Uses `novalidate`, so that only the server reports errors. */
function MainForm({ view, words }: StepProps) {
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
function Field({ view: { step, value, problem, resent, sandbox } }: { view: CheckoutView }) {
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

function PostForm(props: { view: CheckoutView; name: string; class?: string; children: Child }) {
  return (
    <form method="post" action={actionOf(props.view, props.name)} class={props.class} novalidate>
      {props.children}
    </form>
  );
}

export function actionOf({ path, parameter, payment, page }: CheckoutView, name: string): string {
  return `${path}/${name}?${parameter}=${encodeURIComponent(payment.id)}&page=${encodeURIComponent(page)}`;
}
