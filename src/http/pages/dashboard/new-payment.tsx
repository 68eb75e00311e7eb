import { describeEffects } from '../../../contract/active-fault.ts';
import { GatewayError } from '../../../contract/error.ts';
import type { RecordedRequest } from '../../../contract/event.ts';
import { FORM_TYPE } from '../../../contract/media-types.ts';
import { withPaymentDefaults } from '../../../contract/sample-values.ts';
import { CHECKOUT_THEMES, DEFAULT_THEME, MODES } from '../../../contract/vocabulary.ts';
import { initiateForm, paymentIdOf, readAnswer } from '../../../service/merchant.ts';
import { INITIATE_PATHS } from '../../../service/names.ts';
import type { App, AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Field, Form } from './forms.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { type FormValues, recordPath, UI } from './paths.ts';
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

/** The fields of initiate with valid values, by their wire names. */
function initiateDefaults({ runtime }: AppDependencies, publicKey: string): Record<string, string> {
  const values = withPaymentDefaults(
    { checkoutTheme: DEFAULT_THEME },
    { baseUrl: runtime.baseUrl(), publicKey },
  );
  return initiateForm(values);
}

/**
 * Initiates a payment through the service's own route, as a merchant would. Log, faults and checks apply.
 *
 * @param fields the fields of initiate by their wire names, plus `merchant` and `mode`; an empty identifier is generated
 * @returns the id of the payment
 * @throws GatewayError `invalid_fields` with every problem that the service reports
 */
async function createPayment(
  app: App,
  parts: AppDependencies,
  { merchant: owner, mode: wanted, ...fields }: FormValues,
): Promise<string> {
  const { merchants } = parts;
  const mode = MODES.find((one) => one === (wanted ?? 'sandbox'));
  if (!mode) throw new GatewayError('invalid_fields', `mode must be one of ${MODES.join(', ')}`);
  const { publicKey } = owner ? merchants.require(owner) : merchants.default;
  const sent = initiateDefaults(parts, publicKey);
  const given = { ...fields, identifier: fields['identifier']?.trim() || undefined };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) sent[name] = value;
  // Any host works: the routes of the service do not check it.
  const request = new Request(`http://localhost${INITIATE_PATHS[mode]}`, {
    method: 'POST',
    headers: { 'content-type': FORM_TYPE, 'user-agent': 'gateway-sim dashboard' },
    body: new URLSearchParams(sent).toString(),
  });
  const log: RecordedRequest[] = [];
  const response = await app.fetch(request, { onRecorded: (recorded) => log.push(recorded) });
  const { checkoutUrl, problems = [] } = readAnswer(await response.json().catch(() => undefined));
  if (checkoutUrl !== undefined) return paymentIdOf(checkoutUrl);
  const { notes = [], fault } = log[0] ?? {};
  const known = fault ? [`your fault rule applied: ${describeEffects(fault)}`] : [...problems, ...notes];
  const [first = `initiate returned ${response.status} without a checkout URL`, ...others] = new Set(known);
  throw new GatewayError('invalid_fields', first, { problems: [first, ...others] });
}

export const NEW_PAYMENT_PAGES: NounPages = {
  pages: { [NEW_PAYMENT]: newPaymentPage },
  forms: {
    [NEW_PAYMENT]: async (parts, fields, _, app) =>
      recordPath('payments', await createPayment(app, parts, fields)),
  },
};
