import type { AppParts } from '../environment.ts';
import { CopyButton, Pages, Table, Time } from './blocks.tsx';
import { PER_PAGE, UI } from './places.ts';

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
            columns={['E-mail', 'Code', 'Payment', 'Sent (UTC)', 'Valid until (UTC)']}
          >
            {page.data.map((message) => (
              <tr data-key={message.id}>
                <th scope="row">{message.email}</th>
                <td>
                  <span class="inline">
                    <code id={`code-${message.id}`}>{message.code}</code>
                    <CopyButton target={`code-${message.id}`} what={`the code for ${message.identifier}`} />
                  </span>
                </td>
                <td>
                  <a href={`${UI}/payments/${message.paymentId}`}>{message.identifier}</a>
                </td>
                <td>
                  <Time at={message.sentAt} />
                </td>
                <td>
                  <Time at={message.expiresAt} />
                </td>
              </tr>
            ))}
          </Table>
        </div>
      ) : (
        <section class="box empty" id="no-code" aria-labelledby="none">
          <h2 id="none">No code yet</h2>
          <p>
            The checkout of a live payment sends one when it gets the e-mail of a wallet, such as
            wallet@example.com:{' '}
            <code>gateway-sim payments create --url {parts.facts.baseUrl()} --live --open</code>
          </p>
          <p>Sandbox payments always take the code {parts.gateway.settings.sandboxCode}.</p>
        </section>
      )}
      <Pages place="inbox" query={{ cursor }} next={page.nextCursor} />
    </>
  );
}
