import { randomBytes, randomInt } from 'node:crypto';
import type { IpnRequest } from '../../domain/ipn.ts';
import type { DiagnosisTools, IpnVariant } from '../dialect.ts';
import { formOf } from '../encoding.ts';
import { dotted, encodeIpn, type Fields, override } from './ipn.ts';
import { likelySignatures, MISTAKE_FIXES, type MistakenSignature } from './mistakes.ts';
import { MAX_IDENTIFIER } from './names.ts';
import { readFields, sign } from './signature.ts';

/*
 * The same IPN as it would be if the receiver's code were right. The receiver accepts the one that has its own mistake.
 */

const FORM = 'application/x-www-form-urlencoded';

/** @throws Error for a body that is not an IPN */
function requiredFields(body: string) {
  const { identifier, amount, ...others } = readFields(body);
  if (identifier === null || amount === null) throw new Error('not an IPN');
  return { ...others, identifier, amount, body };
}

const isJson = (body: string) => body.startsWith('{');

/** Changes values at the top of an IPN. */
function changed(body: string, values: Readonly<Record<string, string>>): IpnRequest {
  if (isJson(body)) return { method: 'POST', ...encodeIpn({ ...JSON.parse(body), ...values }, 'json') };
  const form = new URLSearchParams(body);
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return { method: 'POST', contentType: FORM, body: form.toString() };
}

/** The nested fields of a form. Lists, which no IPN of the service has, are left out. */
function nested(form: string): Fields {
  let fields: Fields = {};
  for (const [name, value] of new URLSearchParams(form)) {
    if (!name.endsWith('[]')) fields = override(fields, dotted(name), value);
  }
  return fields;
}

/** A signature that nobody can compute. */
const randomSignature = () => randomBytes(32).toString('hex').toUpperCase();

const withRandomSignature: DiagnosisTools['withRandomSignature'] = (body) =>
  changed(body, { signature: randomSignature() });

/**
 * Keeps the beginning, which shops may check, and has as many digits as possible: a number that is too short may be
 * that of another order.
 */
const aboutUnknownOrder: DiagnosisTools['aboutUnknownOrder'] = (body, secretKey) => {
  const { amount, identifier: own } = requiredFields(body);
  const [beginning = ''] = /^[^\d]{0,8}/.exec(own) ?? [];
  const digits = Array.from({ length: MAX_IDENTIFIER - beginning.length }, (_, at) =>
    randomInt(at ? 0 : 1, 10),
  );
  const identifier = beginning + digits.join('');
  return {
    identifier,
    signed: changed(body, { identifier, signature: sign(amount, identifier, secretKey) }),
    unsigned: changed(body, { identifier, signature: randomSignature() }),
  };
};

const variants: DiagnosisTools['variants'] = (body, keys) => {
  const fields = requiredFields(body);
  return {
    signatures: likelySignatures(fields, keys).map((one) => ofSignature(one, fields)),
    shapes: [...shapesOf(fields, keys.secretKey)],
    lookups: [...lookupsOf(fields, keys.secretKey)],
  };
};

type Required = ReturnType<typeof requiredFields>;

/** Longer texts are cut in messages. */
const MAX_SHOWN = 80;

function ofSignature({ mistake, signature, signed }: MistakenSignature, fields: Required): IpnVariant {
  const { amount, identifier, body } = fields;
  const right = amount + identifier;
  const { name, words } = mistake;
  const shown = signed.length > MAX_SHOWN ? `${signed.slice(0, MAX_SHOWN)}…` : signed;
  let cause = `Your code computes another signature: ${words}.`;
  if (signed !== right) cause = `Your code signs “${shown}”. It must sign “${right}”.`;
  if (name === 'amount-reformatted')
    cause = `Your code signs ${signed.slice(0, -identifier.length)}. The IPN says ${amount}.`;
  return { name, cause, fix: MISTAKE_FIXES[name], request: changed(body, { signature }) };
}

const READ_FORM = 'Read the body as a form, as the gateway sends it: application/x-www-form-urlencoded.';
const BOUNDARY = '----gateway-sim-diagnosis';

function* shapesOf({ body, ...read }: Required, secretKey: string): Iterable<IpnVariant> {
  if (isJson(body)) {
    yield {
      name: 'form',
      cause: 'Your handler reads forms. The emulator sends JSON.',
      fix: 'Start the emulator without --ipn-format json: real IPNs are forms.',
      request: { method: 'POST', ...encodeIpn(JSON.parse(body), 'form') },
    };
    return;
  }
  const fields = nested(body);
  const shape = (name: string, reads: string, request: Partial<IpnRequest>): IpnVariant => ({
    name,
    cause: `Your handler reads ${reads}. The IPN is a URL-encoded form.`,
    fix: READ_FORM,
    request: { method: 'POST', contentType: null, body: '', ...request },
  });
  yield shape('json', 'JSON', encodeIpn(fields, 'json'));
  const { data, ...others } = fields;
  const withNumber = JSON.stringify(fields).replace(/("amount":)"([\d.]+)"/, '$1$2');
  for (const amount of new Set([read.amount, String(Number(read.amount))])) {
    const signature = sign(amount, read.identifier, secretKey);
    yield shape('number-amount', 'JSON with the amount as a number', {
      contentType: 'application/json',
      body: withNumber.replace(/("signature":")[^"]*/, `$1${signature}`),
    });
  }
  const parts = [...formOf(fields)].map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  yield shape('multipart', 'multipart forms', {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    body: `${parts.join('')}--${BOUNDARY}--\r\n`,
  });
  yield shape('query', 'the fields from the query', { query: body, contentType: FORM });
  yield shape('data-as-json-text', 'data as JSON text', {
    contentType: FORM,
    body: formOf({ ...others, data: JSON.stringify(data) }).toString(),
  });
  yield shape('get', 'GET requests', { method: 'GET', query: body });
}

function* lookupsOf({ amount, identifier: own, body }: Required, secretKey: string): Iterable<IpnVariant> {
  const known = new Set([own]);
  const others = {
    'identifier-lower-case': own.toLowerCase(),
    'identifier-of-20': own.slice(0, 20),
    'identifier-of-16': own.slice(0, 16),
    'identifier-numeric': own.replace(/\D/g, ''),
  };
  for (const [name, identifier] of Object.entries(others)) {
    if (identifier === '' || known.has(identifier)) continue;
    known.add(identifier);
    yield {
      name,
      cause: `Your shop finds the order as “${identifier}”. The IPN says “${own}”.`,
      fix: 'Store the identifier exactly as you send it to initiate, and look the order up by it.',
      request: changed(body, { identifier, signature: sign(amount, identifier, secretKey) }),
    };
  }
}

export const diagnosis: DiagnosisTools = {
  variants,
  aboutUnknownOrder,
  withRandomSignature,
};
