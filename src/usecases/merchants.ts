import type { Merchant } from '../contract/merchant.ts';
import type { Wallet } from '../contract/wallet.ts';
import { unique } from '../domain/ids.ts';
import {
  addMerchant,
  defaultMerchant,
  newKeyPair,
  replaceKeys,
  requireBySecretKey,
  requireMerchant,
} from '../domain/merchant.ts';
import { fundWallet, payerOf } from '../domain/wallet.ts';
import type { UseCaseDependencies } from './dependencies.ts';

export function merchantUseCases({ store, context, random, events }: UseCaseDependencies) {
  return {
    get default(): Merchant {
      return defaultMerchant(store.state);
    },

    /** The merchant with this id or name. @throws GatewayError `not_found` */
    require: (reference: string): Merchant => requireMerchant(store.state, reference),

    /** The merchant whose secret key a request carries. @throws GatewayError `unauthorized` */
    requireBySecretKey: (key: string | undefined): Merchant => requireBySecretKey(store.state, key),

    async add(name: string): Promise<Merchant> {
      const merchant = await store.commit((state) => {
        const ruleContext = context();
        const isFree = (id: string) => state.merchants.get(id) === undefined;
        const id = unique(ruleContext.ids.merchant, isFree);
        return addMerchant(state, id, name, newKeyPair(random), ruleContext);
      });
      events.notice(`merchant ${merchant.name} was added`);
      return merchant;
    },

    async replaceKeys(reference: string): Promise<Merchant> {
      const merchant = await store.commit((state) =>
        replaceKeys(requireMerchant(state, reference), newKeyPair(random), context()),
      );
      events.notice(`the keys of ${merchant.name} were replaced`);
      return merchant;
    },
  };
}

export function walletUseCases({ store }: UseCaseDependencies) {
  return {
    /** The first wallet that can pay an amount; otherwise the first one in its currency. */
    payerOf: (amount: { amount: string; currency: string }) => payerOf(store.state, amount),

    fund: (reference: string, amount: string): Promise<Wallet> =>
      store.commit((state) => fundWallet(state, reference, amount)),
  };
}
