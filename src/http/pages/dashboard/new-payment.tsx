import type { Child } from 'hono/jsx';
import { describeEffects } from '../../../contract/active-fault.ts';
import { withPaymentDefaults } from '../../../contract/defaults.ts';
import { GatewayError } from '../../../contract/error.ts';
import { CHECKOUT_THEMES, MODES } from '../../../contract/vocabulary.ts';
import type { CallService, ServiceResponse } from '../../call-service.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Field, Form } from './forms.tsx';
import { Heading, type NounPages, type PageRenderer } from './page.tsx';
import { type FormValues, PLACES, recordPath, UI } from './paths.ts';
import { capitalized, jsonOf } from './text.ts';

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
export function MerchantField(props: { parts: AppParts; any?: string; chosen?: string | undefined }) {
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

function initiateDefaults({ dialect, runtime }: AppParts, publicKey: string): Record<string, string> {
  const values = withPaymentDefaults(
    { checkoutTheme: CHECKOUT_THEMES[0] },
    { baseUrl: runtime.baseUrl(), publicKey },
  );
  return { ...dialect.merchant.initiate('sandbox', values).form };
}

/**
 * Initiates a payment through the service's own route, as a merchant would.
 *
 * @param fields the fields of initiate by their wire names, plus `merchant` and `mode`; an empty identifier is generated
 * @returns the id of the payment
 * @throws GatewayError `invalid_fields` with every problem that the service reports
 */
async function createPayment(
  parts: AppParts,
  { merchant: owner, mode: wanted, ...fields }: FormValues,
  callService: CallService,
): Promise<string> {
  const { dialect, merchants } = parts;
  const mode = MODES.find((one) => one === (wanted ?? 'sandbox'));
  if (!mode) throw new GatewayError('invalid_fields', `mode must be one of ${MODES.join(', ')}`);
  const { publicKey } = owner ? merchants.require(owner) : merchants.default;
  const sent = initiateDefaults(parts, publicKey);
  const given = { ...fields, identifier: fields['identifier']?.trim() || undefined };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) sent[name] = value;
  const response = await callService({
    method: 'POST',
    target: dialect.merchant.initiatePath(mode),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'gateway-sim dashboard' },
    body: new URLSearchParams(sent).toString(),
  });
  const { checkoutUrl, problems } = dialect.merchant.readAnswer(jsonOf(response.body));
  if (checkoutUrl !== undefined) return dialect.merchant.paymentIdOf(checkoutUrl);
  throw refusal(problems, response);
}

/** Explains why no payment was created, with the service's response and its notes for the developer. */
function refusal(answered: readonly string[] = [], { status, recorded }: ServiceResponse): GatewayError {
  const { notes = [], fault } = recorded ?? {};
  const known = fault ? [`your fault rule applied: ${describeEffects(fault)}`] : [...answered, ...notes];
  const problems = known.length
    ? [...new Set(known)]
    : [`initiate returned ${status} without a checkout URL`];
  return new GatewayError('invalid_fields', problems[0] ?? '', { problems });
}

export const NEW_PAYMENT_PAGES: NounPages = {
  pages: { [NEW_PAYMENT]: newPaymentPage },
  forms: {
    [NEW_PAYMENT]: async (parts, fields, _, callService) =>
      recordPath('payments', await createPayment(parts, fields, callService)),
  },
};
