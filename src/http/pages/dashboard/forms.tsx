import { type Child, createContext, useContext } from 'hono/jsx';
import { type FormValues, PageContext, type PostedForm } from './page.tsx';
import { capitalized } from './text.ts';

/** What the fields of a form were given. */
const Given = createContext<FormValues>({});

const NOTHING_WRONG: ReadonlyMap<string, string> = new Map();

/** What is wrong with the fields of a form, by name; the first of them takes the focus. */
const Wrong = createContext<ReadonlyMap<string, string>>(NOTHING_WRONG);

/** In the order of the fields: a form is sent in it. */
function wrongFields({ given, error }: PostedForm): ReadonlyMap<string, string> {
  const problems = Object.keys(given).map((name) => [name, error?.problemWith(name)] as const);
  return new Map(problems.filter((one): one is [string, string] => one[1] !== undefined));
}

/** A problem as it is said beside the field, whose label names it. */
function besideField(problem: string, name: string): string {
  const rest = problem.slice(name.length + 1);
  return capitalized(
    rest.replace(/^is required$/, 'enter a value').replace(/^(must be|may have) /, 'enter '),
  );
}

/** A labelled field; one with options is a choice. */
export function Field(props: {
  name: string;
  label: string;
  /** What it holds unless it was given something. */
  value?: string | undefined;
  required?: boolean;
  placeholder?: string | undefined;
  type?: 'url' | 'email';
  wide?: boolean;
  /** Of a field that takes a text of several lines. */
  rows?: number;
  /** What it takes. */
  hint?: Child;
  /** Tells fields of the same name on one page apart. */
  scope?: string;
  /** Values that speak for themselves, or with what is shown for them. */
  options?: readonly (string | readonly [value: string, shown: string])[] | undefined;
}) {
  const { name, label, value, type = 'text', wide, scope = '', rows, hint, options, ...looks } = props;
  const id = `field-${scope}${name}`;
  const held = useContext(Given)[name] ?? value;
  const wrong = useContext(Wrong);
  const problem = wrong.get(name);
  const isWrong = problem !== undefined;
  const described = [isWrong && `${id}-problem`, hint && `${id}-hint`].filter(Boolean);
  const marks = {
    'aria-invalid': isWrong ? ('true' as const) : undefined,
    'aria-describedby': described.join(' ') || undefined,
    autofocus: isWrong && wrong.keys().next().value === name,
  };
  return (
    <p class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {options ? (
        <select id={id} name={name} {...marks}>
          {options
            .map((one) => (typeof one === 'string' ? [one, one] : one))
            .map(([option, shown]) => (
              <option value={option} selected={option === held}>
                {shown}
              </option>
            ))}
        </select>
      ) : rows ? (
        <textarea id={id} name={name} rows={rows} spellcheck={false} {...looks} {...marks}>
          {held}
        </textarea>
      ) : (
        <input id={id} name={name} type={type} value={held} {...looks} {...marks} autocomplete="off" />
      )}
      {hint && (
        <span class="soft" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {isWrong && (
        <span class="problem" id={`${id}-problem`} data-keep="">
          {besideField(problem, name)}
        </span>
      )}
    </p>
  );
}

export type ButtonLook = 'plain' | 'danger' | 'primary' | 'late';

interface ButtonProps {
  look?: ButtonLook;
  /** What the button adds to the fields. */
  send?: readonly [name: string, value: string];
  /** Tells it from its likes, for those who do not see its place. */
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
  /** Stands behind the button. */
  note?: string;
  children?: Child;
}

export function Form(props: FormProps) {
  const { to, label, confirm, hidden = {}, children, inline = children === undefined, submit, note } = props;
  const { posted } = useContext(PageContext);
  const mine = posted?.to === to ? posted : undefined;
  const given = props.forgets ? {} : mine?.given;
  const look = inline ? 'inline' : 'form';
  return (
    <form method="post" action={to} class={look} aria-label={label} data-confirm={confirm}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Wrong.Provider value={mine ? wrongFields(mine) : NOTHING_WRONG}>
        <Given.Provider value={given ?? {}}>{children}</Given.Provider>
      </Wrong.Provider>
      {submit && <Submit {...props}>{submit}</Submit>}
      {note && <span class="soft">{note}</span>}
    </form>
  );
}
