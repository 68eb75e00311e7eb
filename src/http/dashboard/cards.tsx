import { maskedCardNumber } from '../../domain/card.ts';
import type { Card } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import { Action, Code, Facts, Field, More, PER_PAGE, Status, Table, Time, UI } from './frame.tsx';
import { shownAmount } from './payments.tsx';
import { sampleCard } from './samples.ts';

/** The page of the virtual cards. */
export function CardsPage({ parts, cursor }: { parts: AppParts; cursor?: string | undefined }) {
  const page = parts.gateway.state.cards.page(PER_PAGE, cursor, () => true);
  return (
    <>
      <h1>Cards</h1>
      <div id="cards" data-live>
        {page.data.length > 0 ? (
          <div class="box">
            <Table
              id="card-list"
              label="Cards, newest first"
              columns={['Card', 'Number', 'Balance', 'Status', 'Holder', 'Created (UTC)']}
            >
              {page.data.map((card) => (
                <tr>
                  <th scope="row">
                    <a href={`${UI}/cards/${card.id}`}>{card.title}</a>
                  </th>
                  <td>
                    <code>{maskedCardNumber(card.number)}</code>
                  </td>
                  <td class="amount">{shownAmount(parts, card.availableBalance, card.currency)}</td>
                  <td>
                    <Status of={card.status} />
                  </td>
                  <td>{card.nameOnCard}</td>
                  <td>
                    <Time at={card.createdAt} />
                  </td>
                </tr>
              ))}
            </Table>
          </div>
        ) : (
          <section class="box empty">
            <h2>No card yet</h2>
            <p>Create one below, or as a merchant's code does, with the secret key as bearer:</p>
            <Code
              id="sample"
              text={sampleCard(parts.facts.baseUrl())}
              what="The command that creates a card"
            />
          </section>
        )}
        <More path={`${UI}/cards`} query={{}} cursor={page.nextCursor} />
      </div>
      <section class="box" aria-labelledby="create">
        <h2 id="create">Create a card</h2>
        <Action to={`${UI}/cards`}>
          <Field name="amount" label="Amount" value="100.00" required />
          <Field name="currency_code" label="Currency" value="USD" required />
          <Field name="title" label="Title" value="Test card" required />
          <Field name="name_on_card" label="Name on the card" value="Ada Example" required />
          <Field name="email" label="E-mail" type="email" value="ada@example.com" required />
          <button type="submit">Create</button>
        </Action>
      </section>
    </>
  );
}

/** What can be done to a card, by the state it is in. */
const TRIGGERS = {
  active: [
    ['block', 'Block'],
    ['cancel', 'Cancel for good'],
  ],
  inactive: [
    ['activate', 'Activate'],
    ['cancel', 'Cancel for good'],
  ],
  canceled: [],
} as const satisfies Record<Card['status'], readonly (readonly [string, string])[]>;

/** The page of one card and its transactions. */
export function CardPage({ parts, card }: { parts: AppParts; card: Card }) {
  const path = `${UI}/cards/${card.id}`;
  const transactions = parts.gateway.state.transactionsOf(card.id);
  return (
    <>
      <div class="heading">
        <h1>{card.title}</h1>
        <a href={`${UI}/cards`}>Back to the list</a>
      </div>
      <div class="columns">
        <section class="box" aria-label="Card" id="card" data-live>
          <Facts
            rows={[
              ['Status', <Status of={card.status} />],
              ['Balance', shownAmount(parts, card.availableBalance, card.currency)],
              [
                'Number',
                <details id="number">
                  <summary>{maskedCardNumber(card.number)} (show)</summary>
                  <code>{card.number}</code> valid to {String(card.expiryMonth).padStart(2, '0')}/
                  {card.expiryYear}, CVC <code>{card.cvc}</code>
                </details>,
              ],
              ['Holder', `${card.nameOnCard}, ${card.email}`],
              ['Created with', shownAmount(parts, card.amount, card.currency)],
              ['Charges', shownAmount(parts, card.charges, card.currency)],
              ['Card', <code>{card.id}</code>],
              ['Created (UTC)', <Time at={card.createdAt} />],
              ['Changed (UTC)', <Time at={card.updatedAt} />],
            ]}
          />
        </section>
        <section class="box" aria-labelledby="act">
          <h2 id="act">What happens to it</h2>
          {(['charge', 'fund'] as const).map((kind) => (
            <Action to={`${path}/${kind}`} label={kind}>
              <Field name="amount" label={`Amount to ${kind}`} required hint="12.50" scope={kind} />
              <Field name="details" label="Details" hint="Coffee" scope={kind} />
              <button type="submit" class="plain">
                {kind === 'charge' ? 'Charge' : 'Fund'}
              </button>
            </Action>
          ))}
          <div class="inline" id="triggers" data-live>
            {TRIGGERS[card.status].map(([trigger, name]) => (
              <Action to={`${path}/${trigger}`} inline>
                <button type="submit" class={trigger === 'cancel' ? 'danger' : 'plain'}>
                  {name}
                </button>
              </Action>
            ))}
          </div>
        </section>
      </div>
      <section class="box" aria-labelledby="transactions">
        <h2 id="transactions">Transactions</h2>
        <div id="transactions-made" data-live>
          {transactions.length > 0 ? (
            <Table
              id="transaction-list"
              label="Transactions, newest first"
              columns={['At (UTC)', 'Amount', 'Charge', 'Details', 'Remark']}
            >
              {transactions.map((one) => (
                <tr>
                  <td>
                    <Time at={one.createdAt} />
                  </td>
                  <td class="amount">
                    {one.type}
                    {shownAmount(parts, one.amount, one.currency)}
                  </td>
                  <td class="amount">{one.charge}</td>
                  <td class="long">{one.details}</td>
                  <td>{one.remark}</td>
                </tr>
              ))}
            </Table>
          ) : (
            <p class="soft">None yet: charge or fund the card.</p>
          )}
        </div>
      </section>
    </>
  );
}
