import { command } from '../../../contract/error.ts';
import { timestamp } from '../../../contract/time.ts';
import type { Wallet } from '../../../contract/wallet.ts';
import type { Message } from '../../../domain/state.ts';
import type { AppDependencies } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { type Column, Copyable, Facts, More, Section, Status, Table, Time } from './blocks.tsx';
import { PER_PAGE, recordPath } from './paths.ts';

/** Shows who can pay: the sandbox's customer, the wallets of live mode, and the codes that were "sent" to them. */
export function Customers({ parts }: { parts: AppDependencies }) {
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
