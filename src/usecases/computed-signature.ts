import type { Merchant } from '../contract/merchant.ts';
import { publicKeyMisused } from '../contract/signature.ts';
import type { Dialect } from '../wire/dialect.ts';

/** A wrong signature that the receiver computed. */
export interface ComputedSignature {
  value: string;
  /** The mistake, in words. */
  reason: string;
  /**
   * The text that the code signed, and the two values that it should have signed; null if the text is correct or
   * unknown.
   */
  signed: { found: string; amount: string; identifier: string } | null;
}

/** Maximum number of values in a response that are checked as signatures. Each check computes a thousand hashes. */
const MAX_TRIED = 3;

/** The mistake that explains a signature in the receiver's response; undefined if none does. */
export function computedByReceiver(
  answer: string,
  sent: string,
  { publicKey, secretKey }: Partial<Pick<Merchant, 'publicKey'>> & Pick<Merchant, 'secretKey'>,
  dialect: Pick<Dialect, 'verify'>,
): ComputedSignature | undefined {
  // PHP escapes a slash in JSON with a backslash.
  const plain = answer.replaceAll('\\/', '/');
  const values = plain.match(/\b[0-9a-f]{64}\b|(?<![\w+/-])[\w+/-]{43}(?![\w+/-])=?/gi) ?? [];
  // Lists show the verdicts of many IPNs whose responses have no signature.
  if (!values.length) return undefined;
  const genuine = dialect.verify(sent, { secretKey });
  const others = publicKey === undefined ? [] : [publicKeyMisused(publicKey)];
  const wrong = new Set(values.filter((value) => value !== genuine.expected && value !== genuine.signature));
  if (genuine.signature === null) return undefined;
  for (const value of [...wrong].slice(0, MAX_TRIED)) {
    const verdict = dialect.verify(sent, { secretKey, others }, value);
    const { foundText: found, authentic, reasons } = verdict;
    const [reason] = reasons;
    // If the signed text is unknown, no known mistake explains the signature.
    if (authentic || reason === undefined || found === null) continue;
    const { signedText, amount, identifier } = genuine;
    const isOther = amount !== null && identifier !== null && found !== signedText;
    return { value, reason, signed: isOther ? { found, amount, identifier } : null };
  }
  return undefined;
}
