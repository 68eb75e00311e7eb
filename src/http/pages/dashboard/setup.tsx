import { command, GatewayError } from '../../../contract/error.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import { spellingOf } from '../../../options/resolve.ts';
import { fidelityIn } from '../../../system/fidelity.ts';
import type { AppDependencies } from '../../environment.ts';
import { type Setting, settingsIn } from '../../settings-in-effect.ts';
import { Link, shownAmount } from '../layout.tsx';
import { Code, type Column, CommandFold, Copyable, Facts, More, Section, Table } from './blocks.tsx';
import { SampleInitiate } from './exchange.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PER_PAGE, PLACES } from './paths.ts';

const { path } = PLACES.setup;
/** Shows the options with their sources, the API keys, and forms for the state. */
const setupPage: PageRenderer = ({ parts }) => {
  const merchants = [...parts.merchants.all.values()];
  const first = parts.merchants.default;
  const whose = merchants.length > 1 ? ` (${first.name})` : '';
  const baseUrl = parts.runtime.baseUrl();
  // The same lines as `gateway-sim keys env`.
  const environment = [
    `GATEWAY_SIM_URL=${baseUrl}`,
    `GATEWAY_SIM_PUBLIC_KEY=${first.publicKey}`,
    `GATEWAY_SIM_SECRET_KEY=${first.secretKey}`,
    `GATEWAY_SIM_INITIATE_URL=${baseUrl}${parts.dialect.paths.initiate.sandbox}`,
  ];
  const page = pageAt(
    'setup',
    <>
      <h1>Setup</h1>
      <Options parts={parts} />
      {merchants.slice(0, PER_PAGE).map((merchant) => (
        <MerchantKeys merchant={merchant} parts={parts} alone={merchants.length === 1} />
      ))}
      <More id="more" count={merchants.length - PER_PAGE} run={command('keys show')} of="keys" />
      <div class="columns">
        <Section id="env" title={`For your .env${whose}`}>
          <Code id="env-text" text={environment.join('\n')} what="The lines for your .env" />
        </Section>
        <Section id="merchant" title="Add a merchant">
          <Form to={`${path}/merchants`} submit="Add merchant">
            <Field name="name" label="Name" required placeholder="Second Shop" />
          </Form>
        </Section>
      </div>
      <Section id="try" title={`Try it${whose}`}>
        <SampleInitiate parts={parts} />
      </Section>
      <div class="columns">
        <Section id="export" title="Export or import the state">
          <p>
            <Link class="button plain" href="/_sim/snapshot" download="gateway-sim-state.json">
              Export state
            </Link>
          </p>
          <Form to={`${path}/import`} submit="Import state" look="danger" forgets>
            <Field name="state" label="Exported state (replaces the current state)" rows={3} wide required />
            <Field name="confirm" label="Type “import” to confirm" scope="import-" required />
          </Form>
          <CommandFold
            id="larger"
            run={command('state import', 'state.json')}
            does="imports more than 1 MiB"
          />
        </Section>
        <Section id="reset" title="Reset the state">
          <p class="soft">
            Removes all payments, IPNs and cards, and cancels scheduled events. Merchants keep their keys.
          </p>
          <Form to={`${path}/reset`} submit="Reset state" look="danger" forgets>
            <Field name="confirm" label="Type “reset” to confirm" scope="reset-" required />
          </Form>
        </Section>
      </div>
    </>,
  );
  return { ...page, isStill: true };
};

/** The options that differ from their defaults; the others are collapsed. */
function Options({ parts }: { parts: AppDependencies }) {
  const { runtime } = parts;
  const { profile, documented, observed, chosen, changes } = fidelityIn(runtime.options);
  const facts = [
    ['Profile', <strong>{profile}</strong>],
    ['Behaviours', `${documented} documented, ${observed} observed, ${chosen} chosen`],
    ['Changed', changes.join(', ') || null],
    ['State', runtime.dataDir ? <code>{runtime.dataDir}</code> : 'in memory, until the emulator stops'],
  ] as const;
  const columns: Column<Setting>[] = [
    ['Option', 'head', ({ id }) => spellingOf(id, runtime.style)],
    ['Value', 'long', ({ value }) => <code>{value}</code>],
    ['From', 'long', ({ from }) => from],
  ];
  const { own, defaults } = settingsIn(parts);
  return (
    <Section id="options" title="Options">
      <Facts rows={facts} />
      <Table
        id="option-list"
        label="Options that you set"
        columns={columns}
        rows={own}
        none="All options have their defaults."
      />
      <details id="defaults">
        <summary>{defaults.length} options with their defaults</summary>
        <Table id="default-list" label="Options with their defaults" columns={columns} rows={defaults} />
      </details>
    </Section>
  );
}

function MerchantKeys({
  merchant,
  parts,
  alone,
}: {
  merchant: Merchant;
  parts: AppDependencies;
  alone: boolean;
}) {
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
        label={alone ? undefined : `Keys of ${name}`}
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

export const SETUP_PAGES: NounPages = {
  pages: { [path]: setupPage },
  forms: {
    [`${path}/keys`]: async ({ merchants }, { merchant }) => {
      await merchants.replaceKeys(merchant || merchants.default.id);
    },
    [`${path}/merchants`]: async ({ merchants }, { name = '' }) => {
      await merchants.add(name);
    },
    [`${path}/reset`]: async ({ state }, { confirm }) => {
      requireTyped('reset', confirm);
      await state.reset();
      return PLACES.payments.path;
    },
    [`${path}/import`]: async ({ state }, { confirm, state: text = '' }) => {
      requireTyped('import', confirm);
      await state.restore(Buffer.from(text));
      return PLACES.payments.path;
    },
  },
};

/** Requires the user to type a word before an action that cannot be undone. @throws GatewayError `invalid_fields` */
function requireTyped(word: string, typed = ''): void {
  if (typed.trim().toLowerCase() === word) return;
  throw new GatewayError('invalid_fields', `confirm must be the word ${word}`);
}
