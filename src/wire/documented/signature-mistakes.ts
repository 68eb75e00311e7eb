import { isAmount } from '../../contract/amount.ts';
import { renderAmount } from '../../domain/money.ts';
import type { VerifyKeys } from '../dialect.ts';
import { fingerprint, sign } from './signature.ts';

/** What a signature is over. */
interface SignedFields {
  identifier: string;
  amount: string;
  /** The amount as receivers get it from a JSON number: parsing drops what a number does not need. */
  parsedAmount?: string | undefined;
}

/** A way in which something may have been done, and what is wrong with it unless it is the right one. */
type Candidate<Value> = readonly [value: Value, mistake?: string | undefined];

/** What a signature turns out to be. */
interface Explained {
  /** Why it is not the right one: empty when it is. */
  mistakes: string[];
  /** What it was made over; null where nothing usual explains it. */
  text: string | null;
}

/** Tells which of the usual mistakes made a signature. */
export function explainSignature(signature: string, fields: SignedFields, keys: VerifyKeys): Explained {
  let best: Explained | undefined;
  const possibleKeys = [...keysOf(keys)];
  for (const [text, textMistake] of textsOf(fields)) {
    for (const [key, keyMistake] of possibleKeys) {
      const right = sign(text, '', key);
      const encoding = ENCODINGS.find(([matches]) => matches(signature, right));
      if (!encoding) continue;
      const mistakes = [textMistake, keyMistake, encoding[1]].filter((mistake) => mistake !== undefined);
      if (!mistakes.length) return { mistakes, text };
      if (!best || mistakes.length < best.mistakes.length) best = { mistakes, text };
    }
  }
  return best ?? { mistakes: unknownSignature(keys), text: null };
}

const UNKNOWN =
  'the signature matches neither these fields nor any of the usual mistakes: amount or identifier were changed after signing, or it was signed with another secret key';

/** The signature is none that is known: perhaps because of keys that were replaced. */
function unknownSignature({ secretKey, former = [], replacedAt }: VerifyKeys): string[] {
  const shown = (at: string) => `${at.slice(0, 19).replace('T', ' ')} UTC`;
  const own = fingerprint(secretKey);
  const old = former.find((one) => one.fingerprint === own);
  if (old) {
    return [`the secret key given here was replaced at ${shown(old.replacedAt)}: it signs nothing any more`];
  }
  if (replacedAt === undefined) return [UNKNOWN];
  return [
    UNKNOWN,
    `the keys were replaced at ${shown(replacedAt)}: an IPN from before was signed with the old ones`,
  ];
}

const SWAPPED = 'identifier and amount are swapped: the amount comes first';

function* textsOf({ amount, identifier, parsedAmount }: SignedFields): Iterable<Candidate<string>> {
  const right = parsedAmount ?? amount;
  for (const rendered of new Set([right, amount, ...renderings(amount)])) {
    const mistake =
      rendered === right ? undefined : amountMistake(rendered, right, parsedAmount !== undefined);
    yield [rendered + identifier, mistake];
    yield [identifier + rendered, mistake === undefined ? SWAPPED : `${SWAPPED}; ${mistake}`];
  }
  for (const separator of [' ', '|', ':', '-', '.', ',', '&', '\n']) {
    yield [
      right + separator + identifier,
      `there is a separator ${JSON.stringify(separator)} between amount and identifier: nothing belongs there`,
    ];
  }
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

function* keysOf({ secretKey, others = new Map() }: VerifyKeys): Iterable<Candidate<string>> {
  yield [secretKey];
  const trimmed = secretKey.trim();
  if (trimmed !== secretKey) {
    yield [trimmed, 'the secret key given here has a blank or a newline around it: take it off'];
  }
  for (const [what, mark] of AROUND) {
    for (const key of [trimmed + mark, mark + trimmed, mark + trimmed + mark]) {
      if (key !== secretKey) yield [key, `it was signed with ${what} around the secret key: take it off`];
    }
  }
  for (const [name, key] of others) yield [key, `it was signed with ${name}, not with the secret key`];
}

const IN_BASE64 = 'the signature is base64: it must be upper-case hexadecimal';
/** What a form makes of an unescaped plus sign. */
const plusAgain = (text: string) => text.replaceAll(' ', '+');

/** Whether a signature is the right one, written in one way or another. */
const ENCODINGS: readonly Candidate<(signature: string, right: string) => boolean>[] = [
  [(signature, right) => signature === right],
  [
    (signature, right) => signature === right.toLowerCase(),
    'the signature is right but in lower case: it must be upper-case hexadecimal',
  ],
  [
    (signature, right) => signature.trim().toUpperCase() === right,
    'the signature is right only when letter case and blanks around it are ignored: it must be upper-case hexadecimal and nothing else',
  ],
  [
    (signature, right) =>
      plusAgain(signature) === Buffer.from(right, 'hex').toString('base64') ||
      signature === Buffer.from(right, 'hex').toString('base64url'),
    IN_BASE64,
  ],
  [
    (signature, right) =>
      [right, right.toLowerCase()].some(
        (text) => plusAgain(signature) === Buffer.from(text).toString('base64'),
      ),
    `${IN_BASE64}, and not base64 of the hexadecimal text`,
  ],
];
