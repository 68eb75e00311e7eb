import type { Merchant } from './merchant.ts';
import { type MisusedKey, publicKeyMisused } from './signature.ts';

/** Maximum number of other merchants whose keys are tried (chosen). Each one costs a few hundred signatures. */
const MAX_OTHERS = 20;

/** The keys to check a merchant's IPN with: its own, and keys that code may sign with by mistake. */
export function signingKeys(merchant: Merchant, all: Iterable<Merchant>, more: readonly MisusedKey[] = []) {
  const others = [...all]
    .filter(({ id }) => id !== merchant.id)
    .slice(0, MAX_OTHERS)
    .flatMap(({ name, secretKey, publicKey }): MisusedKey[] => [
      { mistake: 'other-merchant-key', called: `the secret key of the merchant "${name}"`, key: secretKey },
      { mistake: 'other-merchant-key', called: `the public key of the merchant "${name}"`, key: publicKey },
    ]);
  return {
    secretKey: merchant.secretKey,
    replacedAt: merchant.formerKeys?.[0]?.replacedAt,
    others: [publicKeyMisused(merchant.publicKey), ...more, ...others],
  };
}
