import { timestamp } from '../../../domain/settings.ts';
import type { Message } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Code, Copyable, Pages, Status, Time } from './blocks.tsx';
import { PER_PAGE, UI } from './navigation.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** The page of the verification codes. */
export function InboxPage({ parts, cursor }: { parts: AppParts; cursor?: string | undefined }) {
  const page = parts.gateway.state.messages.page(PER_PAGE, cursor, () => true);
  return (
    <>
      <h1>Inbox</h1>
      <p class="soft">Verification codes that were "sent" to customers of live payments, newest first.</p>
      {page.data.length > 0 ? (
        <div class="box" id="inbox">
          <Table
            id="message-list"
            label="Codes, newest first"
            columns={['E-mail', 'Code', 'Status', 'Payment', 'Sent (UTC)', 'Valid until (UTC)']}
          >
            {page.data.map((message) => (
              <Row name={message.id}>
                <RowHead>{message.email}</RowHead>
                <Cell>
                  <CodeSent message={message} isValid={statusOf(message, parts) === 'valid'} />
                </Cell>
                <Cell>
                  <Status of={statusOf(message, parts)} />
                </Cell>
                <Cell>
                  <a href={`${UI}/payments/${message.paymentId}`}>{message.identifier}</a>
                </Cell>
                <Cell>
                  <Time at={message.sentAt} />
                </Cell>
                <Cell label="until">
                  <Time at={message.expiresAt} />
                </Cell>
              </Row>
            ))}
          </Table>
        </div>
      ) : (
        <section class="box empty" id="no-code" aria-labelledby="none">
          <h2 id="none">No code yet</h2>
          <p>
            The checkout of a live payment sends one when it gets the e-mail of a wallet, such as
            wallet@example.com:
          </p>
          <Code
            id="sample"
            text={parts.facts.command(
              `gateway-sim payments create --url ${parts.facts.baseUrl()} --live --open`,
            )}
            what="The command that opens a live payment"
          />
          <p>Sandbox payments always take the code {parts.gateway.settings.sandboxCode}.</p>
        </section>
      )}
      <Pages place="inbox" query={{ cursor }} next={page.nextCursor} />
    </>
  );
}

/** Whether the checkout still takes a code, or why not. */
function statusOf({ id, paymentId, expiresAt }: Message, { gateway }: AppParts): string {
  const payment = gateway.state.payments.get(paymentId);
  if (payment && payment.status !== 'pending') return 'settled';
  if (payment?.messageId !== id) return 'replaced';
  return timestamp(gateway.now()) < expiresAt ? 'valid' : 'expired';
}

function CodeSent({ message, isValid }: { message: Message; isValid: boolean }) {
  const { id, code, identifier } = message;
  if (!isValid) return <code class="soft">{code}</code>;
  return <Copyable id={`code-${id}`} text={code} what={`the code for ${identifier}`} />;
}
