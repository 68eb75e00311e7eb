import { command } from '../../../contract/error.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import type { AppParts } from '../../environment.ts';
import { Link, shownAmount } from '../layout.tsx';
import { Code, Copyable, Facts, More, Section } from './blocks.tsx';
import { SampleInitiate } from './exchange.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PER_PAGE, PLACES } from './paths.ts';

const ADD_MERCHANT = `${PLACES.keys.path}/merchants`;

/** Shows the API keys. The service's documentation calls this menu Api Key. */
const keysPage: PageRenderer = ({ parts }) => {
  const merchants = [...parts.merchants.all.values()];
  const first = parts.merchants.default;
  const whose = merchants.length > 1 ? ` (${first.name})` : '';
  const { settings } = parts.runtime;
  const baseUrl = parts.runtime.baseUrl();
  // The same lines as `gateway-sim keys env`.
  const environment = [
    `GATEWAY_SIM_URL=${baseUrl}`,
    `GATEWAY_SIM_PUBLIC_KEY=${first.publicKey}`,
    `GATEWAY_SIM_SECRET_KEY=${first.secretKey}`,
    `GATEWAY_SIM_INITIATE_URL=${baseUrl}${parts.dialect.paths.initiate.sandbox}`,
  ];
  return pageAt(
    'keys',
    <>
      {/* Users of the service look for "Api Key". */}
      <h1 aria-label="API keys (Api Key)">API keys</h1>
      {merchants.slice(0, PER_PAGE).map((merchant) => (
        <MerchantKeys merchant={merchant} parts={parts} alone={merchants.length === 1} />
      ))}
      <More id="more" count={merchants.length - PER_PAGE} run={command('keys show')} of="keys" />
      <div class="columns">
        <Section id="env" title={`For your .env${whose}`}>
          <Code id="env-text" text={environment.join('\n')} what="The lines for your .env" />
        </Section>
        <Section id="customers" title="Test customers">
          <Facts
            rows={[
              ['Sandbox e-mail', <code>{settings.sandboxEmail}</code>],
              ['Sandbox code', <code>{settings.sandboxCode}</code>],
              ['Live e-mail', <Link href={PLACES.wallets.path}>any wallet e-mail</Link>],
              ['Live code', <Link href={PLACES.inbox.path}>see the codes sent</Link>],
            ]}
          />
        </Section>
        <Section id="try" title={`Try it${whose}`}>
          <SampleInitiate parts={parts} />
        </Section>
        <Section id="merchant" title="Add a merchant">
          <Form to={ADD_MERCHANT} submit="Add merchant">
            <Field name="name" label="Name" required placeholder="Second Shop" />
          </Form>
        </Section>
      </div>
    </>,
  );
};

function MerchantKeys({ merchant, parts, alone }: { merchant: Merchant; parts: AppParts; alone: boolean }) {
  const { id, name, publicKey, secretKey } = merchant;
  const balances = Object.entries(merchant.balances).map(([code, sum]) => shownAmount(parts, sum, code));
  return (
    <Section id={id} title={name}>
      <Facts
        rows={[
          ['Public key', <Copyable id={`public-${id}`} text={publicKey} what="the public key" />],
          ['Secret key', <Copyable id={`secret-${id}`} text={secretKey} what="the secret key" />],
          ['Balance', balances.join(', ') || null],
        ]}
      />
      <Form
        to={PLACES.keys.path}
        label={alone ? undefined : `Keys of ${name}`}
        confirm={`Replace the keys of ${name}? The old pair stops working immediately.`}
        hidden={{ merchant: id }}
        inline
      >
        <Submit look="danger">Replace keys (Generate Api Key)</Submit>
        <span class="warning">The old pair stops working immediately, everywhere it is used.</span>
      </Form>
    </Section>
  );
}

export const KEY_PAGES: NounPages = {
  pages: { [PLACES.keys.path]: keysPage },
  forms: {
    [PLACES.keys.path]: async ({ merchants }, { merchant }) => {
      await merchants.replaceKeys(merchant || merchants.default.id);
    },
    [ADD_MERCHANT]: async ({ merchants }, { name = '' }) => {
      await merchants.add(name);
    },
  },
};
