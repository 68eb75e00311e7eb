import * as z from 'zod/mini';
import { type ActiveFault, describeFault } from '../../../contract/active-fault.ts';
import { command, GatewayError } from '../../../contract/error.ts';
import type { FaultRule } from '../../../contract/fault.ts';
import { parseInput } from '../../../contract/input.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import { timestamp } from '../../../contract/time.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import type { Wallet } from '../../../contract/wallet.ts';
import type { Message } from '../../../domain/state.ts';
import { INITIATE_PATHS } from '../../../service/names.ts';
import type { AppDependencies } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { Code, type Column, Copyable, Facts, More, Section, Status, Table, Time } from './blocks.tsx';
import { Field, Form, Submit } from './forms.tsx';
import type { NounPages, PageRenderer } from './page.tsx';
import { CLEAR_FAULTS, PER_PAGE, PLACES, RESUME_CLOCK, recordPath, SIGNATURE } from './paths.ts';

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

/** Common faults, ready to set (chosen), and what each does, in one sentence. */
export const FAULT_PRESETS = {
  'receiver-down': {
    label: 'Receiver down',
    does: 'Every IPN fails as if your handler had returned 503.',
    rule: { route: 'ipn', status: 503 },
  },
  'slow-gateway': {
    label: 'Slow gateway',
    does: 'Every response of the service takes 5 seconds longer.',
    rule: { route: '/*', latency: '5s' },
  },
  'lost-ipn': {
    label: 'Lost IPN',
    does: 'The next attempt is lost: your handler never sees it.',
    rule: { route: 'ipn', drop: true, times: 1 },
  },
  'ipn-twice': {
    label: 'IPN twice',
    does: 'Every IPN that your handler accepts is sent a second time.',
    rule: { route: 'ipn', duplicate: true },
  },
} as const satisfies Record<string, { label: string; does: string; rule: FaultRule }>;

const PresetForm = z.strictObject({ preset: z.enum(namesOf(FAULT_PRESETS)) });

const PRESET = `${path}/preset`;

/** Shows the rules, and common faults, each with a button. */
function Faults({ parts: { faults, runtime } }: { parts: AppDependencies }) {
  return (
    <Section id="faults" title="Faults">
      <Table
        id="fault-list"
        label="Rules, in the order in which they apply"
        columns={COLUMNS}
        rows={faults.list}
        none="No faults are active."
      />
      <ul class="choices">
        {Object.entries(FAULT_PRESETS).map(([name, { label, does }]) => (
          <li>
            <Form to={PRESET} send={['preset', name]} submit={label} />
            <p>{does}</p>
          </li>
        ))}
      </ul>
      <p>
        For any other rule:{' '}
        <Copyable
          id="set-fault"
          text={runtime.style.command(command('faults set', '--help'))}
          what="the command that explains rules"
        />
      </p>
    </Section>
  );
}

const COLUMNS: readonly Column<ActiveFault>[] = [
  ['Rule', 'head', describeFault],
  ['Used', 'plain', ({ used }) => used, 'Used'],
  [
    'Action',
    'plain',
    ({ rule: { route, identifier = '' } }) => (
      <Form
        to={CLEAR_FAULTS}
        hidden={{ route, identifier }}
        submit="Clear"
        about={`${route} ${identifier}`}
      />
    ),
  ],
];

/** Shows who can pay: the sandbox's customer, the wallets of live mode, and the codes that were "sent" to them. */
function Customers({ parts }: { parts: AppDependencies }) {
  const { sandboxEmail, sandboxCode } = parts.runtime.settings;
  const { messages, wallets: all } = parts.store.state;
  const wallets = [...all.values()];
  return (
    <Section id="customers" title="Test customers">
      <Facts
        rows={[
          ['Sandbox e-mail', <Copyable id="sandbox-email" text={sandboxEmail} what="the sandbox e-mail" />],
          ['Sandbox code', <Copyable id="sandbox-code" text={sandboxCode} what="the sandbox code" />],
        ]}
      />
      <h3>Codes sent in live mode</h3>
      <Table
        id="message-list"
        label="Codes, newest first"
        columns={codeColumns(parts)}
        rows={messages.page(PER_PAGE, undefined, () => true).data}
        none="None yet. A live checkout sends a code when the customer enters the e-mail of a wallet."
      />
      <More count={messages.size - PER_PAGE} run={command('inbox')} />
      <h3>Wallets for live mode</h3>
      <Table
        id="wallet-list"
        label="Wallets"
        columns={walletColumns(parts)}
        rows={wallets.slice(0, PER_PAGE)}
        none="None. Wallets come from the configuration file or an imported state."
      />
      <More count={wallets.length - PER_PAGE} run={command('wallets')} />
    </Section>
  );
}

function codeColumns(parts: AppDependencies): Column<Message>[] {
  return [
    ['E-mail', 'head', ({ email }) => email],
    ['Code', 'plain', ({ code }) => <code>{code}</code>],
    ['Status', 'plain', (message) => <Status of={statusOf(message, parts)} />],
    [
      'Payment',
      'plain',
      ({ paymentId, identifier }) => <Link href={recordPath('payments', paymentId)}>{identifier}</Link>,
    ],
    ['Sent (UTC)', 'plain', ({ sentAt }) => <Time at={sentAt} />],
    ['Valid until (UTC)', 'plain', ({ expiresAt }) => <Time at={expiresAt} />, 'until'],
  ];
}

function statusOf({ id, paymentId, expiresAt }: Message, { store, clock }: AppDependencies): string {
  const payment = store.state.payments.get(paymentId);
  if (payment && payment.status !== 'pending') return 'settled';
  if (payment?.messageId !== id) return 'replaced';
  return timestamp(clock.now()) < expiresAt ? 'valid' : 'expired';
}

function walletColumns(parts: AppDependencies): Column<Wallet>[] {
  return [
    ['E-mail', 'head', ({ email }) => email],
    ['Holder', 'plain', ({ holder }) => holder],
    ['Balance', 'amount', ({ balance, currency }) => inGroups(shownAmount(parts, balance, currency))],
    ['Wallet', 'plain', ({ id }) => <code>{id}</code>],
  ];
}

export const SETTINGS_PAGES: NounPages = {
  pages: { [path]: settingsPage },
  forms: {
    [PRESET]: async ({ faults }, { preset }) => {
      faults.set(FAULT_PRESETS[parseInput(PresetForm, { preset }).preset].rule);
    },
    [CLEAR_FAULTS]: async ({ faults }, { route, identifier }) => {
      faults.clear(route || undefined, { identifier: identifier || undefined });
    },
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
