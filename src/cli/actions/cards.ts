import type { CardWithTransactions } from '../../contract/card.ts';
import { command, hint } from '../../contract/hint.ts';
import type { CardAction } from '../../contract/vocabulary.ts';
import { changeCard, createCard, readCard, requireMerchant } from '../../library/merchant-client.ts';
import type { Actions } from '../commands/cards.ts';
import { fieldsOf, listed, moment, pairs, table } from '../layout.ts';
import type { CommandResult } from '../output.ts';

export const list: Actions['list'] = async ({ fields: { merchant: name, ...filters }, connect }) => {
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

export const show: Actions['show'] = async ({ args: [id], connect }) =>
  shown(await readCard(await connect(), id));

/** Over the service's own route, as a merchant would. */
export const create: Actions['create'] = async ({ options, connect }) =>
  shown(await createCard(await connect(), options, options.merchant));

export const activate = change('activate');
export const block = change('block');
export const cancel = change('cancel');

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

export const charge = move('charge');
export const fund = move('fund');

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
