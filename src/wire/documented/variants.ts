import { randomBytes, randomInt } from 'node:crypto';
import type { IpnRequest } from '../../domain/ipn.ts';
import type { DiagnosisTools, IpnVariant } from '../dialect.ts';
import { encodedForm, formOf } from '../encoding.ts';
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
  return { method: 'POST', contentType: FORM, body: encodedForm(form) };
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
 * An identifier that no shop has. Keeps the beginning, which shops may check, and has as many digits as possible: a number that is too short may be
 * that of another order.
 */
function unknownIdentifier(own: string): string {
  const [beginning = ''] = /^[^\d]{0,8}/.exec(own) ?? [];
  const digits = Array.from({ length: MAX_IDENTIFIER - beginning.length }, (_, at) =>
    randomInt(at ? 0 : 1, 10),
  );
  return beginning + digits.join('');
}

const aboutUnknownOrder: DiagnosisTools['aboutUnknownOrder'] = (body, secretKey) => {
  const { amount, identifier: own } = requiredFields(body);
  const identifier = unknownIdentifier(own);
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
    shapes: [...shapesOf(fields)],
    lookups: [...lookupsOf(fields, keys.secretKey), ...readingsOf(fields)],
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

/** A form of the request, and how it is written. */
interface Shape {
  name: string;
  /** What the handler reads. */
  reads: string;
  write: (body: string) => IpnRequest;
}

const JSON_TYPE = 'application/json';

const SHAPES: readonly Shape[] = [
  {
    name: 'json',
    reads: 'JSON',
    write: (body) => ({ method: 'POST', ...encodeIpn(nested(body), 'json') }),
  },
  {
    name: 'number-amount',
    reads: 'JSON with the amount as a number',
    write: (body) => ({
      method: 'POST',
      contentType: JSON_TYPE,
      body: JSON.stringify(nested(body)).replace(/("amount":)"([\d.]+)"/, '$1$2'),
    }),
  },
  {
    name: 'multipart',
    reads: 'multipart forms',
    write: (body) => {
      const parts = [...new URLSearchParams(body)].map(
        ([name, value]) =>
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const contentType = `multipart/form-data; boundary=${BOUNDARY}`;
      return { method: 'POST', contentType, body: `${parts.join('')}--${BOUNDARY}--\r\n` };
    },
  },
  {
    name: 'query',
    reads: 'the fields from the query',
    write: (body) => ({ method: 'POST', query: body, contentType: FORM, body: '' }),
  },
  {
    name: 'data-as-json-text',
    reads: 'data as JSON text',
    write: (body) => {
      const { data, ...others } = nested(body);
      const form = encodedForm(formOf({ ...others, data: JSON.stringify(data) }));
      return { method: 'POST', contentType: FORM, body: form };
    },
  },
  {
    name: 'get',
    reads: 'GET requests',
    write: (body) => ({ method: 'GET', query: body, contentType: null, body: '' }),
  },
];

function* shapesOf({ body }: Required): Iterable<IpnVariant> {
  if (isJson(body)) {
    yield {
      name: 'form',
      cause: 'Your handler reads forms. The emulator sends JSON.',
      fix: 'Start the emulator without --ipn-format json: real IPNs are forms.',
      request: { method: 'POST', ...encodeIpn(JSON.parse(body), 'form') },
      control: {
        method: 'POST',
        ...encodeIpn({ ...JSON.parse(body), signature: randomSignature() }, 'form'),
      },
    };
    return;
  }
  const forged = changed(body, { signature: randomSignature() }).body;
  for (const { name, reads, write } of SHAPES) {
    yield {
      name,
      cause: `Your handler reads ${reads}. The IPN is a URL-encoded form.`,
      fix: READ_FORM,
      request: write(body),
      control: write(forged),
    };
  }
}

function* lookupsOf({ amount, identifier: own, body }: Required, secretKey: string): Iterable<IpnVariant> {
  const known = new Set([own]);
  const about = (identifier: string) =>
    changed(body, { identifier, signature: sign(amount, identifier, secretKey) });
  const ways: Readonly<Record<string, (identifier: string) => string>> = {
    'identifier-lower-case': (text) => text.toLowerCase(),
    'identifier-upper-case': (text) => text.toUpperCase(),
    'identifier-of-16': (text) => text.slice(0, 16),
    'identifier-numeric': (text) => text.replace(/\D/g, ''),
  };
  for (const [name, change] of Object.entries(ways)) {
    const identifier = change(own);
    if (identifier === '' || known.has(identifier)) continue;
    known.add(identifier);
    yield {
      name,
      cause: `Your shop finds the order as “${identifier}”. The IPN says “${own}”.`,
      fix: 'Store the identifier exactly as you send it to initiate, and look the order up by it.',
      request: about(identifier),
      control: about(change(unknownIdentifier(own))),
    };
  }
}

/** A field that the handler reads or compares in another way, after a right signature. */
interface Reading {
  name: string;
  cause: string;
  fix: string;
  change: (form: URLSearchParams, fields: Required) => void;
}

const READINGS: readonly Reading[] = [
  {
    name: 'status-completed',
    cause: 'Your handler expects the status “completed”. The IPN says “success”.',
    fix: 'A payment succeeded if its status is exactly success.',
    change: (form) => form.set('status', 'completed'),
  },
  {
    name: 'order-by-trx',
    cause:
      'Your shop finds the order by data[payment_trx]. That is the number of the payment at the gateway.',
    fix: 'Look the order up by identifier, which you sent to initiate.',
    change: (form, { identifier }) => form.set('data[payment_trx]', identifier),
  },
  {
    name: 'currency-as-text',
    cause: 'Your handler reads the currency from data[currency]. The IPN has it in data[currency][code].',
    fix: 'Compare data[currency][code] with the currency of the order.',
    change: (form) => {
      const code = form.get('data[currency][code]') ?? '';
      form.delete('data[currency][code]');
      form.delete('data[currency][symbol]');
      form.set('data[currency]', code);
    },
  },
];

function* readingsOf(fields: Required): Iterable<IpnVariant> {
  if (isJson(fields.body)) return;
  for (const { name, cause, fix, change } of READINGS) {
    const form = new URLSearchParams(fields.body);
    change(form, fields);
    const body = encodedForm(form);
    const request: IpnRequest = { method: 'POST', contentType: FORM, body };
    yield { name, cause, fix, request, control: changed(body, { signature: randomSignature() }) };
  }
}

export const diagnosis: DiagnosisTools = {
  variants,
  aboutUnknownOrder,
  withRandomSignature,
};
