import { Merchant, MerchantInput, MerchantList } from '../../contract/merchant.ts';
import { FundInput, Wallet, WalletList } from '../../contract/wallet.ts';
import type { AppParts } from '../environment.ts';
import { wholeList } from './list.ts';
import { control } from './route.ts';

export function merchantRoutes({ merchants, wallets }: AppParts) {
  return [
    control('GET /merchants', {
      summary: 'Merchants with their keys',
      answer: MerchantList,
      verbatim: true,
      run: () => {
        const first = merchants.default;
        const all = [...merchants.all.values()];
        return wholeList(all.map((merchant) => ({ ...merchant, isDefault: merchant === first })));
      },
    }),
    control('POST /merchants', {
      summary: 'Register a merchant',
      body: MerchantInput,
      answer: Merchant,
      verbatim: true,
      status: 201,
      run: ({ body }) => merchants.add(body.name),
    }),
    control('POST /merchants/:id/keys', {
      summary: 'Generate a new key pair',
      description: 'The old pair stops working immediately.',
      params: { id: 'Id or name of the merchant.' },
      answer: Merchant,
      verbatim: true,
      run: ({ params }) => merchants.replaceKeys(params.id),
    }),
    control('GET /wallets', {
      summary: 'Live-mode wallets',
      answer: WalletList,
      run: () => wholeList([...wallets.all.values()]),
    }),
    control('POST /wallets/:id/fund', {
      summary: 'Add money to a wallet',
      body: FundInput,
      answer: Wallet,
      run: ({ params, body }) => wallets.fund(params.id, body.amount),
    }),
  ];
}
