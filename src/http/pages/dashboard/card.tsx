import type { CardAction } from '../../../contract/vocabulary.ts';
import { maskedCardNumber } from '../../../domain/card.ts';
import type { Card } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Code, Facts, Field, type FormValues, Heading, Status, Time } from './blocks.tsx';
import { PER_PAGE, PLACES } from './navigation.ts';
import { shownAmount } from './payments.tsx';
import { Cell, Row, Table } from './table.tsx';

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
} as const satisfies Record<Card['status'], readonly (readonly [CardAction, string])[]>;

/** The page of one card and its transactions. */
export function CardPage({ parts, card, given }: { parts: AppParts; card: Card; given: FormValues }) {
  return (
    <>
      <Heading title={card.title} place="cards">
        <span class="sum">{shownAmount(parts, card.availableBalance, card.currency)}</span>
        <Status of={card.status} />
      </Heading>
      <div class="columns">
        <CardFacts parts={parts} card={card} />
        <Moves card={card} given={given} />
      </div>
      <Transactions parts={parts} card={card} />
    </>
  );
}

function CardFacts({ parts, card }: { parts: AppParts; card: Card }) {
  return (
    <section class="box" aria-label="Card" id="card">
      <Facts
        rows={[
          [
            'Number',
            <details id="number">
              <summary>{maskedCardNumber(card.number)} (show)</summary>
              <code>{card.number}</code> valid to {String(card.expiryMonth).padStart(2, '0')}/
              {card.expiryYear}, CVC <code>{card.cvc}</code>
            </details>,
          ],
          ['Holder', `${card.nameOnCard}, ${card.email}`],
          ['Merchant', parts.gateway.state.merchants.get(card.merchantId)?.name],
          ['Created with', shownAmount(parts, card.amount, card.currency)],
          ['Charges', shownAmount(parts, card.charges, card.currency)],
          ['Card', <code>{card.id}</code>],
          ['Created (UTC)', <Time at={card.createdAt} />],
          ['Changed (UTC)', <Time at={card.updatedAt} />],
        ]}
      />
    </section>
  );
}

const HINTS = { charge: 'Coffee', fund: 'Pocket money' } as const;

function Moves({ card, given }: { card: Card; given: FormValues }) {
  const path = `${PLACES.cards.path}/${card.id}`;
  return (
    <section class="box" id="act" aria-labelledby="act-name">
      <h2 id="act-name">What happens to it</h2>
      {(['charge', 'fund'] as const).map((kind) => (
        <Action to={`${path}/${kind}`} label={kind}>
          <Field
            name="amount"
            label={`Amount to ${kind}`}
            value={given[`${kind}.amount`]}
            required
            hint="12.50"
            scope={kind}
          />
          <Field
            name="details"
            label="Details"
            value={given[`${kind}.details`]}
            hint={HINTS[kind]}
            scope={kind}
          />
          <button type="submit" class="plain">
            {kind === 'charge' ? 'Charge' : 'Fund'}
          </button>
        </Action>
      ))}
      <div class="inline" id="triggers">
        {TRIGGERS[card.status].map(([trigger, name]) => (
          <Action to={`${path}/${trigger}`} inline>
            <button type="submit" class={trigger === 'cancel' ? 'danger' : 'plain'}>
              {name}
            </button>
          </Action>
        ))}
      </div>
    </section>
  );
}

function Transactions({ parts, card }: { parts: AppParts; card: Card }) {
  const all = parts.gateway.state.transactionsOf(card.id);
  return (
    <section class="box" id="transactions" aria-labelledby="transactions-name">
      <h2 id="transactions-name">Transactions</h2>
      {all.length > 0 ? (
        <Table
          id="transaction-list"
          label="Transactions, newest first"
          columns={['At (UTC)', ['Amount', 'amount'], ['Charge', 'amount'], 'Details', 'Remark']}
        >
          {all.slice(0, PER_PAGE).map((one) => (
            <Row name={one.id}>
              <Cell>
                <Time at={one.createdAt} />
              </Cell>
              <Cell kind="amount">
                {one.type}
                {shownAmount(parts, one.amount, one.currency)}
              </Cell>
              <Cell kind="amount" label="Charge">
                {shownAmount(parts, one.charge, one.currency)}
              </Cell>
              <Cell kind="long">{one.details}</Cell>
              <Cell>{one.remark}</Cell>
            </Row>
          ))}
        </Table>
      ) : (
        <p class="soft">None yet: charge or fund the card.</p>
      )}
      {all.length > PER_PAGE && (
        <>
          <p class="soft">And {all.length - PER_PAGE} older:</p>
          <Code
            id="older"
            text={parts.facts.command(`gateway-sim cards show ${card.id}`)}
            what="The command that shows all transactions"
          />
        </>
      )}
    </section>
  );
}
