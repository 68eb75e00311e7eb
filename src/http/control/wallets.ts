import { FundInput, Wallet, WalletList } from '../../contract/wallet.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

const TAG = 'Control: merchants and wallets';

/** Routes of `/_sim/wallets`. */
export function walletRoutes({ wallets, state }: AppParts) {
  return [
    control('GET /wallets', { tag: TAG, summary: 'Wallets of live mode', answer: WalletList }, () => ({
      data: [...state.current.wallets.values()],
      nextCursor: null,
    })),
    control(
      'POST /wallets/:id/fund',
      { tag: TAG, summary: 'Put money into a wallet', body: FundInput, answer: Wallet },
      ({ params, body }) => wallets.fund(params.id, body.amount),
    ),
  ] as const;
}
