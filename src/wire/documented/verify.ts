import type { IpnTools, Verdict } from '../dialect.ts';
import { writtenAmounts } from '../written-amount.ts';
import { sign } from './signature.ts';
import { explainSignature } from './signature-mistakes.ts';

/** What of a body its validity depends on. */
interface Read extends Pick<Verdict, 'status' | 'identifier' | 'amount' | 'signature'> {
  /** The amount as receivers get it from a JSON number: parsing drops what a number does not need. */
  parsedAmount?: string;
  /** Why there are no fields. */
  problem?: string;
}

/** Checks status and signature over `data.amount` + `identifier` (documented: signature). */
export const verify: IpnTools['verify'] = (body, keys) => {
  const { problem, parsedAmount, ...fields } = readFields(body.replace(/\r?\n$/, ''));
  const { status, identifier, amount, signature } = fields;
  const missing = Object.entries({ signature, identifier, 'data.amount': amount, status })
    .filter(([, value]) => value === null)
    .map(([name]) => `${name} is missing`);
  if (identifier === null || amount === null || signature === null) {
    const reasons = problem === undefined ? missing : [problem];
    const nothing = { expected: null, signedText: null, foundText: null };
    return { ...fields, valid: false, authentic: false, reasons, ...nothing };
  }
  const signedAmount = parsedAmount ?? amount;
  const { mistakes, text } = signature.trim()
    ? explainSignature(signature, { identifier, amount, parsedAmount }, keys)
    : { mistakes: ['signature is empty: nothing was signed'], text: null };
  const reasons = [...missing, ...mistakes, ...statusProblems(status)];
  return {
    ...fields,
    valid: !reasons.length,
    authentic: !mistakes.length,
    reasons,
    expected: sign(signedAmount, identifier, keys.secretKey),
    signedText: signedAmount + identifier,
    foundText: text,
  };
};

function statusProblems(status: string | null): string[] {
  if (status === null || status === 'success') return [];
  return [
    status.toLowerCase() === 'success'
      ? `status is "${status}": success is written in lower case`
      : `status is "${status}": only success marks a payment that succeeded`,
  ];
}

const NOTHING: Read = { status: null, identifier: null, amount: null, signature: null };

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
    amount: form.get('data[amount]'),
    signature: form.get('signature'),
  };
}

function readJson(body: string): Read {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    return { ...NOTHING, problem: `the body looks like JSON but is not valid: ${(error as Error).message}` };
  }
  const amount = member(member(json, 'data'), 'amount');
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    status: text(member(json, 'status')),
    identifier: text(member(json, 'identifier')),
    amount: typeof amount === 'number' ? numberAsWritten(body, amount) : text(amount),
    signature: text(member(json, 'signature')),
    ...(typeof amount === 'number' && { parsedAmount: String(amount) }),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The text of the number behind the last `"amount":` that means this value. */
function numberAsWritten(body: string, value: number): string {
  return writtenAmounts(body).findLast((text) => Number(text) === value) ?? String(value);
}
