import type { Merchant } from './merchant.ts';

/** Maximum other merchants whose keys are tried (chosen): each costs some hundred signatures. */
const MAX_OTHERS = 20;

/** The keys that an IPN of a merchant is checked with: its own, and those that somebody may sign with by mistake. */
export function signingKeys(
  merchant: Merchant,
  all: Iterable<Merchant>,
  more: Iterable<[string, string]> = [],
) {
  const others = [...all]
    .filter(({ id }) => id !== merchant.id)
    .slice(0, MAX_OTHERS)
    .flatMap(({ name, secretKey, publicKey }): [string, string][] => [
      [`the secret key of the merchant "${name}"`, secretKey],
      [`the public key of the merchant "${name}"`, publicKey],
    ]);
  return {
    secretKey: merchant.secretKey,
    replacedAt: merchant.formerKeys?.[0]?.replacedAt,
    others: new Map([['the public key', merchant.publicKey], ...more, ...others]),
  };
}
