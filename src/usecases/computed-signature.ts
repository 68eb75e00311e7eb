import type { Merchant } from '../contract/merchant.ts';
import { publicKeyMisused } from '../contract/signature.ts';
import type { Dialect } from '../wire/dialect.ts';

/** A signature that the receiver's code made by a mistake. */
export interface ComputedSignature {
  value: string;
  /** What the mistake was. */
  reason: string;
  /** What the code signed, and the two texts that it should have; null where that is the same, or not known. */
  signed: { found: string; amount: string; identifier: string } | null;
}

/** Maximum values in an answer that are tried as signatures. */
const MAX_TRIED = 8;

/** What mistake of the receiver's code made a signature that its answer shows; undefined where none did. */
export function computedByReceiver(
  answer: string,
  sent: string,
  { publicKey, secretKey }: Partial<Pick<Merchant, 'publicKey'>> & Pick<Merchant, 'secretKey'>,
  dialect: Pick<Dialect, 'verify'>,
): ComputedSignature | undefined {
  // PHP writes a slash in JSON with a backslash before it.
  const plain = answer.replaceAll('\\/', '/');
  const values = plain.match(/\b[0-9a-f]{64}\b|(?<![\w+/-])[\w+/-]{43}(?![\w+/-])=?/gi) ?? [];
  // Lists have the verdicts of many IPNs, whose answers hold none.
  if (!values.length) return undefined;
  const genuine = dialect.verify(sent, { secretKey });
  for (const value of values.slice(0, MAX_TRIED)) {
    if (value === genuine.expected || genuine.signature === null) continue;
    const others = publicKey === undefined ? [] : [publicKeyMisused(publicKey)];
    const verdict = dialect.verify(sent, { secretKey, others }, value);
    const { foundText: found, authentic, reasons } = verdict;
    const [reason] = reasons;
    // Without a text no usual mistake explains it.
    if (authentic || reason === undefined || found === null) continue;
    const { signedText, amount, identifier } = genuine;
    const isOther = amount !== null && identifier !== null && found !== signedText;
    return { value, reason, signed: isOther ? { found, amount, identifier } : null };
  }
  return undefined;
}
