import type { Actions } from '../commands/wallets.ts';
import { listed } from '../layout.ts';

export const list: Actions['list'] = async ({ call }) =>
  listed(await call('GET /wallets'), {
    Wallet: ({ id }) => id,
    'E-mail': ({ email }) => email,
    Holder: ({ holder }) => holder,
    Balance: ({ balance, currency }) => `${balance} ${currency}`,
  });

export const fund: Actions['fund'] = async ({ args: [id], fields: json, call }) => {
  const wallet = await call('POST /wallets/:id/fund', { param: { id }, json });
  return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
};
