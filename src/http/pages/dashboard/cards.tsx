import { maskedCardNumber } from '../../../contract/card.ts';
import type { Card } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import { Code, Section, Status, Time } from './blocks.tsx';
import { Form, type FormValues } from './forms.tsx';
import { Empty, listPage, queryOf } from './list-page.tsx';
import { PER_PAGE, PLACES, recordPath } from './navigation.ts';
import type { PageRenderer } from './page.tsx';
import { sampleCard } from './samples.tsx';
import { type Column, column } from './table.tsx';

export const cardsPage: PageRenderer = ({ parts, c, given }) => {
  const { current: state } = parts.state;
  const query = queryOf(c);
  return listPage({
    place: 'cards',
    query,
    id: 'cards',
    table: { id: 'card-list', label: 'Cards, newest first', columns: columnsOf(parts) },
    page: state.cards.page(PER_PAGE, query['cursor'], () => true),
    empty: (
      <Empty id="no-card" title="No card yet">
        <p>Create one below, or as a merchant's code does, with the secret key as bearer:</p>
        <Code
          id="sample"
          text={sampleCard(parts.runtime.baseUrl(), parts.merchants.default.secretKey)}
          what="The command that creates a card"
        />
      </Empty>
    ),
    below: <Create parts={parts} given={given} />,
  });
};

function columnsOf(parts: AppParts): Column<Card>[] {
  const balance = (card: Card) => shownAmount(parts, card.availableBalance, card.currency);
  const merchant = ({ merchantId }: Card) => parts.state.current.merchants.get(merchantId)?.name;
  return [
    column('Card', ({ id, title }) => <a href={recordPath('cards', id)}>{title}</a>, { head: true }),
    column('Number', ({ number }) => <code>{maskedCardNumber(number)}</code>),
    column('Balance', balance, { kind: 'amount' }),
    column('Status', ({ status }) => <Status of={status} />),
    column('Holder', ({ nameOnCard }) => nameOnCard, { kind: 'name' }),
    column('Merchant', merchant, { kind: 'name', label: 'of' }),
    column('Created (UTC)', ({ createdAt }) => <Time at={createdAt} />),
  ];
}

/** Maximum merchants to choose from. */
const OFFERED = 50;

function Create({ parts, given }: { parts: AppParts; given: FormValues }) {
  const { current: state } = parts.state;
  const { settings } = parts.runtime;
  const merchants = [...state.merchants.values()]
    .slice(0, OFFERED)
    .map(({ id, name }) => [id, name] as const);
  const currencies = [...settings.currencies.keys()].filter((code) => code.length <= 3);
  return (
    <Section id="create" title="Create a card">
      <Form
        to={PLACES.cards.path}
        given={given}
        fields={[
          { name: 'amount', label: 'Amount', value: '100.00', required: true },
          { name: 'currency_code', label: 'Currency', value: 'USD', options: currencies },
          { name: 'title', label: 'Title', value: 'Test card', required: true },
          { name: 'name_on_card', label: 'Name on the card', value: 'Ada Example', required: true },
          { name: 'email', label: 'E-mail', type: 'email', value: 'ada@example.com', required: true },
          ...(merchants.length > 1 ? [{ name: 'merchant', label: 'Merchant', options: merchants }] : []),
        ]}
        submit="Create"
        look="primary"
      />
    </Section>
  );
}
