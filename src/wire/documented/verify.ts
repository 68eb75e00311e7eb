import type { IpnTools, Verdict } from '../dialect.ts';
import { sign } from './ipn.ts';
import { mistakesIn } from './signature-mistakes.ts';

/** The fields of an IPN that its validity depends on. */
interface Fields extends Pick<Verdict, 'status' | 'identifier' | 'amount' | 'signature'> {
  /** The amount as receivers get it from a JSON number: parsing drops what a number does not need. */
  parsedAmount?: string;
}

/** Checks status and signature over `data.amount` + `identifier` (documented). */
export const verify: IpnTools['verify'] = (body, keys) => {
  const read = readFields(body.replace(/\r?\n$/, ''));
  if (typeof read === 'string') return rejected(NO_FIELDS, [read]);
  const { status, identifier, amount, signature } = read;
  const missing = Object.entries({ signature, identifier, 'data.amount': amount, status })
    .filter(([, value]) => value === null)
    .map(([name]) => `${name} is missing`);
  if (identifier === null || amount === null || signature === null) return rejected(read, missing);
  const parsed = read.parsedAmount ?? amount;
  const mistakes = mistakesIn(signature, { ...read, identifier, amount }, keys);
  const reasons = [...missing, ...mistakes, ...(status === null ? [] : statusProblems(status))];
  return {
    ...{ status, identifier, amount, signature },
    valid: !reasons.length,
    authentic: !mistakes.length,
    reasons,
    expected: sign(parsed, identifier, keys.secretKey),
    signedText: parsed + identifier,
  };
};

const NO_FIELDS: Fields = { status: null, identifier: null, amount: null, signature: null };

function rejected({ status, identifier, amount, signature }: Fields, reasons: readonly string[]): Verdict {
  const given = { status, identifier, amount, signature };
  return { ...given, valid: false, authentic: false, reasons, expected: null, signedText: null };
}

function statusProblems(status: string): string[] {
  if (status === 'success') return [];
  if (status.toLowerCase() === 'success') {
    return [`status is "${status}": success is written in lower case`];
  }
  return [`status is "${status}": only success marks a payment that succeeded`];
}

/** The fields in a body, or why there are none. */
function readFields(body: string): Fields | string {
  if (!body.trim()) return 'the body is empty';
  if (/^\s*[[{]/.test(body)) return readJson(body);
  const form = new URLSearchParams(body);
  if (!form.has('signature') && !form.has('status') && !form.has('identifier')) {
    return 'the body is neither the form nor the JSON of an IPN';
  }
  return {
    status: form.get('status'),
    identifier: form.get('identifier'),
    amount: form.get('data[amount]'),
    signature: form.get('signature'),
  };
}

function readJson(body: string): Fields | string {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    return `the body looks like JSON but is not valid: ${(error as Error).message}`;
  }
  const data = member(json, 'data');
  const amount = member(data, 'amount');
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  const written = typeof amount === 'number' ? numberAsWritten(body, amount) : text(amount);
  return {
    status: text(member(json, 'status')),
    identifier: text(member(json, 'identifier')),
    amount: written,
    signature: text(member(json, 'signature')),
    ...(typeof amount === 'number' && { parsedAmount: String(amount) }),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The text of the number behind the last `"amount":` that means this value. */
function numberAsWritten(body: string, value: number): string {
  const written = [...body.matchAll(/"amount"\s*:\s*(-?[\d.eE+-]+)/g)].map(([, text = '']) => text);
  return written.findLast((text) => Number(text) === value) ?? String(value);
}
