import type { Wallet } from '../contract/wallet.ts';
import { fundWallet } from '../domain/merchant.ts';
import type { UseCaseParts } from './parts.ts';

/** The use cases of wallets. */
export class Wallets {
  readonly #store: UseCaseParts['store'];

  constructor({ store }: UseCaseParts) {
    this.#store = store;
  }

  /** Adds money to a wallet. */
  fund(reference: string, amount: string): Promise<Wallet> {
    return this.#store.commit((state) => fundWallet(state, reference, amount));
  }
}
