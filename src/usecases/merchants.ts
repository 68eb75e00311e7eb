import type { Merchant } from '../contract/merchant.ts';
import {
  addMerchant,
  defaultMerchant,
  newKeyPair,
  replaceKeys,
  requireBySecretKey,
  requireMerchant,
} from '../domain/merchant.ts';
import { unique } from '../domain/payment.ts';
import { notice, type UseCaseParts } from './parts.ts';

/** The use cases of merchants. */
export class Merchants {
  readonly #parts: UseCaseParts;

  constructor(parts: UseCaseParts) {
    this.#parts = parts;
  }

  /** The merchant that commands mean when they name none. */
  get default(): Merchant {
    return defaultMerchant(this.#parts.store.state);
  }

  /**
   * The merchant with this id or name.
   *
   * @throws GatewayError `not_found`
   */
  require(reference: string): Merchant {
    return requireMerchant(this.#parts.store.state, reference);
  }

  /**
   * The merchant whose secret key a request carries.
   *
   * @throws GatewayError `unauthorized`
   */
  requireBySecretKey(key: string | undefined): Merchant {
    return requireBySecretKey(this.#parts.store.state, key);
  }

  /** Registers another merchant with a fresh pair of keys. */
  async add(name: string): Promise<Merchant> {
    const { store, context, random } = this.#parts;
    const merchant = await store.commit((state) => {
      const given = context();
      const id = unique(given.ids.merchant, (drawn) => state.merchants.get(drawn) === undefined);
      return addMerchant(state, id, name, newKeyPair(random), given);
    });
    notice(this.#parts, `merchant ${merchant.name} was added`);
    return merchant;
  }

  /** Gives a merchant a new pair of keys; the old one stops working at once. */
  async replaceKeys(reference: string): Promise<Merchant> {
    const { store, random } = this.#parts;
    const merchant = await store.commit((state) =>
      replaceKeys(requireMerchant(state, reference), newKeyPair(random)),
    );
    notice(this.#parts, `the keys of ${merchant.name} were replaced`);
    return merchant;
  }
}
