import { command } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { timestamp } from '../../../contract/time.ts';
import { FundInput, type Wallet } from '../../../contract/wallet.ts';
import type { Message } from '../../../domain/state.ts';
import type { AppDependencies } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import {
  type Column,
  CommandFold,
  Copyable,
  FactsBox,
  More,
  Section,
  Status,
  Table,
  Time,
} from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { ownPage, PER_PAGE, PLACES, recordPath, withId } from './paths.ts';

const { path } = PLACES.customers;
const FUND = `${path}/:id/fund`;

/** Shows who can pay: the sandbox's customer, the wallets of live mode, and the codes that were "sent" to them. */
const customersPage: PageRenderer = ({ parts }) => {
  const { sandboxEmail, sandboxCode } = parts.runtime.settings;
  const wallets = [...parts.wallets.all.values()];
  const sandbox = [
    ['Sandbox e-mail', <Copyable id="sandbox-email" text={sandboxEmail} what="the sandbox e-mail" />],
    ['Sandbox code', <Copyable id="sandbox-code" text={sandboxCode} what="the sandbox code" />],
  ] as const;
  return pageAt(
    'customers',
    <>
      <h1>Test customers</h1>
      <FactsBox id="sandbox" label="Sandbox" rows={sandbox} />
      <Section id="inbox" title="Codes sent in live mode">
        <Codes parts={parts} />
      </Section>
      <Section id="wallets" title="Wallets for live mode">
        {wallets.length === 0 ? (
          <>
            <p>Wallets come from fixtures, an imported state or the configuration file.</p>
            <CommandFold id="init" run={command('init')} does="writes a configuration file" />
          </>
        ) : (
          <Table
            id="wallet-list"
            label="Wallets"
            columns={walletColumns(parts)}
            rows={wallets.slice(0, PER_PAGE)}
            keyOf={({ id }) => ({ id: walletRow(id) })}
          />
        )}
        <More id="more" count={wallets.length - PER_PAGE} run={command('wallets')} of="wallets" />
      </Section>
    </>,
  );
};

function Codes({ parts }: { parts: AppDependencies }) {
  const { data } = parts.checkout.messages.page(PER_PAGE, undefined, () => true);
  if (data.length > 0)
    return (
      <>
        <Table id="message-list" label="Codes, newest first" columns={codeColumns(parts)} rows={data} />
        <More id="codes" count={parts.checkout.messages.size - PER_PAGE} run={command('inbox')} of="codes" />
      </>
    );
  return (
    <>
      <p>None yet. A live checkout sends a code when the customer enters the e-mail of a wallet.</p>
      <CommandFold
        id="sample"
        run={command('payments create', '--url', parts.runtime.baseUrl(), '--live --open')}
        does="opens a live payment"
      />
    </>
  );
}

function codeColumns(parts: AppDependencies): Column<Message>[] {
  return [
    ['E-mail', 'head', ({ email }) => email],
    [
      'Code',
      'plain',
      (message) =>
        statusOf(message, parts) === 'valid' ? (
          <Copyable
            id={`code-${message.id}`}
            text={message.code}
            what={`the code for ${message.identifier}`}
          />
        ) : (
          <code class="soft">{message.code}</code>
        ),
    ],
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

function statusOf({ id, paymentId, expiresAt }: Message, { payments, clock }: AppDependencies): string {
  const payment = payments.all.get(paymentId);
  if (payment && payment.status !== 'pending') return 'settled';
  if (payment?.messageId !== id) return 'replaced';
  return timestamp(clock.now()) < expiresAt ? 'valid' : 'expired';
}

/** The id of a wallet's row, which is the link target after funding. */
const walletRow = (id: string) => `wallet-${encodeURIComponent(id)}`;

function walletColumns(parts: AppDependencies): Column<Wallet>[] {
  return [
    ['E-mail', 'head', ({ email }) => email],
    ['Holder', 'plain', ({ holder }) => holder],
    ['Balance', 'amount', ({ balance, currency }) => inGroups(shownAmount(parts, balance, currency))],
    [
      'Fund',
      'plain',
      ({ id, email, currency }) => (
        <Form
          to={withId(FUND, id)}
          label={`Fund ${email} in ${currency}`}
          submit="Fund"
          about={`${email} ${currency}`}
          inline
        >
          <Field name="amount" label="Amount" value="100.00" scope={`${walletRow(id)}-`} />
        </Form>
      ),
    ],
    ['Wallet', 'plain', ({ id }) => <code>{id}</code>],
  ];
}

export const CUSTOMER_PAGES: NounPages = {
  pages: { [path]: customersPage },
  forms: {
    [FUND]: async ({ wallets: { fund } }, { amount = '', from }, id) => {
      await fund(id, parseInput(FundInput, { amount: amount.trim() }).amount);
      return `${ownPage(from, path)}#${walletRow(id)}`;
    },
  },
};
