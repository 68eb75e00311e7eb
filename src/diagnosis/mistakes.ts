import { createHash, createHmac } from 'node:crypto';
import { isAmount } from '../contract/amount.ts';
import { FIX_BASE64 } from '../contract/describe-delivery.ts';
import { invisibleIn, withoutInvisible } from '../contract/invisible.ts';
import type { FormerKey, Merchant } from '../contract/merchant.ts';
import { DEFAULT_KEYS, EXAMPLE_KEYS } from '../contract/sample-values.ts';
import { add, renderAmount } from '../domain/money.ts';
import { encodedForm } from '../service/encoding.ts';

/*
 * The mistakes that code makes when it computes the signature of an IPN. `verify` searches all of them, in combinations,
 * for the one that explains a signature. `ipn diagnose` sends the likely ones, and the receiver says which it computes.
 */

const SIGN_AS_RECEIVED =
  'Sign the text of data.amount followed directly by identifier, both exactly as received.';
const USE_HMAC = 'Compute HMAC-SHA256 with the secret key as the key.';
const USE_UPPER_CASE = 'Write the digest as upper-case hexadecimal.';
const USE_OWN_KEY = "Sign with this merchant's secret key.";
const READ_AMOUNT = 'Read the amount from data.amount: data[amount] in a form.';

/** The fix for each mistake, the likeliest mistake first. */
export const MISTAKE_FIXES = {
  'amount-reformatted': SIGN_AS_RECEIVED,
  'operands-swapped': SIGN_AS_RECEIVED,
  'lower-case': USE_UPPER_CASE,
  'undefined-amount': READ_AMOUNT,
  'identifier-only': READ_AMOUNT,
  'amount-only': SIGN_AS_RECEIVED,
  'empty-text': `Read data.amount and identifier from the body, as a form. In a function: ${FIX_BASE64}`,
  'hmac-arguments-swapped': USE_HMAC,
  'public-key': USE_OWN_KEY,
  'key-with-whitespace': 'Trim the secret key where you read it.',
  'empty-key':
    'The secret key is empty where your handler checks the IPN: it is not set there, or your handler decodes it to nothing. It is text, used as it is.',
  'example-key': USE_OWN_KEY,
  'other-merchant-key': USE_OWN_KEY,
  'hash-without-hmac': USE_HMAC,
  'key-concatenated': USE_HMAC,
  md5: USE_HMAC,
  sha1: USE_HMAC,
  sha512: USE_HMAC,
  base64: USE_UPPER_CASE,
  'charge-included': SIGN_AS_RECEIVED,
  'currency-included': SIGN_AS_RECEIVED,
  'status-included': SIGN_AS_RECEIVED,
  'trx-instead-of-identifier': SIGN_AS_RECEIVED,
  separator: SIGN_AS_RECEIVED,
  'whole-body': SIGN_AS_RECEIVED,
  'list-values':
    'Take the first value of each field: parse_qs returns a list for each field, parse_qsl returns pairs.',
  'identifier-reformatted': SIGN_AS_RECEIVED,
  'decoded-key': 'Use the secret key as the merchant has it, as text.',
} as const;
export type SignatureMistake = keyof typeof MISTAKE_FIXES;

/** Whether this is the name of a mistake in a signature. */
export function isSignatureMistake(name: string): name is SignatureMistake {
  return Object.hasOwn(MISTAKE_FIXES, name);
}

type Keys = Pick<Merchant, 'secretKey' | 'publicKey'>;

/** The keys for checking an IPN: those of its merchant, or at least the secret key. */
export interface VerifyKeys extends Pick<Keys, 'secretKey'> {
  publicKey?: string | undefined;
  /** The merchant's replaced pairs, which may explain an unknown signature. */
  formerKeys?: readonly FormerKey[] | undefined;
  /** All merchants. Code may have signed with the keys of another one by mistake. */
  merchants?: Iterable<Keys & Pick<Merchant, 'name'>> | undefined;
  /** Replaced pairs of all merchants. `secretKey` may belong to one of them. */
  replaced?: readonly FormerKey[] | undefined;
}

/** Fields that are signed, or that code signs by mistake. */
export interface SignedFields {
  identifier: string;
  amount: string;
  /** The amount after parsing a JSON number, without trailing zeros. */
  parsedAmount?: string | undefined;
  trx: string | null;
  currency: string | null;
  charge: string | null;
  status: string | null;
  /** The IPN as received. */
  body: string;
}

/** A mistake in a signature. */
export interface Mistake {
  /** Null for one without a name. */
  name: SignatureMistake | null;
  /** What was done wrong. */
  words: string;
  /** Whether no IPN is sent for it, because their number is limited. */
  isRare?: boolean;
}

/** A value that code may compute, with the mistake in it; none for the correct value. */
type Candidate<Value> = readonly [value: Value, mistake?: Mistake | undefined];

const SWAPPED = 'identifier and amount are swapped: the amount comes first';

/** The texts that code signs, the right one first. */
export function* textsOf(fields: SignedFields): Iterable<Candidate<string>> {
  const { amount, identifier, parsedAmount, trx, currency, charge, status, body } = fields;
  const right = parsedAmount ?? amount;
  // First, so that nothing else is computed for a correct signature.
  yield [right + identifier];
  const { likely, rare } = renderings(amount);
  for (const rendered of new Set([right, amount, ...likely, ...rare])) {
    const isRare = rare.has(rendered);
    const words = rendered === right ? undefined : amountMistake(rendered, right, parsedAmount !== undefined);
    if (words !== undefined) yield [rendered + identifier, { name: 'amount-reformatted', words, isRare }];
    yield [
      identifier + rendered,
      {
        name: 'operands-swapped',
        words: words === undefined ? SWAPPED : `${SWAPPED}; ${words}`,
        isRare: words !== undefined,
      },
    ];
  }
  for (const separator of ['|', ':', '-', '.', ' ', '_', ',', '&', '\n']) {
    const words = `there is a separator ${JSON.stringify(separator)} between amount and identifier: remove it`;
    const isRare = !['|', '-'].includes(separator);
    yield [right + separator + identifier, { name: 'separator', words, isRare }];
  }
  for (const nothing of ['undefined', 'null', 'None', 'NaN', 'Array', '']) {
    const words = `the amount was read as ${nothing ? `"${nothing}"` : 'nothing'}: read the field data.amount, inside data`;
    const isRare = ['NaN', 'Array', ''].includes(nothing);
    yield [nothing + identifier, { name: 'undefined-amount', words, isRare }];
  }
  yield [
    identifier,
    { name: 'identifier-only', words: 'only the identifier was signed: the amount comes before it' },
  ];
  yield [right, { name: 'amount-only', words: 'only the amount was signed: the identifier comes after it' }];
  for (const nothing of ['', 'undefinedundefined', 'NoneNone', 'nullnull']) {
    const words = `both amount and identifier were read as ${nothing ? `"${nothing.slice(nothing.length / 2)}"` : 'nothing'}`;
    yield [nothing, { name: 'empty-text', words, isRare: nothing === 'nullnull' }];
  }
  const listed = [right, identifier].map((value) => `['${value}']`).join('');
  const asLists = 'amount and identifier were signed as lists, with brackets and quotation marks';
  yield [listed, { name: 'list-values', words: asLists }];
  const also = (name: SignatureMistake, what: string, texts: readonly string[]) =>
    texts.map((text, index): Candidate<string> => {
      const words = `${what} was also signed: sign only amount and identifier`;
      return [text, { name, words, isRare: index > 0 }];
    });
  if (charge !== null) {
    yield* also('charge-included', 'the charge', [
      right + identifier + charge,
      right + charge + identifier,
      ...(isAmount(right) && isAmount(charge) ? [add(right, charge) + identifier] : []),
    ]);
  }
  if (currency !== null) {
    yield* also('currency-included', 'the currency', [
      right + identifier + currency,
      right + currency + identifier,
      currency + right + identifier,
    ]);
  }
  if (status !== null) {
    yield* also('status-included', 'the status', [right + identifier + status, status + right + identifier]);
  }
  if (trx !== null) {
    const name = 'trx-instead-of-identifier';
    yield [right + trx, { name, words: 'the transaction id was signed instead of the identifier' }];
    const appended = 'the transaction id was also signed: sign only amount and identifier';
    yield [right + identifier + trx, { name, words: appended, isRare: true }];
  }
  const words = 'the whole body was signed: sign only amount and identifier';
  for (const [index, whole] of [...new Set([...withoutSignature(body), body])].entries())
    yield [whole, { name: 'whole-body', words, isRare: index > 2 || index === 1 }];
  const others = [identifier.toUpperCase(), identifier.toLowerCase(), identifier.replace(/\D/g, '')];
  for (const other of new Set(others)) {
    const reformatted = `the identifier was changed to ${other} before signing: sign it exactly as in the body`;
    if (other !== identifier && other !== '')
      yield [right + other, { name: 'identifier-reformatted', words: reformatted }];
  }
}

/** A body without its signature, in the forms that code may sign. */
function withoutSignature(body: string): string[] {
  if (!/^\s*[[{]/.test(body)) {
    const form = new URLSearchParams(body);
    form.delete('signature');
    const sorted = new URLSearchParams(form);
    sorted.sort();
    return [form, sorted].flatMap((one) => [
      encodedForm(one),
      decodeURIComponent(one.toString().replaceAll('+', ' ')),
    ]);
  }
  const { signature: _, ...rest } = JSON.parse(body);
  return [JSON.stringify(rest), JSON.stringify(rest).replaceAll('/', '\\/')];
}

function amountMistake(rendered: string, right: string, isNumber: boolean): string {
  if (isNumber) {
    return `data.amount is a JSON number, and parsing drops trailing zeros: ${rendered} was signed, but the parsed amount is ${right}; it must be a string`;
  }
  return `you signed ${rendered}. Sign the amount exactly as it arrived: ${right}`;
}

/** The same number in other formats. The first likely one is what PHP and JavaScript make of it. */
function renderings(amount: string): { likely: string[]; rare: ReadonlySet<string> } {
  if (!isAmount(amount)) return { likely: [], rare: new Set() };
  const trimmed = amount
    .replace(/^0+(?=\d)/, '')
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
  const [cut = ''] = trimmed.split('.');
  const fixed = (count: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8) => renderAmount(amount, `fixed:${count}`);
  const grouped = (text: string) => text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');
  const cents = fixed(2)
    .replace('.', '')
    .replace(/^0+(?=\d)/, '');
  // Python writes 100 as 100.0.
  const ofPython = trimmed === cut ? fixed(1) : trimmed;
  const likely = [trimmed, fixed(2), ofPython, fixed(8), cents, grouped(fixed(2)), cut];
  const all = ([0, 1, 2, 3, 4, 5, 6, 7, 8] as const).map(fixed);
  const rare = new Set([...all, ...all.map(grouped), ...all.map((text) => text.replace('.', ','))]);
  for (const text of likely) rare.delete(text);
  return { likely, rare };
}

export const hmac = (algorithm: string, key: string | Buffer, text: string) =>
  createHmac(algorithm, key).update(text, 'utf8').digest();
const hash = (algorithm: string, text: string) => createHash(algorithm).update(text, 'utf8').digest();

/** Concatenations, as used for a hash without HMAC. */
const CONCATENATED = [
  (text: string, key: string) => text + key,
  (text: string, key: string) => key + text,
] as const;

const SHA256_CONCATENATED: Mistake = {
  name: 'key-concatenated',
  words: 'it is the SHA-256 of the text and the secret key concatenated, not an HMAC',
};

type Formula = Candidate<(text: string, key: string) => Buffer>;

/** Wrong formulas that code uses instead of the HMAC-SHA256 of a text with the key. */
export const FORMULAS: readonly Formula[] = [
  [
    (text, key) => hmac('sha256', text, key),
    {
      name: 'hmac-arguments-swapped',
      words: 'text and key are swapped: the secret key is the key of the HMAC, the text is its message',
    },
  ],
  [
    (text) => hash('sha256', text),
    { name: 'hash-without-hmac', words: 'it is the plain SHA-256 of the text: an HMAC needs the secret key' },
  ],
  ...CONCATENATED.map(
    (join) => [(text, key) => hash('sha256', join(text, key)), SHA256_CONCATENATED] as Formula,
  ),
  [
    (text, key) => hmac('sha256', Buffer.from(key, 'base64'), text),
    {
      name: 'decoded-key',
      words: 'the secret key was decoded from base64 first: it is text, used as it is',
    },
  ],
  ...(['md5', 'sha1', 'sha512'] as const).flatMap((name) => {
    const mistake = { name, words: `it was computed with ${name.toUpperCase()}: use HMAC-SHA256` };
    const rare: Mistake = { ...mistake, isRare: true };
    const plain = [(text: string) => text, ...CONCATENATED];
    return [
      [(text, key) => hmac(name, key, text), mistake] as Formula,
      ...plain.map(
        (join, index) =>
          // Code with MD5 is old, and older than HMAC in PHP.
          [
            (text, key) => hash(name, join(text, key)),
            name === 'md5' && index === 1 ? mistake : rare,
          ] as Formula,
      ),
    ];
  }),
];

const AROUND = [
  ['a newline', '\n'],
  ['a newline', '\r\n'],
  ['a carriage return', '\r'],
  ['a byte order mark', '\uFEFF'],
  ['a space', ' '],
  ['a tab', '\t'],
  ['a quotation mark', '"'],
  ['a quotation mark', "'"],
] as const;

/** Maximum number of other merchants whose keys are tried. Each one costs a few hundred signatures. */
const MAX_OTHERS = 20;
/** Maximum number of other merchants with whose keys an IPN is sent. */
const MAX_OTHERS_SENT = 3;

/** The keys that code signs with, the right one first. */
export function* keysOf(keys: VerifyKeys): Iterable<Candidate<string>> {
  const { secretKey, publicKey, merchants = [] } = keys;
  yield [secretKey];
  const name = 'key-with-whitespace';
  const trimmed = withoutInvisible(secretKey);
  if (trimmed !== secretKey) {
    const words = `the secret key ${invisibleIn(secretKey)}: remove it`;
    yield [trimmed, { name, words }];
  }
  for (const [what, mark] of AROUND) {
    const words = `it was signed with ${what} before or after the secret key: remove it`;
    for (const [index, key] of [trimmed + mark, mark + trimmed + mark, mark + trimmed].entries()) {
      const isLikely = (['\n', '\r'].includes(mark) && index === 0) || (mark === '"' && index === 1);
      if (key !== secretKey) yield [key, { name, words, isRare: !isLikely }];
    }
  }
  const signedWith = (key: string) => `it was signed with ${key}, not with the secret key`;
  const all = [...merchants];
  const own = all.filter((merchant) => merchant.secretKey === secretKey);
  for (const key of new Set([publicKey, ...own.map((merchant) => merchant.publicKey)])) {
    if (key !== undefined) yield [key, { name: 'public-key', words: signedWith('the public key') }];
  }
  yield ['', { name: 'empty-key', words: signedWith('an empty key') }];
  for (const key of [DEFAULT_KEYS.secretKey, ...EXAMPLE_KEYS]) {
    const isRare = key !== DEFAULT_KEYS.secretKey;
    if (key !== secretKey) {
      yield [key, { name: 'example-key', words: signedWith(`the example key "${key}"`), isRare }];
    }
  }
  const others = all.filter((merchant) => merchant.secretKey !== secretKey);
  for (const [index, other] of others.slice(0, MAX_OTHERS).entries()) {
    for (const [what, key] of [
      ['secret', other.secretKey],
      ['public', other.publicKey],
    ] as const) {
      const words = signedWith(`the ${what} key of the merchant "${other.name}"`);
      const isRare = what === 'public' || index >= MAX_OTHERS_SENT;
      yield [key, { name: 'other-merchant-key', words, isRare }];
    }
  }
}

/** A signature that mistaken code computes. */
export interface MistakenSignature {
  mistake: Mistake & { name: SignatureMistake };
  signature: string;
  /** The text that it signs. */
  signed: string;
}

export const LOWER_CASE = {
  name: 'lower-case',
  words: 'it is in lower case: it must be upper-case hexadecimal',
} as const satisfies Mistake;
export const BASE64 = {
  name: 'base64',
  words: 'it is in base64: it must be upper-case hexadecimal',
} as const satisfies Mistake;

/** The signatures that code with one likely mistake computes, the likeliest first; then likely pairs of mistakes. */
export function likelySignatures(fields: SignedFields, keys: VerifyKeys): MistakenSignature[] {
  const { secretKey } = keys;
  const right = (fields.parsedAmount ?? fields.amount) + fields.identifier;
  const upper = (digest: Buffer) => lower(digest).toUpperCase();
  const lower = (digest: Buffer) => digest.toString('hex');
  const digest = hmac('sha256', secretKey, right);
  const single: MistakenSignature[] = [];
  const pairs: MistakenSignature[] = [];
  const addSignature = (mistake: Mistake | undefined, made: Buffer, signed = right) => {
    const name = mistake?.name ?? null;
    if (!mistake || name === null || mistake.isRare) return;
    const found = { mistake: { ...mistake, name }, signed };
    single.push({ ...found, signature: upper(made) });
    // Most languages write digests in lower case.
    pairs.push({ ...found, signature: lower(made) });
  };
  for (const [text, mistake] of textsOf(fields)) addSignature(mistake, hmac('sha256', secretKey, text), text);
  for (const [key, mistake] of keysOf(keys)) addSignature(mistake, hmac('sha256', key, right));
  for (const [digestOf, mistake] of FORMULAS) addSignature(mistake, digestOf(right, secretKey));
  single.push({ mistake: LOWER_CASE, signature: lower(digest), signed: right });
  single.push({ mistake: BASE64, signature: digest.toString('base64'), signed: right });
  const order = Object.keys(MISTAKE_FIXES);
  const byLikelihood = (one: MistakenSignature, other: MistakenSignature) =>
    order.indexOf(one.mistake.name) - order.indexOf(other.mistake.name);
  const seen = new Set([upper(digest)]);
  // PHP's md5() and hash() write lower case.
  const isPlainHash = ({ mistake }: MistakenSignature) => mistake.name === 'md5';
  const likely = pairs.filter(isPlainHash).slice(-1);
  const rest = pairs.filter((one) => !likely.includes(one));
  const sorted = [[...single, ...likely], rest].flatMap((some) => some.sort(byLikelihood));
  return sorted.filter(({ signature }) => {
    const isNew = !seen.has(signature);
    seen.add(signature);
    return isNew;
  });
}
