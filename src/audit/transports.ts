import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import type { ExchangeRequest } from '../delivery/exchange.ts';
import type { Target } from './case.ts';
import { type Fields, withQuery } from './ipn.ts';

/** A way to send the fields of an IPN. */
export interface Transport {
  about: string;
  send: (fields: Fields, target: Target) => ExchangeRequest;
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

const BOUNDARY = 'gateway-sim-audit';

function multipartOf(fields: Fields): string {
  const parts = [...pairsOf(fields)].map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

/** As real IPNs come. */
export const AS_FORM: Transport = {
  about: 'as a form',
  send: (fields, { post, ipn }) => ({ ...post(ipn), body: formOf(fields) }),
};

/** Other ways into a handler. */
export const OTHER_TRANSPORTS: Readonly<Record<string, Transport>> = {
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
      return { url: withQuery(url, ...pairsOf(fields)), method: 'POST', contentType: FORM_TYPE, body: '' };
    },
  },
  both: {
    about: 'in the query and in the body',
    send: (fields, { post, ipn }) => {
      const { url } = post(ipn);
      return { url: withQuery(url, ...pairsOf(fields)), body: formOf(fields) };
    },
  },
  get: {
    about: 'as a GET request',
    send: (fields, { post, ipn }) => ({ url: withQuery(post(ipn).url, ...pairsOf(fields)) }),
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

/** JSON text of an IPN, with the post of the order that is attacked. */
export const asJson = (text: string, { post, ipn }: Target): ExchangeRequest => ({
  ...post(ipn),
  contentType: JSON_TYPE,
  body: text,
});
