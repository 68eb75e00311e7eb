import { command } from '../../../contract/hint.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import type { Message } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { CommandCode, Copyable, Status, Time } from './blocks.tsx';
import { Empty, listPage, queryOf } from './list-page.tsx';
import { PER_PAGE, recordPath } from './navigation.ts';
import type { PageRenderer } from './page.tsx';
import { type Column, column } from './table.tsx';

/** The page of the verification codes. */
export const inboxPage: PageRenderer = ({ parts, c }) => {
  const query = queryOf(c);
  const run = command('payments create', '--url', parts.runtime.baseUrl(), '--live --open');
  return listPage({
    place: 'inbox',
    query,
    intro: 'Verification codes that were "sent" to customers of live payments, newest first.',
    id: 'inbox',
    table: { id: 'message-list', label: 'Codes, newest first', columns: columnsOf(parts) },
    page: parts.state.current.messages.page(PER_PAGE, query['cursor'], () => true),
    empty: (
      <Empty id="no-code" title="No code yet">
        <p>
          The checkout of a live payment sends one when it gets the e-mail of a wallet, such as
          wallet@example.com:
        </p>
        <CommandCode id="sample" parts={parts} run={run} does="opens a live payment" />
        <p>Sandbox payments always take the code {parts.runtime.settings.sandboxCode}.</p>
      </Empty>
    ),
  });
};

function columnsOf(parts: AppParts): Column<Message>[] {
  return [
    column('E-mail', ({ email }) => email, { head: true }),
    column('Code', (message) => (
      <CodeSent message={message} isValid={statusOf(message, parts) === 'valid'} />
    )),
    column('Status', (message) => <Status of={statusOf(message, parts)} />),
    column('Payment', ({ paymentId, identifier }) => (
      <a href={recordPath('payments', paymentId)}>{identifier}</a>
    )),
    column('Sent (UTC)', ({ sentAt }) => <Time at={sentAt} />),
    column('Valid until (UTC)', ({ expiresAt }) => <Time at={expiresAt} />, { label: 'until' }),
  ];
}

function CodeSent({ message: { id, code, identifier }, isValid }: { message: Message; isValid: boolean }) {
  if (!isValid) return <code class="soft">{code}</code>;
  return <Copyable id={`code-${id}`} text={code} what={`the code for ${identifier}`} />;
}

/** Whether the checkout still takes a code, or why not. */
function statusOf({ id, paymentId, expiresAt }: Message, { state, clock }: AppParts): string {
  const payment = state.current.payments.get(paymentId);
  if (payment && payment.status !== 'pending') return 'settled';
  if (payment?.messageId !== id) return 'replaced';
  return timestamp(clock.now()) < expiresAt ? 'valid' : 'expired';
}
