import { WALLET_FUND_FIELDS } from '../../contract/request-fields.ts';
import { defineCommand, type Group, requiredText } from '../command.ts';
import { listed } from '../output.ts';

const list = defineCommand({
  summary: 'list all wallets',
  run: async ({ call }) =>
    listed(await call('GET /wallets'), {
      Wallet: ({ id }) => id,
      'E-mail': ({ email }) => email,
      Holder: ({ holder }) => holder,
      Balance: ({ balance, currency }) => `${balance} ${currency}`,
    }),
});

const fund = defineCommand({
  args: ['<id>'],
  summary: 'add money to a wallet',
  fields: { amount: requiredText('amount', WALLET_FUND_FIELDS.amount.description) },
  examples: ['wallets fund wal_poor_usd --amount 100'],
  run: async ({ args: [id], fields: json, call }) => {
    const wallet = await call('POST /wallets/:id/fund', { param: { id }, json });
    return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
  },
});

export const wallets: Group = {
  summary: 'list and fund live-mode wallets',
  examples: ['wallets', 'wallets fund wal_poor_usd --amount 100'],
  commands: { list, fund },
};
