import { type AuditCase, type Cases, family, PAYS_ORDERS, rejects, type Target } from '../case.ts';
import { FORM, type ProbeRequest } from '../client.ts';
import { WRONG_SIGNATURE } from '../ipn.ts';

/*
 * How an IPN is sent, and how it is signed: authentication must hold on every way into a handler, so each way is tried
 * with each wrong signature. Real IPNs are forms in the body of a POST; `sender.ts` has their cases.
 */

/** A signature that does not authenticate an IPN: a text, another JSON value, or none. */
interface WrongSignature {
  about: string;
  /** Undefined: the field is missing. */
  value: unknown;
  class: 'A' | 'B' | 'J';
}

const SIGNATURES: Readonly<Record<string, WrongSignature>> = {
  missing: { about: 'without a signature', value: undefined, class: 'A' },
  wrong: { about: 'with a wrong signature', value: WRONG_SIGNATURE, class: 'A' },
  empty: { about: 'with an empty signature', value: '', class: 'B' },
  true: { about: 'with the signature true', value: true, class: 'J' },
  zero: { about: 'with the signature 0', value: 0, class: 'J' },
  null: { about: 'with the signature null', value: null, class: 'J' },
  list: { about: 'with a list as its signature', value: [], class: 'J' },
  object: { about: 'with an object as its signature', value: { value: '1' }, class: 'J' },
};

type Fields = Record<string, unknown>;

/** A way to send the fields of an IPN. */
interface Transport {
  about: string;
  send: (fields: Fields, target: Target) => ProbeRequest;
}

/** Nested fields as PHP's forms name them. */
function* pairsOf(value: unknown, name = ''): Iterable<[string, string]> {
  if (Array.isArray(value)) {
    if (!value.length) yield [`${name}[]`, ''];
    for (const one of value) yield* pairsOf(one, `${name}[]`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* pairsOf(inner, name ? `${name}[${key}]` : key);
  } else if (value !== undefined) yield [name, String(value)];
}

const formOf = (fields: Fields) => new URLSearchParams([...pairsOf(fields)]).toString();

function addressWith(url: string, query: string): string {
  return url + (url.includes('?') ? '&' : '?') + query;
}

const BOUNDARY = 'gateway-sim-audit';

function multipartOf(fields: Fields): string {
  const parts = [...pairsOf(fields)].map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

const JSON_TYPE = 'application/json';

const TRANSPORTS: Readonly<Record<string, Transport>> = {
  json: {
    about: 'as JSON',
    send: (fields, { post, ipn }) => ({
      ...post(ipn),
      contentType: JSON_TYPE,
      body: JSON.stringify(fields),
    }),
  },
  multipart: {
    about: 'as a multipart form',
    send: (fields, { post, ipn }) => ({
      ...post(ipn),
      contentType: `multipart/form-data; boundary=${BOUNDARY}`,
      body: multipartOf(fields),
    }),
  },
  'data-text': {
    about: 'as a form whose data is JSON text',
    send: ({ data, ...fields }, { post, ipn }) => ({
      ...post(ipn),
      body: formOf({ ...fields, data: JSON.stringify(data) }),
    }),
  },
  query: {
    about: 'in the query of a POST',
    send: (fields, { post, ipn }) => {
      const { url } = post(ipn);
      return { url: addressWith(url, formOf(fields)), method: 'POST', contentType: FORM, body: '' };
    },
  },
  both: {
    about: 'in the query and in the body',
    send: (fields, { post, ipn }) => {
      const { url } = post(ipn);
      return { url: addressWith(url, formOf(fields)), body: formOf(fields) };
    },
  },
  get: {
    about: 'as a GET request',
    send: (fields, { post, ipn }) => ({ url: addressWith(post(ipn).url, formOf(fields)) }),
  },
  put: {
    about: 'as a PUT request',
    send: (fields, { post, ipn }) => ({ ...post(ipn), method: 'PUT', body: formOf(fields) }),
  },
  override: {
    about: 'as a PUT request by method override',
    send: (fields, { post, ipn }) => ({
      ...post(ipn),
      headers: [['X-HTTP-Method-Override', 'PUT']],
      body: formOf({ ...fields, _method: 'PUT' }),
    }),
  },
};

const ofClass = (kind: WrongSignature['class']): AuditCase[] => {
  const cases: Cases = Object.fromEntries(
    Object.entries(TRANSPORTS).flatMap(([transport, { about: how, send }]) =>
      Object.entries(SIGNATURES)
        .filter(([, signature]) => signature.class === kind)
        .map(([name, { about, value }]) => [
          `${transport}-signature-${name}`,
          {
            about: `An IPN ${about}, ${how}.`,
            run: rejects(
              (target) => send({ ...target.shop.jsonOf(target.payment), signature: value }, target),
              undefined,
              true,
            ),
          },
        ]),
    ),
  );
  return family({ class: kind, group: 'sender', harm: PAYS_ORDERS, mistake: 'signature-not-checked' })(cases);
};

export const TRANSPORT: readonly AuditCase[] = [...ofClass('A'), ...ofClass('B'), ...ofClass('J')];
