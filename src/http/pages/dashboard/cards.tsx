import { maskedCardNumber } from '../../../contract/card.ts';
import type { Card } from '../../../domain/state.ts';
import { shownAmount } from '../amount.ts';
import { Code, Section, Status, Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { listPage } from './list-page.tsx';
import { PLACES, recordPath } from './navigation.ts';
import type { PageRequest } from './page.tsx';
import { sampleCard } from './samples.tsx';
import { column } from './table.tsx';

export const cardsPage = listPage<Card>({
  place: 'cards',
  noun: 'card',
  records: ({ state }) => state.current.cards,
  columns: (parts) => [
    column('Card', ({ id, title }) => <a href={recordPath('cards', id)}>{title}</a>, { head: true }),
    column('Number', ({ number }) => <code>{maskedCardNumber(number)}</code>),
    column('Balance', (card) => shownAmount(parts, card.availableBalance, card.currency), { kind: 'amount' }),
    column('Status', ({ status }) => <Status of={status} />),
    column('Holder', ({ nameOnCard }) => nameOnCard, { kind: 'name' }),
    column('Merchant', ({ merchantId }) => parts.state.current.merchants.get(merchantId)?.name, {
      kind: 'name',
      label: 'of',
    }),
    column('Created (UTC)', ({ createdAt }) => <Time at={createdAt} />),
  ],
  start: ({ runtime, merchants }) => (
    <>
      <p>Create one below, or as a merchant's code does, with the secret key as bearer:</p>
      <Code
        id="sample"
        text={sampleCard(runtime.baseUrl(), merchants.default.secretKey)}
        what="The command that creates a card"
      />
    </>
  ),
  below: (request) => <Create {...request} />,
});

/** Maximum merchants to choose from. */
const OFFERED = 50;

function Create({ parts, given }: PageRequest) {
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
