import type { Wallet } from '../contract/wallet.ts';
import { fundWallet, payerOf } from '../domain/merchant.ts';
import type { UseCaseParts } from './parts.ts';

/** The use cases of wallets. */
export class Wallets {
  readonly #store: UseCaseParts['store'];

  constructor({ store }: UseCaseParts) {
    this.#store = store;
  }

  /** The first wallet that could pay an amount; else the first of its currency, which could not. */
  payerOf(amount: { amount: string; currency: string }): { wallet: Wallet; canPay: boolean } | undefined {
    return payerOf(this.#store.state, amount);
  }

  /** Adds money to a wallet. */
  fund(reference: string, amount: string): Promise<Wallet> {
    return this.#store.commit((state) => fundWallet(state, reference, amount));
  }
}
