import { Hono } from 'hono';
import * as z from 'zod/mini';
import { defaultMerchant } from '../../domain/merchant.ts';
import { timestamp } from '../../domain/settings.ts';
import type { Merchant } from '../../domain/state.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { jsonInput } from '../input.ts';

/** A new merchant. */
export const MerchantInput = z.strictObject({ name: z.string() });
/** Money for a wallet, as decimal text. */
export const FundInput = z.strictObject({ amount: z.string() });

/** Routes below `/_sim/merchants`. */
export function merchantRoutes(parts: AppParts) {
  const { gateway } = parts;
  return new Hono<AppEnvironment>()
    .get('/', (c) => {
      const first = defaultMerchant(gateway.state);
      const data = [...gateway.state.merchants.values()];
      return c.json({
        data: data.map((merchant) => ({ ...merchant, isDefault: merchant === first })),
        nextCursor: null,
      });
    })
    .post('/', jsonInput(MerchantInput), async (c) =>
      c.json(await addMerchant(parts, c.req.valid('json').name), 201),
    )
    .post('/:id/keys', async (c) => c.json(await replaceKeys(parts, c.req.param('id'))));
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

/** Routes below `/_sim/wallets`. */
export function walletRoutes({ gateway }: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/', (c) => c.json({ data: [...gateway.state.wallets.values()], nextCursor: null }))
    .post('/:id/fund', jsonInput(FundInput), async (c) =>
      c.json(await gateway.fundWallet(c.req.param('id'), c.req.valid('json').amount)),
    );
}
