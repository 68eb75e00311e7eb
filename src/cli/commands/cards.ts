import type { CardWithTransactions } from '../../contract/card.ts';
import { CARD_DEFAULTS } from '../../contract/defaults.ts';
import { command, hint } from '../../contract/hint.ts';
import { CARD_STATUSES, type CardAction, type CardMovementKind } from '../../contract/vocabulary.ts';
import { changeCard, createCard, readCard, requireMerchant } from '../../library/merchant-client.ts';
import { choice, defineCommand, type Group, pagedBy, requiredText, text, textOr } from '../command.ts';
import { fieldsOf, listed, moment, pairs, table } from '../layout.ts';
import type { CommandResult } from '../output.ts';

const list = defineCommand({
  summary: 'cards, newest first',
  fields: pagedBy({
    status: choice('status', 'only those of this status', CARD_STATUSES),
    merchant: text('name', 'only those of this merchant'),
  }),
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
      hint`No cards. Make one with: ${command('cards create')}`,
    );
  },
});

const show = defineCommand({
  args: ['<id>'],
  summary: 'one card and its transactions',
  examples: ['cards show card_1'],
  run: async ({ args: [id], connect }) => shown(await readCard(await connect(), id)),
});

/** Over the service's own route, as a merchant would. */
const create = defineCommand({
  summary: 'create a card as a merchant would',
  options: {
    amount: textOr(CARD_DEFAULTS.amount, 'amount', 'card total amount as decimal text'),
    currency: textOr(CARD_DEFAULTS.currency, 'code', 'currency code'),
    title: textOr(CARD_DEFAULTS.title, 'text', 'title of the card'),
    nameOnCard: textOr(CARD_DEFAULTS.nameOnCard, 'text', 'name printed on it'),
    email: textOr(CARD_DEFAULTS.email, 'e-mail', 'e-mail of the holder'),
    merchant: text('name', 'of this merchant (default: the first one)'),
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
      amount: requiredText('amount', 'amount as decimal text'),
      details: text('text', 'what it is for'),
      currency: text('code', "must be the card's own where it is given"),
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
  summary: 'virtual cards',
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
    cancel: change('cancel', 'cancel a card: that is final'),
    charge: move('charge', 'pay something with a card'),
    fund: move('fund', 'add money to a card'),
  },
};
