import { type ActionsOf, type Declarations, group, requiredText } from '../command.ts';

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
export type Actions = ActionsOf<typeof COMMANDS>;

export const wallets = group({
  name: 'wallets',
  summary: 'the wallets of live mode',
  examples: ['wallets', 'wallets fund wal_poor_usd --amount 100'],
  commands: COMMANDS,
  load: () => import('../actions/wallets.ts'),
});
