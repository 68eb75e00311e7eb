import { Merchant, MerchantInput, MerchantList } from '../../contract/merchant.ts';
import { defaultMerchant } from '../../domain/merchant.ts';
import { timestamp } from '../../domain/settings.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

const TAG = 'Control: merchants and wallets';

/** Routes of `/_sim/merchants`. */
export function merchantRoutes(parts: AppParts) {
  const { gateway } = parts;
  return [
    control(
      'GET /merchants',
      { tag: TAG, summary: 'Merchants with their keys', answer: MerchantList },
      () => {
        const first = defaultMerchant(gateway.state);
        const data = [...gateway.state.merchants.values()];
        return {
          data: data.map((merchant) => ({ ...merchant, isDefault: merchant === first })),
          nextCursor: null,
        };
      },
    ),
    control(
      'POST /merchants',
      { tag: TAG, summary: 'Register a merchant', body: MerchantInput, answer: Merchant, status: 201 },
      ({ body }) => addMerchant(parts, body.name),
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
      ({ params }) => replaceKeys(parts, params.id),
    ),
  ] as const;
}

/** Makes a merchant and says so in the log. */
export async function addMerchant({ gateway, activity }: AppParts, name: string): Promise<Merchant> {
  const merchant = await gateway.addMerchant(name);
  activity.notice(timestamp(gateway.now()), `merchant ${merchant.name} was added`);
  return merchant;
}

/** Replaces a merchant's pair and says so in the log: what still has the old one fails from now on. */
export async function replaceKeys({ gateway, activity }: AppParts, reference: string): Promise<Merchant> {
  const merchant = await gateway.replaceKeys(reference);
  activity.notice(timestamp(gateway.now()), `the keys of ${merchant.name} were replaced`);
  return merchant;
}
