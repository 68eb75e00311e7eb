import { isAmount } from '../../contract/amount.ts';
import { renderAmount } from '../../domain/money.ts';
import type { VerifyKeys } from '../dialect.ts';
import { sign } from './ipn.ts';

/** What a signature is over. */
export interface SignedFields {
  identifier: string;
  amount: string;
  /** The amount as receivers get it from a JSON number: parsing drops what a number does not need. */
  parsedAmount?: string;
}

/** A way in which something may have been done, and what is wrong with it; null for the right one. */
interface Candidate<Value> {
  value: Value;
  mistake: string | null;
}

/** Why a signature is not the right one: empty when it is. */
export function mistakesIn(signature: string, fields: SignedFields, keys: VerifyKeys): string[] {
  let best: string[] | undefined;
  for (const text of textsOf(fields)) {
    for (const key of keysOf(keys)) {
      const digest = digestOf(text.value, key.value);
      const encoding = ENCODINGS.find(({ value }) => value(digest, signature));
      if (!encoding) continue;
      const mistakes = [text.mistake, key.mistake, encoding.mistake].filter((mistake) => mistake !== null);
      if (!mistakes.length) return [];
      if (!best || mistakes.length < best.length) best = mistakes;
    }
  }
  return (
    best ?? [
      'the signature matches neither these fields nor any of the usual mistakes: amount or identifier were changed after signing, or it was signed with another secret key',
    ]
  );
}

function textsOf({ amount, identifier, parsedAmount }: SignedFields): Candidate<string>[] {
  const right = parsedAmount ?? amount;
  const candidates: Candidate<string>[] = [];
  for (const rendered of new Set([right, amount, ...renderings(amount)])) {
    const mistake = rendered === right ? null : amountMistake(rendered, right, parsedAmount !== undefined);
    candidates.push({ value: rendered + identifier, mistake });
    const swapped = 'identifier and amount are swapped: the amount comes first';
    candidates.push({
      value: identifier + rendered,
      mistake: mistake === null ? swapped : `${swapped}; ${mistake}`,
    });
  }
  for (const separator of [' ', '|', ':', '-', '.', ',', '&', '\n']) {
    const mistake = `there is a separator ${JSON.stringify(separator)} between amount and identifier: nothing belongs there`;
    candidates.push({ value: right + separator + identifier, mistake });
  }
  return candidates;
}

function amountMistake(rendered: string, right: string, isNumber: boolean): string {
  if (isNumber) {
    return `data.amount is a JSON number, and a number loses its zeros when the body is parsed: ${rendered} was signed, ${right} is left; it must be a string`;
  }
  return `the amount was re-rendered: ${rendered} was signed, but data.amount is ${right}; sign its text exactly as it stands in the body`;
}

/** The same number, written otherwise. */
function renderings(amount: string): string[] {
  if (!isAmount(amount)) return [];
  const trimmed = amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
  const decimals = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
  const fixed = decimals.map((count) => renderAmount(amount, `fixed:${count}`));
  const grouped = fixed.map((text) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ','));
  const cents = renderAmount(amount, 'fixed:2')
    .replace('.', '')
    .replace(/^0+(?=\d)/, '');
  return [trimmed, ...fixed, ...grouped, ...fixed.map((text) => text.replace('.', ',')), cents];
}

const AROUND = [
  ['a newline', '\n'],
  ['a newline', '\r\n'],
  ['a blank', ' '],
  ['a tab', '\t'],
  ['a quotation mark', '"'],
  ['a quotation mark', "'"],
] as const;

function keysOf({ secretKey, others = new Map() }: VerifyKeys): Candidate<string>[] {
  const candidates: Candidate<string>[] = [{ value: secretKey, mistake: null }];
  const trimmed = secretKey.trim();
  if (trimmed !== secretKey) {
    candidates.push({
      value: trimmed,
      mistake: 'the secret key given here has a blank or a newline around it: take it off',
    });
  }
  for (const [what, mark] of AROUND) {
    for (const key of [trimmed + mark, mark + trimmed, mark + trimmed + mark]) {
      if (key === secretKey) continue;
      candidates.push({
        value: key,
        mistake: `it was signed with ${what} around the secret key: take it off`,
      });
    }
  }
  for (const [name, key] of others) {
    candidates.push({ value: key, mistake: `it was signed with ${name}, not with the secret key` });
  }
  return candidates;
}

const IN_BASE64 = 'the signature is base64: it must be upper-case hexadecimal';

/** Whether a signature is a digest, written in one way or another. */
const ENCODINGS: readonly Candidate<(digest: Buffer, signature: string) => boolean>[] = [
  { value: (digest, signature) => signature === encoded(digest), mistake: null },
  {
    value: (digest, signature) => signature === digest.toString('hex'),
    mistake: 'the signature is right but in lower case: it must be upper-case hexadecimal',
  },
  {
    value: (digest, signature) => signature.trim().toUpperCase() === encoded(digest),
    mistake:
      'the signature is right only when letter case and blanks around it are ignored: it must be upper-case hexadecimal and nothing else',
  },
  {
    value: (digest, signature) =>
      signature === digest.toString('base64') ||
      // What a form makes of an unescaped plus sign.
      signature.replaceAll(' ', '+') === digest.toString('base64') ||
      signature === digest.toString('base64url'),
    mistake: IN_BASE64,
  },
  {
    value: (digest, signature) =>
      [encoded(digest), digest.toString('hex')].some(
        (text) => signature.replaceAll(' ', '+') === Buffer.from(text).toString('base64'),
      ),
    mistake: `${IN_BASE64}, and not base64 of the hexadecimal text`,
  },
];

function digestOf(text: string, key: string): Buffer {
  return Buffer.from(sign(text, '', key), 'hex');
}

function encoded(digest: Buffer): string {
  return digest.toString('hex').toUpperCase();
}
