import type { Card, CardWithTransactions } from '../../contract/card.ts';
import { command, hint } from '../../contract/hint.ts';
import type { CardAction } from '../../contract/vocabulary.ts';
import { changeCard, createCard, readCard, requireMerchant } from '../../library/merchant-client.ts';
import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/cards.ts';
import { type Columns, fieldsOf, listed, moment, pairs, table } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;

const CARD_COLUMNS: Columns<Card> = {
  Card: ({ id }) => id,
  Number: ({ maskedNumber }) => maskedNumber,
  Title: ({ title }) => title,
  Balance: ({ availableBalance, currency }) => `${availableBalance} ${currency}`,
  Status: ({ status }) => status,
};

const TRANSACTION_COLUMNS: Columns<CardWithTransactions['transactions'][number]> = {
  'At (UTC)': ({ createdAt }) => moment(createdAt),
  Amount: ({ type, amount, currency }) => `${type}${amount} ${currency}`,
  Charge: ({ charge }) => charge,
  Details: ({ details }) => details,
};

export async function list({ fields: { merchant, ...filters }, connect }: Context<'list'>) {
  const server = await connect();
  const owner = merchant === undefined ? {} : { merchant: (await requireMerchant(server, merchant)).id };
  const page = await server.call('GET /cards', { query: { ...filters, ...owner } });
  return listed(page, CARD_COLUMNS, hint`No cards. Make one with: ${command('cards create')}`);
}

export async function show({ args: [id], connect }: Context<'show'>) {
  return shownCard(await readCard(await connect(), id));
}

function shownCard(card: CardWithTransactions): CommandResult {
  const { transactions, maskedNumber: _, ...record } = card;
  const activity = table(TRANSACTION_COLUMNS, transactions);
  return { json: card, text: fieldsOf(record) + (activity && `\n\n${activity}`) };
}

/** Over the service's own route, as a merchant would. */
export async function create({ options, connect }: Context<'create'>) {
  return shownCard(await createCard(await connect(), options, options.merchant));
}

export const activate = change('activate');
export const block = change('block');
export const cancel = change('cancel');

function change(action: CardAction) {
  return async ({ args: [id], connect }: Context<'activate'>) =>
    shownCard(await changeCard(await connect(), id, action));
}

export const charge = move('charge');
export const fund = move('fund');

function move(type: 'charge' | 'fund') {
  return async ({ args: [id], fields, connect }: Context<'charge'>): Promise<CommandResult> => {
    const server = await connect();
    const param = { id };
    const json = { type, ...fields };
    const moved = await server.call('POST /cards/:id/transactions', { param, json });
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
