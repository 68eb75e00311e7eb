import { type Child, createContext, useContext } from 'hono/jsx';
import { below } from '../layout.tsx';
import { PageContext, type Refusal } from './page.tsx';
import type { FormValues } from './paths.ts';
import { capitalized } from './text.ts';

/** The rejected form that contains a field. */
const Rejected = createContext<Refusal | undefined>(undefined);

const firstWrong = ({ values = {}, error }: Refusal) =>
  Object.keys(values).find((name) => error.problemWith(name) !== undefined);

/** A labelled field: a selection if it has options. */
export function Field(props: {
  name: string;
  label: string;
  value?: string | undefined;
  required?: boolean;
  placeholder?: string | undefined;
  type?: 'url' | 'email';
  wide?: boolean;
  /** The number of lines in a multi-line field. */
  rows?: number;
  /** Explains the accepted values. */
  hint?: Child;
  /** Distinguishes fields with the same name on one page. */
  scope?: string;
  /** Values, or pairs of a value and its label. */
  options?: readonly (string | readonly [value: string, shown: string])[] | undefined;
}) {
  const { name, label, value, type = 'text', wide, scope = '', rows, hint, options, ...looks } = props;
  const id = `field-${scope}${name}`;
  const rejected = useContext(Rejected);
  const current = rejected?.values?.[name] ?? value;
  const problem = rejected?.error.problemWith(name);
  const isWrong = problem !== undefined;
  const described = [isWrong && `${id}-problem`, hint && `${id}-hint`].filter(Boolean);
  const marks = {
    'aria-invalid': isWrong ? ('true' as const) : undefined,
    'aria-describedby': described.join(' ') || undefined,
    autofocus: isWrong && rejected !== undefined && firstWrong(rejected) === name,
  };
  return (
    <p class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name} {...marks}>
          {options
            .map((one) => (typeof one === 'string' ? [one, one] : one))
            .map(([option, shown]) => (
              <option value={option} selected={option === current}>
                {shown}
              </option>
            ))}
        </select>
      ) : rows ? (
        <textarea id={id} name={name} rows={rows} spellcheck={false} {...looks} {...marks}>
          {current}
        </textarea>
      ) : (
        <input id={id} name={name} type={type} value={current} {...looks} {...marks} autocomplete="off" />
      )}
      {hint && (
        <span class="soft" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {isWrong && (
        <span class="problem" id={`${id}-problem`} data-keep="">
          {capitalized(problem)}
        </span>
      )}
    </p>
  );
}

type ButtonLook = 'plain' | 'danger' | 'primary';

interface ButtonProps {
  look?: ButtonLook;
  /** The field that the button adds to the form. */
  send?: readonly [name: string, value: string];
  /** Distinguishes similar buttons for screen readers. */
  about?: string;
}

export function Submit({ look = 'plain', send, about, children }: ButtonProps & { children: Child }) {
  return (
    <button type="submit" name={send?.[0]} value={send?.[1]} class={look === 'primary' ? undefined : look}>
      {children}
      {about && <span class="unseen"> {about}</span>}
    </button>
  );
}

interface FormProps extends ButtonProps {
  to: string;
  /** The accessible name, if the context does not make the form clear. */
  label?: string | undefined;
  /** A question to confirm before the form is sent. It needs the script. */
  confirm?: string | undefined;
  hidden?: FormValues;
  /** Default: true for a form without fields. */
  inline?: boolean;
  /** The button's label. Without it, the children contain the button. */
  submit?: string;
  children?: Child;
}

export function Form(props: FormProps) {
  const { to, label, confirm, hidden = {}, children, inline = children === undefined, submit } = props;
  const { refusal } = useContext(PageContext);
  const rejected = refusal?.to === to ? refusal : undefined;
  const look = inline ? 'inline' : 'form';
  return (
    <form method="post" action={below(to)} class={look} aria-label={label} data-confirm={confirm}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Rejected.Provider value={rejected}>{children}</Rejected.Provider>
      {submit && <Submit {...props}>{submit}</Submit>}
    </form>
  );
}
