import { moment } from '../contract/time.ts';
import { fingerprint, readFields, sign, withoutLineEnd } from '../service/signature.ts';
import {
  BASE64,
  FORMULAS,
  hmac,
  keysOf,
  LOWER_CASE,
  MISTAKE_FIXES,
  type Mistake,
  type SignatureMistake,
  type SignedFields,
  textsOf,
  type VerifyKeys,
} from './mistakes.ts';

/** The result of checking an IPN. */
export interface Verification
  extends Record<'status' | 'identifier' | 'amount' | 'signature', string | null> {
  /** Whether the IPN is authentic and the payment succeeded. */
  valid: boolean;
  /** Whether the signature is correct, whatever the status. */
  authentic: boolean;
  /** Every reason why it is not valid, one sentence each; empty if it is valid. */
  reasons: readonly string[];
  /** The common mistake that explains the signature; null if it is correct or unexplained. */
  mistake: SignatureMistake | null;
  /** The fix for the mistake; null if none. */
  fix: string | null;
  /** The correct signature of `signedText`; null if a field is missing. */
  expected: string | null;
  signedText: string | null;
  /** The text that was actually signed; null if no common mistake explains it. */
  foundText: string | null;
}

/**
 * Checks an IPN like a careful receiver: status, and signature over `data.amount` + `identifier` (documented: signature).
 * For a wrong signature, finds the common mistake that explains it, if any.
 *
 * @param received the raw text of the body, form or JSON
 * @param instead a signature that is checked instead of the one in the body
 */
export function verify(received: string, keys: VerifyKeys, instead?: string): Verification {
  const body = withoutLineEnd(received);
  const { problem, parsedAmount, trx, currency, charge, ...read } = readFields(body);
  const fields = instead === undefined ? read : { ...read, signature: instead };
  const { status, identifier, amount, signature } = fields;
  const missing = Object.entries({ signature, identifier, 'data.amount': amount, status })
    .filter(([, value]) => value === null)
    .map(([name]) => `${name} is missing`);
  if (identifier === null || amount === null || signature === null) {
    const reasons = problem === undefined ? missing : [problem];
    const nothing = { expected: null, signedText: null, foundText: null, mistake: null, fix: null };
    return { ...fields, valid: false, authentic: false, reasons, ...nothing };
  }
  const signedAmount = parsedAmount ?? amount;
  const explained = signature.trim()
    ? explainSignature(
        signature,
        { identifier, amount, parsedAmount, trx, currency, charge, status, body },
        keys,
      )
    : { reasons: ['signature is empty: nothing was signed'], mistake: null, text: null };
  const { mistake, text } = explained;
  const reasons = [...missing, ...explained.reasons, ...statusProblems(status)];
  return {
    ...fields,
    valid: !reasons.length,
    authentic: !explained.reasons.length,
    reasons,
    mistake,
    fix: mistake && MISTAKE_FIXES[mistake],
    expected: sign(signedAmount, identifier, keys.secretKey),
    signedText: signedAmount + identifier,
    foundText: text,
  };
}

/** The explanation of a signature. */
interface Explained {
  /** Why it is wrong; empty if it is correct. */
  reasons: string[];
  /** The first mistake; null if it is correct or unexplained. */
  mistake: SignatureMistake | null;
  /** The signed text; null if no common mistake explains it. */
  text: string | null;
}

/** Finds the common mistakes that explain a signature. */
function explainSignature(signature: string, fields: SignedFields, keys: VerifyKeys): Explained {
  const digests = decode(signature);
  if (!digests.size) return { reasons: unknownSignature(keys), mistake: null, text: null };
  let best: { mistakes: Mistake[]; text: string } | undefined;
  const possibleKeys = [...keysOf(keys)];
  const ways = function* (): Iterable<[text: string, digest: Buffer, ...Mistake[]]> {
    for (const [text, textMistake] of textsOf(fields)) {
      for (const [key, keyMistake] of possibleKeys) {
        yield [text, hmac('sha256', key, text), ...defined(textMistake, keyMistake)];
      }
      // Combinations of all kinds of mistakes would be too many.
      if (textMistake && textMistake.name !== 'operands-swapped') continue;
      for (const [digestOf, mistake] of FORMULAS) {
        yield [text, digestOf(text, keys.secretKey), ...defined(textMistake, mistake)];
      }
    }
  };
  for (const [text, digest, ...mistakes] of ways()) {
    const hex = digest.toString('hex');
    if (!digests.has(hex)) continue;
    const all = [...mistakes, ...defined(digests.get(hex))];
    if (!all.length) return { reasons: [], mistake: null, text };
    if (!best || all.length < best.mistakes.length) best = { mistakes: all, text };
  }
  // What is known about the keys says more than that one of them is an example.
  const isKnownKey = keys.formerKeys?.length || keys.replaced?.length;
  if (!best || (best.mistakes[0]?.name === 'example-key' && isKnownKey))
    return { reasons: unknownSignature(keys), mistake: null, text: null };
  const { mistakes, text } = best;
  return { reasons: mistakes.map(({ words }) => words), mistake: mistakes[0]?.name ?? null, text };
}

const defined = (...mistakes: (Mistake | undefined)[]) => mistakes.filter((mistake) => mistake !== undefined);

const UNKNOWN =
  'the signature matches neither these fields nor any common mistake: amount or identifier was changed after signing, or it was signed with another secret key';

/** Describes an unknown signature. The cause may be replaced keys. */
function unknownSignature({ secretKey, replaced = [], formerKeys = [] }: VerifyKeys): string[] {
  const own = fingerprint(secretKey);
  const old = replaced.find((one) => one.fingerprint === own);
  if (old) {
    return [`the secret key given here was replaced at ${moment(old.replacedAt)} UTC: it is no longer used`];
  }
  const [former] = formerKeys;
  if (!former) return [UNKNOWN];
  return [
    UNKNOWN,
    `the keys were replaced at ${moment(former.replacedAt)} UTC: earlier IPNs were signed with the old keys`,
  ];
}

const IS_HEX = /^(?:[0-9A-F]+|[0-9a-f]+)$/;
/** The longest known encoding, base64 of the hexadecimal text of a SHA-512, has 172 characters. */
const MAX_SIGNATURE_CHARACTERS = 256;

/** The digests that a signature may encode, in lower-case hexadecimal, each with the mistake in its encoding. */
function decode(signature: string): ReadonlyMap<string, Mistake | undefined> {
  const digests = new Map<string, Mistake | undefined>();
  if (signature.length > MAX_SIGNATURE_CHARACTERS) return digests;
  const add = (hex: string, mistake?: Mistake) => {
    const digest = hex.toLowerCase();
    if (!digests.has(digest)) digests.set(digest, mistake);
  };
  if (IS_HEX.test(signature)) {
    const isUpper = signature === signature.toUpperCase();
    add(signature, isUpper ? undefined : LOWER_CASE);
  }
  const trimmed = signature.trim();
  const isCorrectInside = IS_HEX.test(trimmed) && trimmed === trimmed.toUpperCase();
  add(
    trimmed,
    isCorrectInside
      ? { name: null, words: 'the signature is correct, but there is white space around it: remove it' }
      : {
          name: 'lower-case',
          words:
            'the signature is correct only if letter case and white space around it are ignored: it must be upper-case hexadecimal',
        },
  );
  // A form turns an unescaped plus sign into a space.
  for (const [text, encoding] of [
    [signature.replaceAll(' ', '+'), 'base64'],
    [signature, 'base64url'],
  ] as const) {
    const bytes = Buffer.from(text, encoding);
    if (bytes.toString(encoding) !== text) continue;
    add(bytes.toString('hex'), BASE64);
    const inner = bytes.toString('latin1');
    if (IS_HEX.test(inner))
      add(inner, { name: 'base64', words: `${BASE64.words}, and not base64 of the hexadecimal text` });
  }
  return digests;
}

function statusProblems(status: string | null): string[] {
  if (status === null || status === 'success') return [];
  return [
    status.toLowerCase() === 'success'
      ? `status is "${status}": success must be in lower case`
      : `status is "${status}": only success means that the payment succeeded`,
  ];
}
