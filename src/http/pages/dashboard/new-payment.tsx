import { CHECKOUT_THEMES, MODES } from '../../../contract/vocabulary.ts';
import { createPayment, initiateDefaults } from '../../create-payment.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Field, Form } from './forms.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { recordPath, UI } from './paths.ts';
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
  const title = 'New payment';
  const content = (
    <>
      <h1>{title}</h1>
      <section class="box" id="new-payment" aria-label="Payment fields">
        <Form to={NEW_PAYMENT} submit="Create payment" look="primary">
          <MerchantField parts={parts} />
          <Field name="mode" label="Mode" value="sandbox" options={MODES} />
          {Object.entries(defaults)
            .filter(([name]) => name !== 'public_key')
            .map(([name, value]) => (
              <Field
                name={name}
                label={labelOf(name)}
                {...(name === 'identifier' ? { placeholder: 'generated' } : { value })}
                options={options[name]}
                wide={/_url$|logo/.test(name)}
              />
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
  const merchants = [...parts.store.state.merchants.values()].slice(0, OFFERED);
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
