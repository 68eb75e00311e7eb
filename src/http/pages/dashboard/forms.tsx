import type { Child } from 'hono/jsx';

/** What a form was given before it was refused, by field: nobody types it again. */
export type FormValues = Readonly<Record<string, string>>;

/** A form that posts to an action of the dashboard. */
export function Action(props: {
  to: string;
  /** What the form is for, where its place does not say. */
  label?: string | undefined;
  children: Child;
  /** Asked before it acts, where the script runs. */
  confirm?: string;
  inline?: boolean;
}) {
  const { to, label, children, confirm, inline = false } = props;
  const look = inline ? 'inline' : 'form';
  return (
    <form method="post" action={to} class={look} aria-label={label} data-confirm={confirm}>
      {children}
    </form>
  );
}

/** The button of a form; `send` is what it adds to the fields. */
export function Submit(props: {
  children: Child;
  look?: 'plain' | 'danger' | undefined;
  send?: readonly [name: string, value: string];
}) {
  const { children, look, send } = props;
  return (
    <button type="submit" name={send?.[0]} value={send?.[1]} class={look}>
      {children}
    </button>
  );
}

/** Fields that nobody sees. */
export function Hidden({ values }: { values: FormValues }) {
  return Object.entries(values).map(([name, value]) => <input type="hidden" name={name} value={value} />);
}

/** A form that is one button. */
export function ButtonForm(props: {
  to: string;
  name: string;
  look?: 'plain' | 'danger';
  send?: readonly [name: string, value: string];
  hidden?: FormValues;
}) {
  const { to, name, look = 'plain', send, hidden = {} } = props;
  return (
    <Action to={to} inline>
      <Hidden values={hidden} />
      <Submit look={look} {...(send && { send })}>
        {name}
      </Submit>
    </Action>
  );
}

/** A labelled field of a form. */
export function Field(props: {
  name: string;
  label: string;
  value?: string | undefined;
  hint?: string;
  required?: boolean;
  type?: 'text' | 'url' | 'email';
  /** Takes all the room there is: for addresses. */
  wide?: boolean;
  /** Tells fields of the same name on one page apart. */
  scope?: string;
}) {
  const { name, label, hint, wide = false, scope = '', type = 'text', ...field } = props;
  const id = `field-${scope}${name}`;
  return (
    <p class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      <input id={id} name={name} type={type} {...field} placeholder={hint} autocomplete="off" />
    </p>
  );
}

/** A choice: a value that speaks for itself, or one with what is shown for it. */
export type Option = string | readonly [value: string, shown: string];

/** A labelled choice of a form. */
export function Choice(props: {
  name: string;
  label: string;
  options: readonly Option[];
  value?: string | undefined;
}) {
  const { name, label, options, value } = props;
  const id = `field-${name}`;
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        {options
          .map((one) => (typeof one === 'string' ? [one, one] : one))
          .map(([option, shown]) => (
            <option value={option} selected={option === value}>
              {shown}
            </option>
          ))}
      </select>
    </p>
  );
}
