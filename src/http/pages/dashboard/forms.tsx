import { type Child, createContext, useContext } from 'hono/jsx';
import { type FormValues, PageContext } from './page.tsx';

/** What the fields of a form were given. */
export const Given = createContext<FormValues>({});

/** A labelled field; one with options is a choice. */
export function Field(props: {
  name: string;
  label: string;
  /** What it holds unless it was given something. */
  value?: string;
  required?: boolean;
  placeholder?: string;
  type?: 'url' | 'email';
  wide?: boolean;
  /** Tells fields of the same name on one page apart. */
  scope?: string;
  /** Values that speak for themselves, or with what is shown for them. */
  options?: readonly (string | readonly [value: string, shown: string])[];
}) {
  const { name, label, value, type = 'text', wide, scope = '', options, ...looks } = props;
  const id = `field-${scope}${name}`;
  const held = useContext(Given)[name] ?? value;
  return (
    <p class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name}>
          {options
            .map((one) => (typeof one === 'string' ? [one, one] : one))
            .map(([option, shown]) => (
              <option value={option} selected={option === held}>
                {shown}
              </option>
            ))}
        </select>
      ) : (
        <input id={id} name={name} type={type} value={held} {...looks} autocomplete="off" />
      )}
    </p>
  );
}

interface ButtonProps {
  look?: 'plain' | 'danger' | 'primary';
  /** What the button adds to the fields. */
  send?: readonly [name: string, value: string];
}

export function Submit({ look = 'plain', send, children }: ButtonProps & { children: Child }) {
  return (
    <button type="submit" name={send?.[0]} value={send?.[1]} class={look === 'primary' ? undefined : look}>
      {children}
    </button>
  );
}

interface FormProps extends ButtonProps {
  to: string;
  /** What the form is for, where its place does not say. */
  label?: string | undefined;
  /** Asked before it acts, where the script runs. */
  confirm?: string;
  hidden?: FormValues;
  /** Default: where it has no fields. */
  inline?: boolean;
  /** What it was given is not kept. */
  forgets?: boolean;
  /** What its button says. Without it the button is among its children. */
  submit?: string;
  children?: Child;
}

export function Form(props: FormProps) {
  const { to, label, confirm, hidden = {}, children, inline = children === undefined, submit } = props;
  const { posted } = useContext(PageContext);
  const given = posted?.to === to && !props.forgets ? posted.given : {};
  const look = inline ? 'inline' : 'form';
  return (
    <form method="post" action={to} class={look} aria-label={label} data-confirm={confirm}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Given.Provider value={given}>{children}</Given.Provider>
      {submit && <Submit {...props}>{submit}</Submit>}
    </form>
  );
}
