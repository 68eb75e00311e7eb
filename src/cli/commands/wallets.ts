import { type ActionsOf, type Declarations, group, requiredText } from '../command.ts';
import { listed } from '../layout.ts';

const COMMANDS = {
  list: { summary: 'all wallets' },
  fund: {
    args: ['<id>'],
    summary: 'put money into a wallet',
    neverGuess: true,
    fields: { amount: requiredText('amount', 'amount as decimal text') },
    examples: ['wallets fund wal_poor_usd --amount 100'],
  },
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

const runList: Actions['list'] = async ({ call }) =>
  listed(await call('GET /wallets'), {
    Wallet: ({ id }) => id,
    'E-mail': ({ email }) => email,
    Holder: ({ holder }) => holder,
    Balance: ({ balance, currency }) => `${balance} ${currency}`,
  });

const runFund: Actions['fund'] = async ({ args: [id], fields: json, call }) => {
  const wallet = await call('POST /wallets/:id/fund', { param: { id }, json });
  return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
};

export const wallets = group({
  name: 'wallets',
  summary: 'the wallets of live mode',
  examples: ['wallets', 'wallets fund wal_poor_usd --amount 100'],
  commands: COMMANDS,
  actions: { list: runList, fund: runFund },
});
