import { type CardTransaction, maskedCardNumber } from '../../../contract/card.ts';
import { command } from '../../../contract/hint.ts';
import {
  CARD_ACTIONS,
  CARD_MOVEMENTS,
  CARD_TRANSITIONS,
  type CardAction,
} from '../../../contract/vocabulary.ts';
import type { Card } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import { FactsBox, More, Section, Status, Time } from './blocks.tsx';
import { Form, type FormValues } from './forms.tsx';
import { PER_PAGE, recordPath } from './navigation.ts';
import { idOf, type PageRenderer, recordPage } from './page.tsx';
import { type Column, column, Table } from './table.tsx';

/** The page of one card and its transactions. */
export const cardPage: PageRenderer = ({ parts, c, given }) => {
  const card = parts.cards.require(idOf(c));
  return recordPage({
    place: 'cards',
    id: card.id,
    title: card.title,
    sum: shownAmount(parts, card.availableBalance, card.currency),
    status: <Status of={card.status} />,
    sections: (
      <>
        <div class="columns">
          <CardFacts parts={parts} card={card} />
          <Moves card={card} posted={c.req.path} given={given} />
        </div>
        <Transactions parts={parts} card={card} />
      </>
    ),
  });
};

function CardFacts({ parts, card }: { parts: AppParts; card: Card }) {
  const expiry = `${String(card.expiryMonth).padStart(2, '0')}/${card.expiryYear}`;
  const number = (
    <details id="number">
      <summary>{maskedCardNumber(card.number)} (show)</summary>
      <code>{card.number}</code> valid to {expiry}, CVC <code>{card.cvc}</code>
    </details>
  );
  return (
    <FactsBox
      id="card"
      label="Card"
      rows={[
        ['Number', number],
        ['Holder', `${card.nameOnCard}, ${card.email}`],
        ['Merchant', parts.state.current.merchants.get(card.merchantId)?.name],
        ['Created with', shownAmount(parts, card.amount, card.currency)],
        ['Charges', shownAmount(parts, card.charges, card.currency)],
        ['Card', <code>{card.id}</code>],
        ['Created (UTC)', <Time at={card.createdAt} />],
        ['Changed (UTC)', <Time at={card.updatedAt} />],
      ]}
    />
  );
}

const MOVEMENTS = {
  charge: { name: 'Charge', hint: 'Coffee' },
  fund: { name: 'Fund', hint: 'Pocket money' },
} as const satisfies Record<(typeof CARD_MOVEMENTS)[number], object>;

const ACTION_NAMES = {
  activate: 'Activate',
  block: 'Block',
  cancel: 'Cancel for good',
} as const satisfies Record<CardAction, string>;

/** @param posted where the form that was given something posts to: its siblings have the same fields */
function Moves({ card, posted, given }: { card: Card; posted: string; given: FormValues }) {
  const path = recordPath('cards', card.id);
  const next = CARD_TRANSITIONS[card.status];
  const actions = CARD_ACTIONS.filter((action) => next[action] !== null && next[action] !== card.status);
  return (
    <Section id="act" title="What happens to it">
      {CARD_MOVEMENTS.map((kind) => (
        <Form
          to={`${path}/${kind}`}
          label={kind}
          scope={kind}
          given={posted === `${path}/${kind}` ? given : {}}
          fields={[
            { name: 'amount', label: `Amount to ${kind}`, required: true, placeholder: '12.50' },
            { name: 'details', label: 'Details', placeholder: MOVEMENTS[kind].hint },
          ]}
          submit={MOVEMENTS[kind].name}
        />
      ))}
      <div class="inline" id="triggers">
        {actions.map((action) => (
          <Form
            to={`${path}/${action}`}
            look={action === 'cancel' ? 'danger' : 'plain'}
            submit={ACTION_NAMES[action]}
          />
        ))}
      </div>
    </Section>
  );
}

function Transactions({ parts, card }: { parts: AppParts; card: Card }) {
  const all = parts.cards.transactions(card);
  const rows = all.slice(0, PER_PAGE);
  const amount = (one: CardTransaction) => shownAmount(parts, one.amount, one.currency);
  const charge = (one: CardTransaction) => shownAmount(parts, one.charge, one.currency);
  const columns: Column<CardTransaction>[] = [
    column('At (UTC)', ({ createdAt }) => <Time at={createdAt} />),
    column('Amount', (one) => `${one.type}${amount(one)}`, { kind: 'amount' }),
    column('Charge', charge, { kind: 'amount', label: 'Charge' }),
    column('Details', ({ details }) => details, { kind: 'long' }),
    column('Remark', ({ remark }) => remark),
  ];
  return (
    <Section id="transactions" title="Transactions">
      {all.length > 0 ? (
        <Table id="transaction-list" label="Transactions, newest first" columns={columns} rows={rows} />
      ) : (
        <p class="soft">None yet: charge or fund the card.</p>
      )}
      <More
        id="older"
        count={all.length - PER_PAGE}
        parts={parts}
        run={command('cards show', card.id)}
        what="transactions"
      />
    </Section>
  );
}
