import { command } from '../../../contract/error.ts';
import { timestamp } from '../../../contract/time.ts';
import type { Message } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { CommandCode, Copyable, Status, Time } from './blocks.tsx';
import { type List, listPage } from './list.tsx';
import type { NounPages } from './page.tsx';
import { PLACES, recordPath } from './paths.ts';

const INBOX: List<Message> = {
  place: 'inbox',
  noun: 'code',
  intro: 'Verification codes "sent" to customers of live payments, newest first.',
  tableId: 'message-list',
  records: ({ checkout }) => checkout.messages,
  columns: (parts) => [
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
  ],
  first: ({ runtime }) => (
    <>
      <p>
        A live checkout sends a code when the customer enters a wallet's e-mail, such as wallet@example.com:
      </p>
      <CommandCode
        id="sample"
        run={command('payments create', '--url', runtime.baseUrl(), '--live --open')}
        does="opens a live payment"
      />
      <p>Sandbox payments always accept the code {runtime.settings.sandboxCode}.</p>
    </>
  ),
};

function statusOf({ id, paymentId, expiresAt }: Message, { payments, clock }: AppParts): string {
  const payment = payments.all.get(paymentId);
  if (payment && payment.status !== 'pending') return 'settled';
  if (payment?.messageId !== id) return 'replaced';
  return timestamp(clock.now()) < expiresAt ? 'valid' : 'expired';
}

export const INBOX_PAGES: NounPages = {
  pages: { [PLACES.inbox.path]: listPage(INBOX) },
};
