import { createHmac } from 'node:crypto';
import { writtenAmounts } from './encoding.ts';
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

/** Identifies a secret key without revealing it. No amount begins with this text, so no IPN has this signature. */
export function fingerprint(secretKey: string): string {
  return sign('fingerprint', '', secretKey);
}

/** The fields of a body that affect its validity. */
interface Read
  extends Record<
    'status' | 'identifier' | 'amount' | 'signature' | 'trx' | 'currency' | 'charge',
    string | null
  > {
  /** The amount after parsing a JSON number, without trailing zeros. */
  parsedAmount?: string;
  /** Why the fields cannot be read. */
  problem?: string;
}

/** A pasted body may end with a line end that is not a part of its last field. */
export const withoutLineEnd = (body: string) => body.replace(/\r?\n$/, '');

/**
 * Reads an IPN, and checks its signature without an explanation. `verify` computes a thousand hashes for a wrong one.
 *
 * @param secretKey default: none, so that no signature is authentic
 */
export function readIpn(received: string, secretKey?: string) {
  const { amount, parsedAmount, identifier, signature } = readFields(withoutLineEnd(received));
  const isSigned = secretKey !== undefined && amount !== null && identifier !== null;
  const expected = isSigned ? sign(parsedAmount ?? amount, identifier, secretKey) : undefined;
  return { amount, signature, authentic: signature === expected };
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
