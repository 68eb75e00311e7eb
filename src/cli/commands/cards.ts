import type { CardWithTransactions } from '../../contract/card.ts';
import { CARD_DEFAULTS } from '../../contract/defaults.ts';
import { command, hint } from '../../contract/hint.ts';
import { CARD_STATUSES, type CardAction } from '../../contract/vocabulary.ts';
import { changeCard, createCard, readCard, requireMerchant } from '../../library/merchant-client.ts';
import {
  type ActionsOf,
  choice,
  type Declarations,
  group,
  pagedBy,
  requiredText,
  text,
  textOr,
} from '../command.ts';
import { fieldsOf, listed, moment, pairs, table } from '../layout.ts';
import type { CommandResult } from '../output.ts';

const declaredMovement = (name: string, summary: string) =>
  ({
    args: ['<id>'],
    summary,
    fields: {
      amount: requiredText('amount', 'amount as decimal text'),
      details: text('text', 'what it is for'),
      currency: text('code', "must be the card's own where it is given"),
    },
    examples: [`cards ${name} card_1 --amount 12.50 --details Coffee`],
  }) as const;
const declaredChange = (name: string, summary: string) =>
  ({ args: ['<id>'], summary, examples: [`cards ${name} card_1`] }) as const;

const COMMANDS = {
  list: {
    summary: 'cards, newest first',
    fields: pagedBy({
      status: choice('status', 'only those of this status', CARD_STATUSES),
      merchant: text('name', 'only those of this merchant'),
    }),
    examples: ['cards list --status active'],
  },
  show: {
    args: ['<id>'],
    summary: 'one card and its transactions',
    examples: ['cards show card_1'],
  },
  create: {
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
  },
  activate: declaredChange('activate', 'activate an inactive card'),
  block: declaredChange('block', 'block an active card'),
  cancel: declaredChange('cancel', 'cancel a card: that is final'),
  charge: declaredMovement('charge', 'pay something with a card'),
  fund: declaredMovement('fund', 'add money to a card'),
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

const runList: Actions['list'] = async ({ fields: { merchant: name, ...filters }, connect }) => {
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
};

const runShow: Actions['show'] = async ({ args: [id], connect }) =>
  shown(await readCard(await connect(), id));

/** Over the service's own route, as a merchant would. */
const runCreate: Actions['create'] = async ({ options, connect }) =>
  shown(await createCard(await connect(), options, options.merchant));

const runActivate = change('activate');
const runBlock = change('block');
const runCancel = change('cancel');

function change(action: CardAction): Actions['activate'] {
  return async ({ args: [id], connect }) => shown(await changeCard(await connect(), id, action));
}

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

const runCharge = move('charge');
const runFund = move('fund');

function move(type: 'charge' | 'fund'): Actions['charge'] {
  return async ({ args: [id], fields, call }) => {
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
  };
}

export const cards = group({
  name: 'cards',
  summary: 'virtual cards',
  examples: [
    'cards create --amount 250 --title Travel',
    'cards charge card_1 --amount 12.50 --details Coffee',
  ],
  commands: COMMANDS,
  actions: {
    list: runList,
    show: runShow,
    create: runCreate,
    activate: runActivate,
    block: runBlock,
    cancel: runCancel,
    charge: runCharge,
    fund: runFund,
  },
});
