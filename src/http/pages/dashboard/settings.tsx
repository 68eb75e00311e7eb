import { command, GatewayError } from '../../../contract/error.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import { INITIATE_PATHS } from '../../../service/names.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link, shownAmount } from '../layout.tsx';
import { Code, Copyable, Facts, More, Section } from './blocks.tsx';
import { Customers } from './customers.tsx';
import { FAULT_FORMS, Faults } from './faults.tsx';
import { Field, Form, Submit } from './forms.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { PER_PAGE, PLACES, RESUME_CLOCK, SIGNATURE } from './paths.ts';

const { name: title, path } = PLACES.settings;

/** Shows the API keys, the faults and the test customers, and resets the state. */
const settingsPage: PageRenderer = ({ parts }) => {
  const merchants = [...parts.store.state.merchants.values()];
  const first = parts.merchants.default;
  const whose = merchants.length > 1 ? ` (${first.name})` : '';
  const baseUrl = parts.runtime.baseUrl();
  // The same lines as `gateway-sim keys env`.
  const environment = [
    `GATEWAY_SIM_URL=${baseUrl}`,
    `GATEWAY_SIM_PUBLIC_KEY=${first.publicKey}`,
    `GATEWAY_SIM_SECRET_KEY=${first.secretKey}`,
    `GATEWAY_SIM_INITIATE_URL=${baseUrl}${INITIATE_PATHS.sandbox}`,
  ];
  const content = (
    <>
      <h1>{title}</h1>
      {merchants.slice(0, PER_PAGE).map((merchant) => (
        <MerchantKeys merchant={merchant} parts={parts} />
      ))}
      <More count={merchants.length - PER_PAGE} run={command('keys show')} />
      <Section id="env" title={`For your .env${whose}`}>
        <Code id="env-text" text={environment.join('\n')} what="The lines for your .env" />
      </Section>
      <Faults parts={parts} />
      <Customers parts={parts} />
      <Section id="reset" title="Reset the state">
        <p class="soft">
          Removes all payments, IPNs and cards, and cancels scheduled events. Merchants keep their keys.
        </p>
        <Form to={`${path}/reset`} submit="Reset state" look="danger">
          <Field name="confirm" label="Type “reset” to confirm" required />
        </Form>
      </Section>
      <p>
        <Link href={SIGNATURE}>Signature checker</Link>
      </p>
    </>
  );
  return { place: 'settings', path, title, content };
};

function MerchantKeys({ merchant, parts }: { merchant: Merchant; parts: AppDependencies }) {
  const { id, name, publicKey, secretKey } = merchant;
  const balances = Object.entries(merchant.balances).map(([code, sum]) => shownAmount(parts, sum, code));
  return (
    <Section id={id} title={`API keys of ${name}`}>
      <Facts
        rows={[
          ['Public key', <Copyable id={`public-${id}`} text={publicKey} what="the public key" />],
          ['Secret key', <Copyable id={`secret-${id}`} text={secretKey} what="the secret key" />],
          ['Balance', balances.join(', ') || null],
        ]}
      />
      <Form
        to={`${path}/keys`}
        label={`Keys of ${name}`}
        confirm={`Replace the API keys of ${name}? The old pair stops working immediately.`}
        hidden={{ merchant: id }}
        inline
      >
        {/* Users of the service look for "Generate Api Key". */}
        <Submit look="danger">Generate API keys</Submit>
        <span class="warning">The old pair stops working immediately, everywhere it is used.</span>
      </Form>
    </Section>
  );
}

export const SETTINGS_PAGES: NounPages = {
  pages: { [path]: settingsPage },
  forms: {
    ...FAULT_FORMS,
    [`${path}/keys`]: async ({ merchants }, { merchant }) => {
      await merchants.replaceKeys(merchant || merchants.default.id);
    },
    [`${path}/reset`]: async ({ state }, { confirm = '' }) => {
      // It cannot be undone.
      if (confirm.trim().toLowerCase() !== 'reset')
        throw new GatewayError('invalid_fields', 'confirm must be the word reset');
      await state.reset();
      return PLACES.payments.path;
    },
    [RESUME_CLOCK]: async ({ clock }) => {
      await clock.move({ resume: true });
    },
  },
};
