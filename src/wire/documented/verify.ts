import { SIGNATURE_MISTAKES } from '../../contract/signature.ts';
import type { IpnTools, Verification } from '../dialect.ts';
import { writtenAmounts } from '../written-amount.ts';
import { IPN_NAMES } from './names.ts';
import { sign } from './signature.ts';
import { explainSignature } from './signature-mistakes.ts';

/** The fields of a body that affect its validity. */
interface Read
  extends Pick<Verification, 'status' | 'identifier' | 'amount' | 'signature'>,
    Record<'trx' | 'currency', string | null> {
  /** The amount after parsing a JSON number, without trailing zeros. */
  parsedAmount?: string;
  /** Why the fields cannot be read. */
  problem?: string;
}

/** Checks status and signature over `data.amount` + `identifier` (documented: signature). */
export const verify: IpnTools['verify'] = (received, keys, instead) => {
  const body = received.replace(/\r?\n$/, '');
  const { problem, parsedAmount, trx, currency, ...read } = readFields(body);
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
    ? explainSignature(signature, { identifier, amount, parsedAmount, trx, currency, body }, keys)
    : { reasons: ['signature is empty: nothing was signed'], mistake: null, text: null };
  const { mistake, text } = explained;
  const reasons = [...missing, ...explained.reasons, ...statusProblems(status)];
  return {
    ...fields,
    valid: !reasons.length,
    authentic: !explained.reasons.length,
    reasons,
    mistake,
    fix: mistake && SIGNATURE_MISTAKES[mistake],
    expected: sign(signedAmount, identifier, keys.secretKey),
    signedText: signedAmount + identifier,
    foundText: text,
  };
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
};

function readFields(body: string): Read {
  if (!body.trim()) return { ...NOTHING, problem: 'the body is empty' };
  if (/^\s*[[{]/.test(body)) return readJson(body);
  const form = new URLSearchParams(body);
  if (!form.has('signature') && !form.has('status') && !form.has('identifier')) {
    return { ...NOTHING, problem: 'the body is neither the form nor the JSON of an IPN' };
  }
  return {
    status: form.get('status'),
    identifier: form.get('identifier'),
    amount: form.get(IPN_NAMES.amount),
    signature: form.get('signature'),
    trx: form.get(IPN_NAMES.trx),
    currency: form.get(IPN_NAMES.currency),
  };
}

function readJson(body: string): Read {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    return { ...NOTHING, problem: `the body looks like JSON but is not valid: ${(error as Error).message}` };
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
