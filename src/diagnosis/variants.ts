import { randomBytes, randomInt } from 'node:crypto';
import { isAmount } from '../contract/amount.ts';
import { FIX_BASE64, FIX_FORM, FIX_NESTED } from '../contract/describe-delivery.ts';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import { INITIATE_FIELDS } from '../contract/request-fields.ts';
import type { IpnRequest } from '../domain/ipn.ts';
import { encodedForm, formOf } from '../service/encoding.ts';
import { encodeIpn, type Fields, override, toDottedName } from '../service/ipn.ts';
import { readFields, sign } from '../service/signature.ts';
import { likelySignatures, MISTAKE_FIXES, type MistakenSignature, type VerifyKeys } from './mistakes.ts';

export interface IpnVariants {
  /** Signed as code with a common mistake signs them, the likeliest mistake first. */
  signatures: IpnVariant[];
  /** The right IPN in other forms. */
  shapes: IpnVariant[];
  /** Rightly signed, with other values: as a shop may have stored them, or as its code expects them. */
  readings: IpnVariant[];
  /** The right IPN with something more, which a receiver without the mistake ignores. */
  additions: IpnVariant[];
  /** The right IPN with all additions. */
  together: IpnRequest;
}

/** The same IPN as a receiver with one mistake expects it. */
export interface IpnVariant {
  name: string;
  /** The name of the mistake in the signature, or of the form of the request; null if the mistake is another. */
  mistake: string | null;
  /** What the receiver does wrong if it accepts the request, in whole sentences. */
  cause: string;
  fix: string;
  request: IpnRequest;
  /** The same request with a random signature, or for an order that no shop has: a receiver that accepts it proves nothing. */
  control?: IpnRequest;
}

/*
 * The same IPN as it would be if the receiver's code were right. The receiver accepts the one that has its own mistake.
 */

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
  return { method: 'POST', contentType: FORM_TYPE, body: encodedForm(form) };
}

/** The nested fields of a form. Lists, which no IPN of the service has, are left out. */
function nested(form: string): Fields {
  let fields: Fields = {};
  for (const [name, value] of new URLSearchParams(form)) {
    if (!name.endsWith('[]')) fields = override(fields, toDottedName(name), value);
  }
  return fields;
}

/** A signature that nobody can compute. */
const randomSignature = () => randomBytes(32).toString('hex').toUpperCase();

export const withRandomSignature = (body: string): IpnRequest =>
  changed(body, { signature: randomSignature() });

/**
 * An identifier that no shop has. Keeps the beginning, which shops may check, and has as many digits as possible: a number that is too short may be
 * that of another order.
 */
function unknownIdentifier(own: string): string {
  const [beginning = ''] = /^[^\d]{0,8}/.exec(own) ?? [];
  const digits = Array.from({ length: INITIATE_FIELDS.identifier.max - beginning.length }, (_, at) =>
    randomInt(at ? 0 : 1, 10),
  );
  return beginning + digits.join('');
}

/** The IPN of an order that no shop has: with the right signature, and with a random one. */
export function aboutUnknownOrder(
  body: string,
  secretKey: string,
): { identifier: string } & Record<'signed' | 'unsigned', IpnRequest> {
  const { amount, identifier: own } = requiredFields(body);
  const identifier = unknownIdentifier(own);
  return {
    identifier,
    signed: changed(body, { identifier, signature: sign(amount, identifier, secretKey) }),
    unsigned: changed(body, { identifier, signature: randomSignature() }),
  };
}

/** The requests that show the mistake of a receiver. */
export function variantsOf(body: string, keys: VerifyKeys): IpnVariants {
  const fields = requiredFields(body);
  const isForm = !isJson(body);
  const [asText, ...inCents] = isForm ? amountsOf(fields, keys.secretKey) : [];
  const additions = isForm ? ADDITIONS : [];
  const written = (some: readonly Addition[]) => ({
    request: withAdditions(some, fields, sign(fields.amount, fields.identifier, keys.secretKey)),
    control: withAdditions(some, fields, randomSignature()),
  });
  return {
    signatures: likelySignatures(fields, keys).map((one) => ofSignature(one, fields)),
    shapes: [...shapesOf(fields)],
    readings: [
      ...lookupsOf(fields, keys.secretKey),
      ...(asText ? [asText] : []),
      ...(isForm ? readingsOf(fields) : []),
      ...inCents,
    ],
    additions: additions.map((one) => {
      const { name, cause, fix, isInQuery } = one;
      return { name, mistake: isInQuery ? name : null, cause, fix, ...written([one]) };
    }),
    together: written(additions).request,
  };
}

type Required = ReturnType<typeof requiredFields>;

/** Longer texts are cut in messages. */
const MAX_SHOWN = 80;

function ofSignature({ mistake, signature, signed }: MistakenSignature, fields: Required): IpnVariant {
  const { amount, identifier, body } = fields;
  const right = amount + identifier;
  const { name, words } = mistake;
  const shown = signed.length > MAX_SHOWN ? `${signed.slice(0, MAX_SHOWN)}…` : signed;
  let cause = `Your handler computes a different signature. ${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  if (signed !== right) cause = `Your handler signs “${shown}”. It must sign “${right}”.`;
  if (name === 'amount-reformatted')
    cause = `Your handler signs ${signed.slice(0, -identifier.length)}. The IPN says ${amount}.`;
  return {
    name,
    mistake: name,
    cause,
    fix: MISTAKE_FIXES[name],
    request: changed(body, { signature }),
  };
}

const BOUNDARY = '----gateway-sim-diagnosis';

/** A form of the request, and how it is written. */
interface Shape {
  name: string;
  /** How the handler accepts the IPN. */
  as: string;
  /** Default: to read a form. */
  fix?: string;
  write: (body: string) => IpnRequest;
}

const SHAPES: readonly Shape[] = [
  {
    name: 'json',
    as: 'JSON: nested fields, such as data.amount, are read',
    fix: `${FIX_NESTED} If your handler expects JSON, read the body as a form.`,
    write: (body) => ({ method: 'POST', ...encodeIpn(nested(body), 'json') }),
  },
  {
    name: 'number-amount',
    as: 'JSON with the amount as a number',
    write: (body) => ({
      method: 'POST',
      contentType: JSON_TYPE,
      body: JSON.stringify(nested(body)).replace(/("amount":)"([\d.]+)"/, '$1$2'),
    }),
  },
  {
    name: 'multipart',
    as: 'a multipart form',
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
    name: 'data-as-json-text',
    as: 'a form whose field data is JSON text',
    write: (body) => {
      const { data, ...others } = nested(body);
      const form = encodedForm(formOf({ ...others, data: JSON.stringify(data) }));
      return { method: 'POST', contentType: FORM_TYPE, body: form };
    },
  },
  {
    name: 'get',
    as: 'a GET request with the fields in its query',
    fix: 'Route POST requests of ipn_url to your handler, and read their body as a form.',
    write: (body) => ({ method: 'GET', query: body, contentType: null, body: '' }),
  },
  {
    name: 'base64-body',
    as: 'the same form with the type text/plain',
    fix: `A platform of functions, such as AWS Lambda, hands over other types than text in base64. ${FIX_BASE64}`,
    write: (body) => ({ method: 'POST', contentType: 'text/plain', body }),
  },
  {
    name: 'not-decoded',
    as: 'a form whose names and values are not encoded',
    fix: 'Decode names and values of the body: data%5Bamount%5D is data[amount]. Use a form parser.',
    write: (body) => ({
      method: 'POST',
      contentType: FORM_TYPE,
      body: [...new URLSearchParams(body)].map((pair) => pair.join('=')).join('&'),
    }),
  },
];

function* shapesOf({ body }: Required): Iterable<IpnVariant> {
  if (isJson(body)) {
    yield {
      name: 'form',
      mistake: 'form',
      cause: 'Your handler accepts the IPN as a form, and not as JSON, as this emulator sends it.',
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
  for (const { name, as, fix = FIX_FORM, write } of SHAPES) {
    yield {
      name,
      mistake: name,
      cause: `Your handler accepts the IPN as ${as}. It does not accept it as the gateway sends it: a URL-encoded form, by POST.`,
      fix,
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
    'identifier-numeric': (text) => text.replace(/\D/g, ''),
  };
  for (const [name, change] of Object.entries(ways)) {
    const identifier = change(own);
    if (identifier === '' || known.has(identifier)) continue;
    known.add(identifier);
    yield {
      name,
      mistake: null,
      cause: `Your shop finds the order as “${identifier}”. The IPN says “${own}”.`,
      fix: 'Store the identifier exactly as you send it to initiate, and look the order up by it.',
      request: about(identifier),
      control: about(change(unknownIdentifier(own))),
    };
  }
}

/** The amount as a shop may have stored it, for code that compares it with a text or with cents. */
function* amountsOf({ amount, identifier, body }: Required, secretKey: string): Iterable<IpnVariant> {
  if (!isAmount(amount)) return;
  const asText = [String(Number(amount)), Number(amount).toFixed(2)].find((one) => one !== amount);
  const cents = String(Math.round(Number(amount) * 100));
  for (const [name, other] of Object.entries({ 'amount-as-text': asText, 'amount-in-cents': cents })) {
    if (other === undefined) continue;
    const request = (signature: string) => changed(body, { 'data[amount]': other, signature });
    yield {
      name,
      mistake: null,
      cause: `Your handler compares the amount with “${other}”. The IPN says ${amount}.`,
      fix: 'Compare amounts as decimal numbers, in the same unit: the gateway returns the amount exactly as your initiate request wrote it.',
      request: request(sign(other, identifier, secretKey)),
      control: request(randomSignature()),
    };
  }
}

/** A field that the handler reads or compares in another way, after a right signature. */
interface Reading {
  name: string;
  cause: string;
  fix: string;
  change: (form: URLSearchParams) => void;
  /** A change that only a handler without this mistake accepts. Default: a random signature. */
  control?: (form: URLSearchParams) => void;
}

/** Code that expects another status. Code that acknowledges every status, and pays at success only, accepts a made-up one, too. */
const expects = (status: string): Reading => ({
  name: `status-${status}`,
  cause: `Your handler expects the status “${status}”. The IPN says “success”.`,
  fix: 'A payment succeeded if its status is exactly success.',
  change: (form) => form.set('status', status),
  control: (form) => form.set('status', 'no-such-status'),
});

const READINGS: readonly Reading[] = [
  expects('completed'),
  {
    name: 'order-by-trx',
    cause:
      'Your shop finds the order by data[payment_trx]. That is the number of the payment at the gateway.',
    fix: 'Look the order up by identifier, the value that you chose when you initiated the payment.',
    change: (form) => form.set('data[payment_trx]', form.get('identifier') ?? ''),
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
  ...['Completed', 'SUCCESS', 'Success', 'paid', 'approved'].map(expects),
];

function* readingsOf({ body: genuine }: Required): Iterable<IpnVariant> {
  const written = (change: Reading['change']): IpnRequest => {
    const form = new URLSearchParams(genuine);
    change(form);
    return { method: 'POST', contentType: FORM_TYPE, body: encodedForm(form) };
  };
  for (const { name, cause, fix, change, control } of READINGS) {
    const request = written(change);
    const { body } = request;
    yield {
      name,
      mistake: null,
      cause,
      fix,
      request,
      control: control ? written(control) : changed(body, { signature: randomSignature() }),
    };
  }
}

/**
 * Something that code may look for in an IPN, and that code without this mistake ignores. All are sent together first.
 */
interface Addition {
  name: string;
  cause: string;
  fix: string;
  fields?: (fields: Required, signature: string) => Readonly<Record<string, string>>;
  headers?: (signature: string) => [name: string, value: string][];
  isInQuery?: true;
}

/** A field that code reads under another name. */
function elsewhere(
  what: 'identifier' | 'amount' | 'currency' | 'status' | 'signature',
  where: string,
  names: readonly string[],
): Addition {
  const [example] = names;
  return {
    name: `${what}-elsewhere`,
    cause: `Your handler does not read the ${what} from ${where}, but from another field, such as ${example}.`,
    fix: `Read the ${what} from ${where}.`,
    fields: (fields, signature) =>
      Object.fromEntries(names.map((name) => [name, { ...fields, signature }[what] ?? ''])),
  };
}

const ADDITIONS: readonly Addition[] = [
  {
    name: 'query',
    cause: 'Your handler reads the fields from the query. The IPN has them in its body.',
    fix: FIX_FORM,
    isInQuery: true,
  },
  {
    name: 'signature-header',
    cause: 'Your handler reads the signature from a header. The IPN has it in the field signature.',
    fix: 'Read the signature from the field signature of the body.',
    headers: (signature) =>
      ['Signature', 'X-Signature', 'X-Webhook-Signature', 'X-IPN-Signature', 'X-Hub-Signature-256'].map(
        (name) => [name, signature],
      ),
  },
  {
    name: 'charge-in-total',
    cause: 'Your handler accepts the IPN only if data[charge] is 0.00: it uses the charge, too.',
    fix: 'Use data[amount] alone: it is the total of the order. The charge is between the gateway and the merchant.',
    fields: () => ({ 'data[charge]': '0.00' }),
  },
  {
    name: 'too-old',
    cause: 'Your handler accepts the IPN only if data[payment_timestamp] is later: it finds the IPN too old.',
    fix: 'It is the time of initiation, in UTC. Read it as UTC, or better, do not reject an IPN for its age: the signature proves it.',
    fields: () => ({ 'data[payment_timestamp]': '2099-12-31 23:59:59' }),
  },
  elsewhere('identifier', 'identifier', [
    ...['order_id', 'orderId', 'order', 'id', 'reference', 'invoice', 'invoice_id', 'custom'],
    ...['data[identifier]', 'data[order_id]', 'data[reference]'],
  ]),
  elsewhere('amount', 'data[amount]', ['amount', 'total']),
  elsewhere('currency', 'data[currency][code]', ['currency', 'currency_code', 'data[currency_code]']),
  elsewhere('status', 'status', ['payment_status', 'state', 'data[status]', 'data[payment_status]']),
  elsewhere('signature', 'signature', ['sign', 'sig', 'hash', 'hmac', 'checksum', 'data[signature]']),
];

function withAdditions(additions: readonly Addition[], required: Required, signature: string): IpnRequest {
  const fields = additions.map((one) => one.fields?.(required, signature));
  const { body } = changed(required.body, Object.assign({ signature }, ...fields));
  const headers = additions.flatMap((one) => one.headers?.(signature) ?? []);
  const isInQuery = additions.some((one) => one.isInQuery);
  const { body: query } = changed(required.body, { signature });
  return { method: 'POST', contentType: FORM_TYPE, body, headers, ...(isInQuery && { query }) };
}
