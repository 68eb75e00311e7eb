import type { Child } from 'hono/jsx';
import { CHECKOUT_THEMES, MODES } from '../../../contract/vocabulary.ts';
import type { AppParts } from '../../environment.ts';
import { initiateDefaults } from './create-payment.ts';
import { Field, Form } from './forms.tsx';
import { Heading, type PageRenderer, PLACES, UI } from './page.tsx';
import { capitalized } from './text.ts';

export const NEW_PAYMENT = `${UI}/new-payment`;

/** The link on the list of payments. */
export function NewPaymentLink() {
  return (
    <a class="button" href={NEW_PAYMENT}>
      New payment
    </a>
  );
}

/** A form that initiates a payment like a merchant, with valid defaults. */
export const newPaymentPage: PageRenderer = ({ parts }) => {
  const defaults = initiateDefaults(parts, parts.merchants.default.publicKey);
  const fields = (belongs: (name: string) => boolean) =>
    Object.entries(defaults)
      .filter(([name]) => name !== 'public_key' && belongs(name))
      .map(([name, value]) => <InitiateField parts={parts} name={name} value={value} />);
  const isElsewhere = (name: string) => Object.values(GROUPS).some((names) => names.test(name));
  const title = 'New payment';
  const content = (
    <>
      <Heading title={title} list={PLACES.payments.path} />
      <section class="box" id="new-payment" aria-label="Fields of the payment">
        <Form to={NEW_PAYMENT} submit="Create payment" look="primary">
          <Group title="Payment">
            <MerchantField parts={parts} />
            <Field name="mode" label="Mode" value="sandbox" options={MODES} />
            {fields((name) => !isElsewhere(name))}
          </Group>
          {Object.entries(GROUPS).map(([group, names]) => (
            <Group title={group}>{fields((name) => names.test(name))}</Group>
          ))}
        </Form>
        <p class="soft">
          This initiates the payment as a merchant's code does, with the same checks, warnings and faults. The
          request appears in the request log.
        </p>
      </section>
    </>
  );
  return { place: 'payments', path: NEW_PAYMENT, title, content };
};

/** Groups of fields, by wire name. All other fields belong to the payment. */
const GROUPS = { Customer: /^customer_/, Addresses: /_url$/, Checkout: /logo|theme/ } as const;

function Group({ title, children }: { title: string; children: Child }) {
  return (
    <fieldset class="group">
      <legend>{title}</legend>
      <div class="form">{children}</div>
    </fieldset>
  );
}

function InitiateField({ parts, name, value }: { parts: AppParts; name: string; value: string }) {
  const isMadeUp = name === 'identifier';
  const options: Readonly<Record<string, readonly string[]>> = {
    currency: [...parts.runtime.settings.currencies.keys()],
    checkout_theme: CHECKOUT_THEMES,
  };
  return (
    <Field
      name={name}
      label={labelOf(name)}
      value={isMadeUp ? undefined : value}
      placeholder={isMadeUp ? 'generated' : undefined}
      options={options[name]}
      wide={/_url$|logo/.test(name)}
    />
  );
}

/** `ipn_url` → `IPN URL`. */
function labelOf(name: string): string {
  return capitalized(name.replaceAll('_', ' ').replace(/\b(ipn|url)\b/g, (word) => word.toUpperCase()));
}

/** Maximum merchants to choose from. */
const OFFERED = 50;

/**
 * A choice of the merchant, if there are several.
 *
 * @param any the label for no choice; without it the first merchant is selected
 */
export function MerchantField({
  parts,
  any,
  chosen = '',
}: {
  parts: AppParts;
  any?: string;
  chosen?: string | undefined;
}) {
  const merchants = [...parts.state.current.merchants.values()].slice(0, OFFERED);
  if (merchants.length < 2) return null;
  const options = merchants.map(({ id, name }) => [id, name] as const);
  return (
    <Field
      name="merchant"
      label="Merchant"
      value={chosen}
      options={any === undefined ? options : [['', any], ...options]}
    />
  );
}
