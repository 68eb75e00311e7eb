import type { Child } from 'hono/jsx';
import { merchantOf } from './summary.tsx';
import type { CheckoutView } from './views.ts';
import type { Wording } from './wording.ts';

interface StepProps {
  view: CheckoutView;
  words: Wording;
}

/** One step: the main form with its one field, and around it the forms that each do one other thing. */
export function Step({ view, words }: StepProps) {
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
          {words.resent}
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

function SandboxNotice({ view, words, accepted }: StepProps & { accepted: string }) {
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
function MainForm({ view, words }: StepProps) {
  const { step, problem } = view;
  return (
    <PostForm view={view} name={step}>
      <label for={step}>{words.label[step]}</label>
      <p class="hint" id={`${step}-hint`}>
        {words.hint[view.payment.mode][step]}
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

/** Where a form of the checkout posts to. */
export function actionOf(view: CheckoutView, name: string): string {
  return `${view.path}/${name}?payment_id=${encodeURIComponent(view.payment.id)}`;
}
