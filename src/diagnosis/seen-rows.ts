import type { ShopRows } from './shop-rows.ts';

/** What changed in the shop's database around each IPN and return page. */
export type SeenRows = Pick<ShopRows, keyof ShopRows>;

/** Without a database, nothing is seen. */
export const UNSEEN: SeenRows = {
  of: () => null,
  whyUnknown: () => null,
  state: null,
  whenKnown: () => undefined,
  around: (_, run) => run(),
  aroundReturn: (_, run) => run(),
  watch: async () => undefined,
  forget: () => {},
};
