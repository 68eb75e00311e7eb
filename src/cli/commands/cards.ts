import type { CardWithTransactions } from '../../contract/card.ts';
import { CARD_STATUSES, type CardAction, type CardMovementKind } from '../../contract/card-status.ts';
import { command, hint } from '../../contract/error.ts';
import { CARD_FIELDS, CARD_FILTERS, CARD_MOVEMENT_FIELDS } from '../../contract/request-fields.ts';
import { moment } from '../../contract/time.ts';
import { changeCard, createCard, readCard, requireMerchant } from '../../library/merchant-client.ts';
import { choice, defineCommand, type Group, PAGING, requiredText, text, textsOf } from '../command.ts';
import { type CommandResult, fieldsOf, listed, pairs, table } from '../output.ts';

const list = defineCommand({
  summary: 'list cards, newest first',
  fields: {
    status: choice('status', CARD_FILTERS.status.description, CARD_STATUSES),
    merchant: text('name', 'only cards of this merchant'),
    ...PAGING,
  },
  examples: ['cards list --status active'],
  run: async ({ fields: { merchant: name, ...filters }, connect }) => {
    const server = await connect();
    const merchant = name === undefined ? undefined : (await requireMerchant(server, name)).id;
    return listed(
      await server.call('GET /cards', { query: { ...filters, merchant } }),
      {
        Card: ({ id }) => id,
        Number: ({ maskedNumber }) => maskedNumber,
        Title: ({ title }) => title,
        Balance: ({ availableBalance, currency }) => `${availableBalance} ${currency}`,
        Status: ({ status }) => status,
      },
      hint`No cards. Create one with: ${command('cards create')}`,
    );
  },
});

const show = defineCommand({
  args: ['<id>'],
  summary: 'show a card and its transactions',
  examples: ['cards show card_1'],
  run: async ({ args: [id], connect }) => shown(await readCard(await connect(), id)),
});

/** Uses the service's own route, as a merchant would. */
const create = defineCommand({
  summary: 'create a card as a merchant would',
  options: {
    ...textsOf(CARD_FIELDS),
    merchant: text('name', 'merchant of the card (default: the first merchant)'),
  },
  examples: ['cards create --amount 250 --title Travel'],
  run: async ({ options, connect }) => shown(await createCard(await connect(), options, options.merchant)),
});

const change = (action: CardAction, summary: string) =>
  defineCommand({
    args: ['<id>'],
    summary,
    examples: [`cards ${action} card_1`],
    run: async ({ args: [id], connect }) => shown(await changeCard(await connect(), id, action)),
  });

function shown(card: CardWithTransactions): CommandResult {
  const { transactions, maskedNumber: _, ...record } = card;
  const activity = table(
    {
      'At (UTC)': ({ createdAt }) => moment(createdAt),
      Amount: ({ type, amount, currency }) => `${type}${amount} ${currency}`,
      Charge: ({ charge }) => charge,
      Details: ({ details }) => details,
    },
    transactions,
  );
  return { json: card, text: fieldsOf(record) + (activity && `\n\n${activity}`) };
}

const move = (type: CardMovementKind, summary: string) =>
  defineCommand({
    args: ['<id>'],
    summary,
    fields: {
      ...textsOf(CARD_MOVEMENT_FIELDS),
      amount: requiredText('amount', CARD_MOVEMENT_FIELDS.amount.description),
    },
    examples: [`cards ${type} card_1 --amount 12.50 --details Coffee`],
    run: async ({ args: [id], fields, call }) => {
      const json = { type, ...fields };
      const moved = await call('POST /cards/:id/transactions', { param: { id }, json });
      const { card, transaction } = moved;
      const text = pairs({
        Card: `${card.id}  ${card.maskedNumber}`,
        Amount: `${transaction.type}${transaction.amount} ${card.currency}  charge ${transaction.charge}`,
        Details: transaction.details || '-',
        Balance: `${card.availableBalance} ${card.currency}`,
      });
      return { json: moved, text };
    },
  });

export const cards: Group = {
  summary: 'list, create and use virtual cards',
  examples: [
    'cards create --amount 250 --title Travel',
    'cards charge card_1 --amount 12.50 --details Coffee',
  ],
  commands: {
    list,
    show,
    create,
    activate: change('activate', 'activate an inactive card'),
    block: change('block', 'block an active card'),
    cancel: change('cancel', 'cancel a card permanently'),
    charge: move('charge', 'pay with a card'),
    fund: move('fund', 'add money to a card'),
  },
};
