import { Hono } from 'hono';
import * as z from 'zod/mini';
import { defaultMerchant } from '../../domain/merchant.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { jsonInput } from '../input.ts';

/** A new merchant. */
export const MerchantInput = z.strictObject({ name: z.string() });
/** Money for a wallet, as decimal text. */
export const FundInput = z.strictObject({ amount: z.string() });

/** Routes below `/_sim/merchants`. */
export function merchantRoutes({ gateway, merchants }: AppParts) {
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
      c.json(await merchants.add(c.req.valid('json').name), 201),
    )
    .post('/:id/keys', async (c) => c.json(await merchants.replaceKeys(c.req.param('id'))));
}

/** Routes below `/_sim/wallets`. */
export function walletRoutes({ gateway, wallets }: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/', (c) => c.json({ data: [...gateway.state.wallets.values()], nextCursor: null }))
    .post('/:id/fund', jsonInput(FundInput), async (c) =>
      c.json(await wallets.fund(c.req.param('id'), c.req.valid('json').amount)),
    );
}
