import { maskedCardNumber } from '../../../domain/card.ts';
import { defaultMerchant } from '../../../domain/merchant.ts';
import type { Card } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Choice, Code, Field, type FormValues, Pages, Status, Time } from './blocks.tsx';
import { PER_PAGE, PLACES, UI } from './navigation.ts';
import { shownAmount } from './payments.tsx';
import { sampleCard } from './samples.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** The page of the virtual cards. */
export function CardsPage(props: { parts: AppParts; cursor?: string | undefined; given: FormValues }) {
  const { parts, cursor, given } = props;
  const { state } = parts.gateway;
  const page = state.cards.page(PER_PAGE, cursor, () => true);
  return (
    <>
      <h1>Cards</h1>
      {page.data.length > 0 ? (
        <CardTable parts={parts} cards={page.data} />
      ) : (
        <section class="box empty" id="no-card">
          <h2>No card yet</h2>
          <p>Create one below, or as a merchant's code does, with the secret key as bearer:</p>
          <Code
            id="sample"
            text={sampleCard(parts.facts.baseUrl(), defaultMerchant(state).secretKey)}
            what="The command that creates a card"
          />
        </section>
      )}
      <Pages place="cards" query={{ cursor }} next={page.nextCursor} />
      <Create parts={parts} given={given} />
    </>
  );
}

function CardTable({ parts, cards }: { parts: AppParts; cards: readonly Card[] }) {
  const { merchants } = parts.gateway.state;
  return (
    <div class="box" id="cards">
      <Table
        id="card-list"
        label="Cards, newest first"
        columns={['Card', 'Number', ['Balance', 'amount'], 'Status', 'Holder', 'Merchant', 'Created (UTC)']}
      >
        {cards.map((card) => (
          <Row name={card.id}>
            <RowHead>
              <a href={`${UI}/cards/${card.id}`}>{card.title}</a>
            </RowHead>
            <Cell>
              <code>{maskedCardNumber(card.number)}</code>
            </Cell>
            <Cell kind="amount">{shownAmount(parts, card.availableBalance, card.currency)}</Cell>
            <Cell>
              <Status of={card.status} />
            </Cell>
            <Cell kind="name">{card.nameOnCard}</Cell>
            <Cell kind="name" label="of">
              {merchants.get(card.merchantId)?.name}
            </Cell>
            <Cell>
              <Time at={card.createdAt} />
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  );
}

/** So many merchants can be chosen from. */
const OFFERED = 50;

function Create({ parts, given }: { parts: AppParts; given: FormValues }) {
  const { state, settings } = parts.gateway;
  const merchants = [...state.merchants.values()].slice(0, OFFERED);
  const currencies = [...settings.currencies.keys()].filter((code) => code.length <= 3);
  return (
    <section class="box" id="create" aria-labelledby="create-name">
      <h2 id="create-name">Create a card</h2>
      <Action to={PLACES.cards.path}>
        <Field name="amount" label="Amount" value={given['amount'] ?? '100.00'} required />
        <Choice
          name="currency_code"
          label="Currency"
          value={given['currency_code'] ?? 'USD'}
          options={currencies.map((code) => [code, code])}
        />
        <Field name="title" label="Title" value={given['title'] ?? 'Test card'} required />
        <Field
          name="name_on_card"
          label="Name on the card"
          value={given['name_on_card'] ?? 'Ada Example'}
          required
        />
        <Field
          name="email"
          label="E-mail"
          type="email"
          value={given['email'] ?? 'ada@example.com'}
          required
        />
        {merchants.length > 1 && (
          <Choice
            name="merchant"
            label="Merchant"
            value={given['merchant']}
            options={merchants.map(({ id, name }) => [id, name])}
          />
        )}
        <button type="submit">Create</button>
      </Action>
    </section>
  );
}
