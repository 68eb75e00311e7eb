import type { Child } from 'hono/jsx';

/** What a form was given before it was refused, by field: nobody types it again. */
export type FormValues = Readonly<Record<string, string>>;

/** A labelled field; one with options is a choice. */
export interface FieldParts {
  name: string;
  label: string;
  /** What it holds unless it was given something. */
  value?: string;
  required?: boolean;
  placeholder?: string;
  type?: 'url' | 'email';
  /** Takes all the room there is: for addresses. */
  wide?: boolean;
  /** Values that speak for themselves, or with what is shown for them. */
  options?: readonly (string | readonly [value: string, shown: string])[];
}

interface FieldsProps {
  fields?: readonly FieldParts[];
  given?: Readonly<Record<string, string | undefined>>;
  /** Tells fields of the same name on one page apart. */
  scope?: string;
}

export function Fields({ fields = [], given = {}, scope = '' }: FieldsProps) {
  return fields.map(({ name, label, value, type = 'text', wide, options, ...looks }) => {
    const id = `field-${scope}${name}`;
    const held = given[name] ?? value;
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
  });
}

interface ButtonParts {
  look?: 'plain' | 'danger' | 'primary';
  /** What the button adds to the fields. */
  send?: readonly [name: string, value: string];
}

export function Submit({ look = 'plain', send, children }: ButtonParts & { children: Child }) {
  return (
    <button type="submit" name={send?.[0]} value={send?.[1]} class={look === 'primary' ? undefined : look}>
      {children}
    </button>
  );
}

interface FormProps extends FieldsProps, ButtonParts {
  to: string;
  /** What the form is for, where its place does not say. */
  label?: string | undefined;
  /** Asked before it acts, where the script runs. */
  confirm?: string;
  hidden?: FormValues;
  /** What its button says; default: `children` has others. */
  submit?: string;
  children?: Child;
}

/** A form that posts to an action of the dashboard; without fields it is little more than a button. */
export function Form(props: FormProps) {
  const { to, label, confirm, hidden = {}, fields, submit, children } = props;
  const look = fields ? 'form' : 'inline';
  return (
    <form method="post" action={to} class={look} aria-label={label} data-confirm={confirm}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Fields {...props} />
      {submit && <Submit {...props}>{submit}</Submit>}
      {children}
    </form>
  );
}
