import { createHmac } from 'node:crypto';
import { moment } from '../../contract/time.ts';
import type { IpnComposer } from '../../domain/ipn.ts';
import type { Code, IpnTools, Verification, VerifyKeys } from '../dialect.ts';
import { writtenAmounts } from '../encoding.ts';
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
} from './mistakes.ts';
import { IPN_NAMES } from './names.ts';

/**
 * The signature of an IPN (documented: signature, signature-upper-case, signature-live): upper-case hexadecimal HMAC-SHA256 over the text of the amount followed
 * directly by the identifier, keyed with the merchant's secret key.
 *
 * @param amount the text of `data.amount`, exactly as sent
 */
export function sign(amount: string, identifier: string, secretKey: string): string {
  return createHmac('sha256', secretKey)
    .update(amount + identifier, 'utf8')
    .digest('hex')
    .toUpperCase();
}

/** No amount begins with this text, so no IPN has this signature. */
export const fingerprint: IpnComposer['fingerprint'] = (secretKey) => sign('fingerprint', '', secretKey);

/** @param php how PHP reads amount and identifier @param python how Python reads them */
const linesWith = (php: string, python: string, before = ''): Code => ({
  PHP: `${before}$expected = strtoupper(hash_hmac('sha256', ${php}, $secretKey));`,
  Node: "const expected = createHmac('sha256', secretKey).update(body.data.amount + body.identifier).digest('hex').toUpperCase();",
  Python: `expected = hmac.new(secret_key.encode(), (${python}).encode(), 'sha256').hexdigest().upper()`,
});

const OF_FORM: Code = linesWith(
  "$_POST['data']['amount'] . $_POST['identifier']",
  "form['data[amount]'] + form['identifier']",
);

const OF_JSON: Code = linesWith(
  "$body['data']['amount'] . $body['identifier']",
  "body['data']['amount'] + body['identifier']",
  "$body = json_decode(file_get_contents('php://input'), true); ",
);

/** In PHP, `$_POST` has the fields of a form, but not of JSON. */
export const signatureCode: IpnTools['signatureCode'] = (body = '') =>
  body.trimStart().startsWith('{') ? OF_JSON : OF_FORM;

export const signatureCheck: IpnTools['signatureCheck'] = (body = '') => {
  const { PHP, Node, Python } = signatureCode(body);
  const isJson = body.trimStart().startsWith('{');
  return {
    PHP: `${PHP}\nif (!hash_equals($expected, (string) (${isJson ? '$body' : '$_POST'}['signature'] ?? ''))) { http_response_code(400); exit; }`,
    Node: `${Node}\nconst [one, other] = [String(body.signature), expected].map((text) => Buffer.from(text));\nif (one.length !== other.length || !timingSafeEqual(one, other)) return res.writeHead(400).end();`,
    Python: `${Python}\nif not hmac.compare_digest(expected.encode(), str(${isJson ? 'body' : 'form'}.get('signature')).encode()): return 'wrong signature', 400`,
  };
};

/** The explanation of a signature. */
interface Explained {
  /** Why it is wrong; empty if it is correct. */
  reasons: string[];
  /** The first mistake; null if it is correct or unexplained. */
  mistake: SignatureMistake | null;
  /** The signed text; null if no common mistake explains it. */
  text: string | null;
  /** The key that it is correct with, if that is not the one to check with. */
  otherKey?: string;
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
  const isKnownKey = keys.formerKeys?.length || keys.replaced?.length || keys.signers?.length;
  if (!best || (best.mistakes[0]?.name === 'example-key' && isKnownKey)) {
    const text = (fields.parsedAmount ?? fields.amount) + fields.identifier;
    const isSigner = (one: Signer) => digests.has(hmac('sha256', one.secretKey, text).toString('hex'));
    const signer = replacementOf(keys) ? undefined : keys.signers?.find(isSigner);
    if (!signer) return { reasons: unknownSignature(keys), mistake: null, text: null };
    return { reasons: [notOwnKey(keys, signer)], mistake: null, text, otherKey: signer.secretKey };
  }
  const { mistakes, text } = best;
  return { reasons: mistakes.map(({ words }) => words), mistake: mistakes[0]?.name ?? null, text };
}

const defined = (...mistakes: (Mistake | undefined)[]) => mistakes.filter((mistake) => mistake !== undefined);

/** The reason for an IPN that is signed with the key of a merchant, and not with the key to check with. */
function notOwnKey({ secretKey: given, signers = [] }: VerifyKeys, signer: Signer): string {
  const owner = signers.find((one) => [one.secretKey, one.publicKey].includes(given));
  const kind = owner?.publicKey === given ? 'public' : 'secret';
  const whose = owner ? `, and this is the ${kind} key of "${owner.name}"` : '';
  return `this is not the key of this merchant: the IPN is signed with the secret key of "${signer.name}"${whose}`;
}

type Signer = NonNullable<VerifyKeys['signers']>[number];

const UNKNOWN =
  'the signature matches neither these fields nor any common mistake: amount or identifier was changed after signing, or it was signed with another secret key';

/** The replacement of the key to check with; undefined if it was not replaced. */
function replacementOf({ secretKey, replaced = [] }: VerifyKeys) {
  const own = fingerprint(secretKey);
  return replaced.find((one) => one.fingerprint === own);
}

/** Describes an unknown signature. The cause may be replaced keys. */
function unknownSignature(keys: VerifyKeys): string[] {
  const shown = (at: string) => `${moment(at)} UTC`;
  const old = replacementOf(keys);
  if (old) {
    return [`the secret key given here was replaced at ${shown(old.replacedAt)}: it is no longer used`];
  }
  const replacedAt = keys.formerKeys?.[0]?.replacedAt;
  if (replacedAt === undefined) return [UNKNOWN];
  return [
    UNKNOWN,
    `the keys were replaced at ${shown(replacedAt)}: earlier IPNs were signed with the old keys`,
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

/** The fields of a body that affect its validity. */
interface Read
  extends Pick<Verification, 'status' | 'identifier' | 'amount' | 'signature'>,
    Record<'trx' | 'currency' | 'charge', string | null> {
  /** The amount after parsing a JSON number, without trailing zeros. */
  parsedAmount?: string;
  /** Why the fields cannot be read. */
  problem?: string;
}

/** A pasted body may end with a line end that is not a part of its last field. */
const withoutLineEnd = (body: string) => body.replace(/\r?\n$/, '');

/** Checks status and signature over `data.amount` + `identifier` (documented: signature). */
export const verify: IpnTools['verify'] = (received, keys, instead) => {
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
    expected: sign(signedAmount, identifier, explained.otherKey ?? keys.secretKey),
    signedText: signedAmount + identifier,
    foundText: text,
  };
};

export const readIpn: IpnTools['readIpn'] = (received, secretKey) => {
  const { amount, parsedAmount, identifier, signature } = readFields(withoutLineEnd(received));
  const isSigned = secretKey !== undefined && amount !== null && identifier !== null;
  const expected = isSigned ? sign(parsedAmount ?? amount, identifier, secretKey) : undefined;
  return { amount, signature, authentic: signature === expected };
};

function statusProblems(status: string | null): string[] {
  if (status === null || status === 'success') return [];
  return [
    status.toLowerCase() === 'success'
      ? `status is "${status}": success must be in lower case`
      : `status is "${status}": only success means that the payment succeeded`,
  ];
}

const NOTHING: Read = {
  status: null,
  identifier: null,
  amount: null,
  signature: null,
  trx: null,
  currency: null,
  charge: null,
};

/** How to get what was received, in the commonest frameworks. */
const RAW_BODY =
  ": paste the raw body, such as file_get_contents('php://input') in PHP, express.text({ type: '*/*' }) in Node or request.get_data() in Python";

/** The relevant fields of a form or of JSON. Those that it does not have are null. */
export function readFields(body: string): Read {
  if (!body.trim()) return { ...NOTHING, problem: 'the body is empty' };
  if (/^\s*[[{]/.test(body)) return readJson(body);
  const form = new URLSearchParams(body);
  if (!form.has('signature') && !form.has('status') && !form.has('identifier')) {
    return { ...NOTHING, problem: `the body is neither the form nor the JSON of an IPN${RAW_BODY}` };
  }
  return {
    status: form.get('status'),
    identifier: form.get('identifier'),
    amount: form.get(IPN_NAMES.amount),
    signature: form.get('signature'),
    trx: form.get(IPN_NAMES.trx),
    currency: form.get(IPN_NAMES.currency),
    charge: form.get(IPN_NAMES.charge),
  };
}

function readJson(body: string): Read {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    return {
      ...NOTHING,
      problem: `the body looks like JSON but is not valid: ${(error as Error).message}${RAW_BODY}`,
    };
  }
  const data = member(json, 'data');
  const amount = member(data, 'amount');
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    status: text(member(json, 'status')),
    identifier: text(member(json, 'identifier')),
    amount: typeof amount === 'number' ? numberAsWritten(body, amount) : text(amount),
    signature: text(member(json, 'signature')),
    trx: text(member(data, 'payment_trx')),
    currency: text(member(member(data, 'currency'), 'code')),
    charge: text(member(data, 'charge')),
    ...(typeof amount === 'number' && { parsedAmount: String(amount) }),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The source text of the last `"amount":` with this value. */
function numberAsWritten(body: string, value: number): string {
  return writtenAmounts(body).findLast((text) => Number(text) === value) ?? String(value);
}

export const isSignatureMistake: IpnTools['isSignatureMistake'] = (name) =>
  Object.hasOwn(MISTAKE_FIXES, name);
