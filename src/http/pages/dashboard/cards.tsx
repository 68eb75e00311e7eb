import type { CardTransaction } from '../../../contract/card.ts';
import { CARD_ACTIONS, CARD_MOVEMENTS, CARD_TRANSITIONS } from '../../../contract/card-status.ts';
import { command } from '../../../contract/error.ts';
import { maskedCardNumber } from '../../../contract/secrets.ts';
import type { Card } from '../../../domain/state.ts';
import { readCard } from '../../../service/cards.ts';
import type { AppDependencies } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { Ago, type Column, Facts, More, Section, Status, Table, Time } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type List, listPage } from './list.tsx';
import { MerchantField } from './new-payment.tsx';
import { type FormAction, type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { PER_PAGE, PLACES, recordPath, recordRoute } from './paths.ts';
import { capitalized } from './text.ts';

const CARDS: List<Card> = {
  place: 'cards',
  noun: 'card',
  texts: ['title', 'id', 'number', 'nameOnCard', 'email'],
  records: ({ store }) => [...store.state.cards.values()].reverse(),
  columns: (parts) => [
    ['Card', 'head', ({ id, title }) => <Link href={recordPath('cards', id)}>{title}</Link>],
    ['Number', 'name', ({ number }) => <code>{maskedCardNumber(number)}</code>],
    ['Balance', 'amount', (card) => inGroups(shownAmount(parts, card.availableBalance, card.currency))],
    ['Status', 'state', ({ status }) => <Status of={status} />],
    ['Holder', 'name', ({ nameOnCard }) => nameOnCard],
    ['Merchant', 'name', ({ merchantId }) => parts.store.state.merchants.get(merchantId)?.name, 'of'],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
  ],
  first: () => <p>Create one below, or through the API.</p>,
  below: (parts) => <Create parts={parts} />,
};

function Create({ parts }: { parts: AppDependencies }) {
  const currencies = [...parts.runtime.settings.currencies.keys()].filter((code) => code.length <= 3);
  return (
    <Section id="create" title="Create a card">
      <Form to={PLACES.cards.path} submit="Create" look="primary">
        <Field name="amount" label="Amount" value="100.00" required />
        <Field name="currency_code" label="Currency" value="USD" options={currencies} />
        <Field name="title" label="Title" value="Test card" required />
        <Field name="name_on_card" label="Name on the card" value="Ada Example" required />
        <Field name="email" label="E-mail" type="email" value="ada@example.com" required />
        <MerchantField parts={parts} />
      </Form>
    </Section>
  );
}

export const cardPage: PageRenderer = ({ parts, id }) => {
  const card = parts.cards.require(id);
  const amount = (value: string) => shownAmount(parts, value, card.currency);
  const number = (
    <details id="number">
      <summary>{maskedCardNumber(card.number)} (show)</summary>
      <code>{card.number}</code> valid until {String(card.expiryMonth).padStart(2, '0')}/{card.expiryYear},
      CVC <code>{card.cvc}</code>
    </details>
  );
  const facts = [
    ['Number', number],
    ['Holder', `${card.nameOnCard}, ${card.email}`],
    ['Merchant', parts.store.state.merchants.get(card.merchantId)?.name],
    ['Initial amount', amount(card.amount)],
    ['Charges', amount(card.charges)],
    ['Card', <code>{card.id}</code>],
    ['Created (UTC)', <Time at={card.createdAt} />],
    ['Updated (UTC)', <Time at={card.updatedAt} />],
  ] as const;
  return recordPage(
    'cards',
    card.id,
    { title: card.title, sum: amount(card.availableBalance), status: <Status of={card.status} /> },
    <>
      <div class="columns">
        <section class="box" id="card" aria-label="Card">
          <Facts rows={facts} />
        </section>
        <CardActions card={card} from={recordPath('cards', card.id)} />
      </div>
      <Transactions card={card} parts={parts} />
    </>,
  );
};

const DETAILS = { charge: 'Coffee', fund: 'Pocket money' };
const ACTIONS = { activate: 'Activate', block: 'Block', cancel: 'Cancel permanently' };

function CardActions({ card, from }: { card: Card; from: string }) {
  const path = recordPath('cards', card.id);
  const next = CARD_TRANSITIONS[card.status];
  const isAllowed = { charge: card.status === 'active', fund: card.status !== 'canceled' };
  const actions = CARD_ACTIONS.filter((action) => next[action] !== null && next[action] !== card.status);
  return (
    <Section id="act" title="Simulate activity">
      {card.status === 'canceled' && <p>Cancellation is permanent.</p>}
      {CARD_MOVEMENTS.filter((kind) => isAllowed[kind]).map((kind) => (
        <Form to={`${path}/${kind}`} label={kind} hidden={{ from }} submit={capitalized(kind)}>
          <Field name="amount" label={`Amount to ${kind}`} required placeholder="12.50" scope={kind} />
          <Field name="details" label="Details" placeholder={DETAILS[kind]} scope={kind} />
        </Form>
      ))}
      <div class="inline" id="triggers">
        {actions.map((action) => (
          <Form
            to={`${path}/${action}`}
            hidden={{ from }}
            look={action === 'cancel' ? 'danger' : 'plain'}
            submit={ACTIONS[action]}
            confirm={action === 'cancel' ? 'Cancel this card? This cannot be undone.' : undefined}
          />
        ))}
      </div>
    </Section>
  );
}

function Transactions({ card, parts }: { card: Card; parts: AppDependencies }) {
  const all = parts.store.state.transactionsOf(card.id);
  const columns: Column<CardTransaction>[] = [
    ['At (UTC)', 'plain', ({ createdAt }) => <Time at={createdAt} />],
    ['Amount', 'amount', (one) => `${one.type}${shownAmount(parts, one.amount, one.currency)}`],
    ['Charge', 'amount', ({ charge, currency }) => shownAmount(parts, charge, currency), 'Charge'],
    ['Details', 'long', ({ details }) => details],
    ['Remark', 'plain', ({ remark }) => remark],
  ];
  return (
    <Section id="transactions" title="Transactions">
      <Table
        id="transaction-list"
        label="Transactions, newest first"
        columns={columns}
        rows={all.slice(0, PER_PAGE)}
        none="No transactions yet. Charge or fund the card."
      />
      <More count={all.length - PER_PAGE} run={command('cards show', card.id)} />
    </Section>
  );
}

const CARD = recordRoute('cards');

/** Forms that differ only in their last part. */
function byName<Name extends string>(names: readonly Name[], act: (name: Name) => FormAction) {
  return Object.fromEntries(names.map((name) => [`${CARD}/${name}`, act(name)]));
}

export const CARD_PAGES: NounPages = {
  pages: {
    [PLACES.cards.path]: listPage(CARDS),
    [CARD]: cardPage,
  },
  forms: {
    [PLACES.cards.path]: async ({ cards, merchants }, { merchant, ...fields }) => {
      const owner = merchant ? merchants.require(merchant) : merchants.default;
      return recordPath('cards', (await cards.issue(owner, readCard({ fields, text: '' }))).id);
    },
    ...byName(CARD_MOVEMENTS, (kind) => async ({ cards }, { amount = '', details }, id) => {
      await cards.move(id, kind, { amount: amount.trim(), ...(details && { details }) });
    }),
    ...byName(CARD_ACTIONS, (action) => async ({ cards, merchants }, _, id) => {
      await cards.apply(merchants.require(cards.require(id).merchantId), id, action);
    }),
  },
};
