import { Merchant, MerchantInput, MerchantList } from '../../contract/merchant.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

const TAG = 'Control: merchants and wallets';

/** Routes of `/_sim/merchants`. */
export function merchantRoutes({ merchants, state }: AppParts) {
  return [
    control(
      'GET /merchants',
      { tag: TAG, summary: 'Merchants with their keys', answer: MerchantList },
      () => {
        const first = merchants.default;
        const data = [...state.current.merchants.values()];
        return {
          data: data.map((merchant) => ({ ...merchant, isDefault: merchant === first })),
          nextCursor: null,
        };
      },
    ),
    control(
      'POST /merchants',
      { tag: TAG, summary: 'Register a merchant', body: MerchantInput, answer: Merchant, status: 201 },
      ({ body }) => merchants.add(body.name),
    ),
    control(
      'POST /merchants/:id/keys',
      {
        tag: TAG,
        summary: 'Generate a new pair of keys',
        description: 'The old pair stops working at once.',
        params: { id: 'Id or name of the merchant.' },
        answer: Merchant,
      },
      ({ params }) => merchants.replaceKeys(params.id),
    ),
  ] as const;
}
