import type { Child } from 'hono/jsx';
import { CHECKOUT_THEMES, MODES } from '../../../contract/vocabulary.ts';
import { createPayment, initiateDefaults } from '../../create-payment.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Field, Form } from './forms.tsx';
import { Heading, type NounPages, type PageRenderer } from './page.tsx';
import { PLACES, recordPath, UI } from './paths.ts';
import { capitalized } from './text.ts';

const NEW_PAYMENT = `${UI}/new-payment`;

export function NewPaymentLink() {
  return (
    <Link class="button" href={NEW_PAYMENT}>
      New payment
    </Link>
  );
}

const newPaymentPage: PageRenderer = ({ parts }) => {
  const defaults = initiateDefaults(parts, parts.merchants.default.publicKey);
  const options: Readonly<Record<string, readonly string[]>> = {
    currency: [...parts.runtime.settings.currencies.keys()],
    checkout_theme: CHECKOUT_THEMES,
  };
  const fields = (belongs: (name: string) => boolean) =>
    Object.entries(defaults)
      .filter(([name]) => name !== 'public_key' && belongs(name))
      .map(([name, value]) => (
        <Field
          name={name}
          label={labelOf(name)}
          {...(name === 'identifier' ? { placeholder: 'generated' } : { value })}
          options={options[name]}
          wide={/_url$|logo/.test(name)}
        />
      ));
  const isElsewhere = (name: string) => Object.values(GROUPS).some((names) => names.test(name));
  const title = 'New payment';
  const content = (
    <>
      <Heading title={title} list={PLACES.payments.path} />
      <section class="box" id="new-payment" aria-label="Payment fields">
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
          This initiates the payment just like a merchant's code, with the same checks, warnings and faults.
          The request appears in the request log.
        </p>
      </section>
    </>
  );
  return { place: 'payments', path: NEW_PAYMENT, title, content };
};

/** Groups of fields, by wire name. All other fields are in the first group. */
const GROUPS = { Customer: /^customer_/, Addresses: /_url$/, Checkout: /logo|theme/ } as const;

function Group({ title, children }: { title: string; children: Child }) {
  return (
    <fieldset class="group">
      <legend>{title}</legend>
      <div class="form">{children}</div>
    </fieldset>
  );
}

/** Converts `ipn_url` to `IPN URL`. */
function labelOf(name: string): string {
  return capitalized(name.replaceAll('_', ' ').replace(/\b(ipn|url)\b/g, (word) => word.toUpperCase()));
}

/** Maximum number of merchants to choose from. */
const OFFERED = 50;

/**
 * Selects the merchant, if there are several.
 *
 * @param any the label for no selection; if omitted, the first merchant is selected
 */
export function MerchantField(props: { parts: AppDependencies; any?: string; chosen?: string | undefined }) {
  const { parts, any, chosen = '' } = props;
  const merchants = [...parts.merchants.all.values()].slice(0, OFFERED);
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

export const NEW_PAYMENT_PAGES: NounPages = {
  pages: { [NEW_PAYMENT]: newPaymentPage },
  forms: {
    [NEW_PAYMENT]: async (parts, fields, _, callService) =>
      recordPath('payments', await createPayment(parts, fields, callService)),
  },
};
