import { createHmac } from 'node:crypto';
import type { Deviation, Exchange, RelayedIpn } from './deviating-server.ts';

type Json = Record<string, unknown>;

const isInitiate = ({ path }: Exchange) => /\/payment\/initiate$/.test(path);
const isCard = ({ path }: Exchange) => path.startsWith('/api/cards');

const isCardPath = (path: string) => /^\/api\/cards\/\w+$/.test(path);

/** Changes the JSON of answers that `when` picks. */
const json =
  (when: (seen: Exchange, body: Json) => boolean, change: (body: Json, seen: Exchange) => unknown) =>
  (seen: Exchange) => {
    if (!seen.body.startsWith('{')) return;
    const body = JSON.parse(seen.body) as Json;
    if (when(seen, body)) seen.body = JSON.stringify(change(body, seen));
  };
const success = (change: (body: Json) => unknown) =>
  json((seen, { success: value }) => isInitiate(seen) && value !== undefined, change);
const refusal = (change: (body: Json) => unknown) =>
  json((seen, { error }) => isInitiate(seen) && error !== undefined, change);
const card = (change: (data: Json) => Json) =>
  json(
    (seen, { data }) => isCard(seen) && typeof data === 'object' && !Array.isArray(data),
    ({ data, ...body }) => ({ ...body, data: change(data as Json) }),
  );

/** Changes the status of answers that `when` picks. */
const status = (when: (seen: Exchange) => boolean, other: number) => (seen: Exchange) => {
  if (when(seen)) seen.status = other;
};
/** Takes what it should refuse. */
const takes = (what: RegExp) =>
  json(
    (seen, { error }) => isInitiate(seen) && error !== undefined && what.test(seen.sent),
    () => ({ success: 'ok', message: 'Payment initiated.', url: 'http://127.0.0.1/x?payment_id=1' }),
  );

/** Changes the fields of an IPN, in their order. */
const fields = (change: (all: [string, string][]) => [string, string][]) => (ipn: RelayedIpn) => {
  ipn.body = new URLSearchParams(change([...new URLSearchParams(ipn.body)])).toString();
};
const field = (name: string, change: (value: string) => string) =>
  fields((all) => all.map(([one, value]) => [one, one === name ? change(value) : value]));
const without = (name: string) => fields((all) => all.filter(([one]) => one !== name));
const renamed = (name: string, other: string) =>
  fields((all) => all.map(([one, value]) => [one === name ? other : one, value]));

/** The deviating server knows its secret key, as any server does. */
export const SECRET = 'sec_sim_of_the_deviating_server';
const signed = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex').toUpperCase();
const resigned = (text: (amount: string, identifier: string) => string, amount = (value: string) => value) =>
  fields((all) => {
    const values = Object.fromEntries(all);
    const rendered = amount(values['data[amount]'] ?? '');
    const signature = signed(text(rendered, values['identifier'] ?? ''));
    const changed: Json = { signature, 'data[amount]': rendered };
    return all.map(([name, value]) => [name, String(changed[name] ?? value)]);
  });

const ANSWERS: readonly Deviation[] = [
  {
    name: 'success is true',
    line: 'initiate-success-is-ok',
    answer: success((body) => ({ ...body, success: true })),
  },
  {
    name: 'success is "success"',
    line: 'initiate-sandbox',
    answer: success((body) => ({ ...body, success: 'success' })),
  },
  {
    name: 'a success has error',
    line: 'initiate-success-without-error',
    answer: success((body) => ({ ...body, error: 'false' })),
  },
  {
    name: 'a success has errors',
    line: 'initiate-success-without-errors',
    answer: success((body) => ({ ...body, errors: [] })),
  },
  {
    name: 'a success has no message',
    line: 'initiate-message',
    answer: success(({ message: _, ...body }) => body),
  },
  {
    name: 'url has another name',
    line: 'initiate-url',
    answer: success(({ url, ...body }) => ({ ...body, redirect_url: url })),
  },
  {
    name: 'payment_id has another name',
    line: 'initiate-url-payment-id',
    answer: success((body) => ({ ...body, url: String(body['url']).replace('payment_id', 'id') })),
  },
  {
    name: 'the checkout is elsewhere',
    line: 'initiate-url-path',
    answer: success((body) => ({ ...body, url: String(body['url']).replace('/initiate/payment', '/pay') })),
  },
  {
    name: 'the checkout address is long',
    line: 'initiate-url-short',
    answer: success((body) => ({ ...body, url: `${body['url']}${'x'.repeat(250)}` })),
  },
  {
    name: 'a payment id can be guessed',
    line: 'initiate-id-unguessable',
    answer: success((body) => ({ ...body, url: 'http://127.0.0.1/a?payment_id=7' })),
  },
  {
    name: 'a success is 201',
    line: 'initiate-success-status',
    answer: status((seen) => isInitiate(seen) && seen.body.includes('"success"'), 201),
  },
  {
    name: 'answers say that they are HTML',
    line: 'initiate-answer-json',
    answer: (seen) => {
      if (isInitiate(seen)) seen.headers['content-type'] = 'text/html';
    },
  },
  {
    name: 'CORS is closed',
    line: 'initiate-cors',
    answer: (seen) => void delete seen.headers['access-control-allow-origin'],
  },
  {
    name: 'no answer of the service is marked',
    line: 'initiate-emulator-header',
    // By the mark of the control API it proves to be an emulator.
    answer: (seen) => {
      if (isInitiate(seen)) delete seen.headers['x-gateway-sim'];
    },
  },
  {
    name: 'JSON is not read',
    line: 'initiate-json',
    answer: json(
      (seen) => isInitiate(seen) && seen.sent.startsWith('{'),
      () => ({ error: 'true', message: 'identifier is required' }),
    ),
  },
  {
    name: 'unknown fields are refused',
    line: 'initiate-unknown-fields',
    answer: json(
      (seen) => seen.sent.includes('customer_phone'),
      () => ({ error: 'true', message: 'customer_phone is unknown' }),
    ),
  },
  {
    name: 'an identifier is taken once only',
    line: 'initiate-identifier-constant',
    answer: json(
      (seen) => seen.sent.includes('DFU80XZIKS'),
      () => ({ error: 'true', message: 'identifier was used' }),
    ),
  },
  {
    name: 'a refusal is 422',
    line: 'refusal-field-status',
    answer: status((seen) => isInitiate(seen) && seen.body.includes('is required'), 422),
  },
  {
    name: 'a wrong key is 401',
    line: 'refusal-key-status',
    answer: status((seen) => isInitiate(seen) && seen.body.includes('api key'), 401),
  },
  { name: 'error is true', line: 'refusal-is-text', answer: refusal((body) => ({ ...body, error: true })) },
  {
    name: 'error is "yes"',
    line: 'refusal-field-message',
    answer: refusal((body) => ({ ...body, error: 'yes' })),
  },
  {
    name: 'a refusal has no message',
    line: 'refusal-field-message-live',
    answer: refusal(({ message: _, ...body }) => body),
  },
  {
    name: 'a refusal has no errors',
    line: 'refusal-key-listed',
    answer: refusal(({ errors: _, ...body }) => body),
  },
  {
    name: 'a refusal has success',
    line: 'refusal-without-success',
    answer: refusal((body) => ({ ...body, success: 'false' })),
  },
  {
    name: 'a refusal names no field',
    line: 'field-all-at-once',
    answer: refusal(() => ({ error: 'true', message: 'Something is wrong', errors: [] })),
  },
  {
    name: 'another text for a wrong key',
    line: 'refusal-key',
    answer: refusal((body) => ({ ...body, message: 'Unknown merchant' })),
  },
  {
    name: 'only the first problem is told',
    line: 'field-all-at-once',
    answer: refusal((body) => ({ ...body, errors: [body['message']] })),
  },
  {
    name: 'an over-long identifier is taken',
    line: 'field-identifier-too-long',
    answer: takes(/identifier=x{21}&/),
  },
  { name: 'an empty name is taken', line: 'field-customer-name-empty', answer: takes(/customer_name=&/) },
  { name: 'nothing is an amount', line: 'amount-zero', answer: takes(/amount=0&/) },
  { name: 'a currency is taken in lower case', line: 'currency-upper-case', answer: takes(/currency=usd&/) },
  { name: 'any currency is taken', line: 'currency-unknown', answer: takes(/currency=ZZZ&/) },
  {
    name: 'a GET on initiate is not found',
    line: 'route-initiate-get',
    answer: status(({ status: was }) => was === 405, 404),
  },
  {
    name: 'an unknown path is found',
    line: 'route-unknown',
    answer: status(({ path }) => path.includes('initate'), 200),
  },
  {
    name: 'the checkout is no page',
    line: 'checkout-page',
    answer: (seen) => {
      if (seen.path.includes('checkout')) seen.headers['content-type'] = 'text/plain';
    },
  },
  {
    name: 'an unknown payment has a checkout',
    line: 'checkout-unknown',
    answer: status(({ path }) => path.includes('pay_none'), 200),
  },
  {
    name: 'success_url gets a parameter',
    line: 'checkout-success-nothing-added',
    answer: (seen) => {
      if (seen.headers['location']?.startsWith('https://shop')) seen.headers['location'] += '?paid=1';
    },
  },
  {
    name: 'cancel leads to success_url',
    line: 'checkout-cancel-redirect',
    answer: (seen) => {
      seen.headers['location'] = (seen.headers['location'] ?? '').replace('canceled', 'paid');
    },
  },
  {
    name: 'a second visit is 200',
    line: 'checkout-again-page',
    answer: status(({ status: was, path }) => was === 409 && path.includes('checkout'), 200),
  },
];

const IPNS: readonly Deviation[] = [
  {
    name: 'the IPN comes after the redirect',
    line: 'ipn-before-redirect',
    ipn: (ipn) => {
      ipn.afterMs = 3_300;
    },
  },
  {
    name: 'the signature is in lower case',
    line: 'signature-upper-case',
    ipn: field('signature', (value) => value.toLowerCase()),
  },
  { name: 'the signature is cut', line: 'signature', ipn: field('signature', (value) => value.slice(0, 32)) },
  {
    name: 'the identifier is signed first',
    line: 'signature',
    ipn: resigned((amount, identifier) => identifier + amount),
  },
  {
    name: 'something stands between amount and identifier',
    line: 'signature-identifier-digits',
    ipn: resigned((amount, identifier) => `${amount}|${identifier}`),
  },
  {
    name: 'the amount is written anew',
    line: 'signature-amount-25-5',
    ipn: field('data[amount]', (value) => Number(value).toFixed(2)),
  },
  {
    name: 'the amount is written anew, and signed',
    line: 'signature-amount-25-5',
    ipn: resigned(
      (amount, identifier) => amount + identifier,
      (value) => Number(value).toFixed(2),
    ),
  },
  { name: 'status is completed', line: 'ipn-status', ipn: field('status', () => 'completed') },
  {
    name: 'the identifier is cut',
    line: 'ipn-identifier',
    ipn: field('identifier', (value) => value.slice(0, 8)),
  },
  {
    name: 'the form says that it is JSON',
    line: 'ipn-form',
    ipn: (ipn) => {
      ipn.headers['content-type'] = 'application/json';
    },
  },
  {
    name: 'names are flat',
    line: 'ipn-nested-names',
    ipn: fields((all) => all.map(([name, value]) => [name.replace(/^data\[(\w+)\]$/, '$1'), value])),
  },
  { name: 'there is no transaction id', line: 'ipn-trx', ipn: without('data[payment_trx]') },
  {
    name: 'the transaction id is in lower case',
    line: 'ipn-trx-form',
    ipn: field('data[payment_trx]', (value) => value.toLowerCase().replace(/^./, 'a')),
  },
  { name: 'charge is called charges', line: 'ipn-charge', ipn: renamed('data[charge]', 'data[charges]') },
  { name: 'the currency has no code', line: 'ipn-currency', ipn: without('data[currency][code]') },
  {
    name: 'the currency has another symbol',
    line: 'ipn-symbol-eur',
    ipn: field('data[currency][symbol]', () => '¤'),
  },
  {
    name: 'there is a transaction_id',
    line: 'ipn-no-transaction-id',
    ipn: fields((all) => [...all, ['transaction_id', '1']]),
  },
  { name: 'the holder is missing', line: 'ipn-holder', ipn: field('data[account_holder]', () => '') },
  { name: 'the type is another', line: 'ipn-type', ipn: field('data[payment_type]', () => 'card') },
  {
    name: 'the time is ISO 8601',
    line: 'ipn-timestamp',
    ipn: field('data[payment_timestamp]', (value) => `${value.replace(' ', 'T')}Z`),
  },
  { name: 'the fields come in another order', line: 'ipn-order', ipn: fields((all) => all.toReversed()) },
  {
    name: 'the secret is sent along',
    line: 'ipn-no-secret',
    ipn: fields((all) => [...all, ['secret_key', SECRET]]),
  },
  {
    name: 'the query of ipn_url is lost',
    line: 'ipn-query',
    ipn: (ipn) => {
      ipn.query = '';
    },
  },
  {
    name: 'the IPN is sent twice',
    line: 'ipn-once',
    ipn: (ipn) => {
      ipn.copies = 2;
    },
  },
  {
    name: 'the IPN is never sent',
    line: 'ipn-posted',
    ipn: (ipn) => {
      ipn.copies = 0;
    },
  },
  {
    name: 'the IPN is put',
    line: 'ipn-posted',
    ipn: (ipn) => {
      ipn.method = 'PUT';
    },
  },
  {
    name: 'a retry is another IPN',
    line: 'ipn-retried',
    ipn: field('data[payment_trx]', () => Math.random().toString(36).slice(2, 14).toUpperCase()),
  },
  {
    name: 'the sender is unknown',
    line: 'ipn-user-agent',
    ipn: (ipn) => void delete ipn.headers['user-agent'],
  },
];

const CARDS: readonly Deviation[] = [
  {
    name: 'a missing key is 403',
    line: 'card-auth-status',
    answer: status(({ status: was, path, body }) => was === 401 && path === '/api/cards' && body !== '', 403),
  },
  {
    name: 'money is text',
    line: 'card-record-amount',
    answer: card((data) => ({ ...data, amount: String(data['amount']) })),
  },
  {
    name: 'the masked number is not masked',
    line: 'card-record-masked-card-number',
    answer: card((data) => ({ ...data, masked_card_number: data['card_number'] })),
  },
  {
    name: 'times have milliseconds',
    line: 'card-record-created-at',
    answer: card((data) => ({ ...data, created_at: String(data['created_at']).replace('000Z', 'Z') })),
  },
  {
    name: 'a new card is inactive',
    line: 'card-record-active',
    answer: card((data) => ({ ...data, status: 'inactive' })),
  },
  {
    name: 'the year is a number',
    line: 'card-record-expiry-year',
    answer: card((data) => ({ ...data, expiry_year: Number(data['expiry_year']) })),
  },
  {
    name: 'the month is text',
    line: 'card-record-expiry-month',
    answer: card((data) => ({ ...data, expiry_month: String(data['expiry_month']) })),
  },
  { name: 'there is no cvc', line: 'card-record-cvc', answer: card(({ cvc: _, ...data }) => data) },
  {
    name: 'charges are not taken',
    line: 'card-record-balance',
    answer: card((data) => ({ ...data, available_balance: data['amount'] })),
  },
  {
    name: 'refused cards are 200',
    line: 'card-error-shape',
    answer: status((seen) => isCard(seen) && seen.status === 422, 200),
  },
  {
    name: 'an unknown card is 400',
    line: 'card-read-unknown',
    answer: status((seen) => isCard(seen) && seen.status === 404, 400),
  },
  {
    name: 'a canceled card can be canceled',
    line: 'card-cancel-again',
    answer: status((seen) => isCard(seen) && seen.status === 409, 200),
  },
  {
    name: 'canceled has two l',
    line: 'card-cancel',
    answer: card((data) => ({ ...data, status: String(data['status']).replace('canceled', 'cancelled') })),
  },
  {
    name: 'pages are shorter',
    line: 'card-list-paging',
    answer: json(isCard, (body) => ({ ...body, per_page: 10 })),
  },
  {
    name: 'the oldest card comes first',
    line: 'card-list-newest-first',
    answer: json(
      (seen, { data }) => isCard(seen) && Array.isArray(data),
      (body) => ({ ...body, data: (body['data'] as unknown[]).toReversed() }),
    ),
  },
  {
    name: 'every page is the first',
    line: 'card-list-page-two',
    answer: json(
      (seen) => seen.path === '/api/cards?page=2',
      (body) => ({ ...body, current_page: 1 }),
    ),
  },
  {
    name: 'cards of others are there',
    line: 'card-read-of-another',
    answer: status(
      ({ method, path, status: was }) => method === 'GET' && isCardPath(path) && was === 404,
      200,
    ),
  },
  {
    name: 'cards of others are listed',
    line: 'card-list-of-another',
    answer: json(
      (_, { total }) => total === 0,
      (body) => ({ ...body, data: [{}], total: 1 }),
    ),
  },
  {
    name: 'the last digit of a number is any',
    line: 'card-record-luhn',
    answer: card((data) => {
      const number = String(data['card_number']);
      return { ...data, card_number: number.slice(0, -1) + ((Number(number.at(-1)) + 1) % 10) };
    }),
  },
  {
    name: 'the first four digits are shown',
    line: 'card-record-masked-digits',
    answer: card((data) => {
      const first = String(data['card_number']).slice(0, 4);
      return { ...data, masked_card_number: `${'*'.repeat(12)}${first}` };
    }),
  },
  {
    name: 'transactions are left out',
    line: 'card-read',
    answer: card(({ transactions: _, ...data }) => data),
  },
  {
    name: 'a payment has the type +',
    line: 'card-transaction-type',
    answer: (seen) => {
      seen.body = seen.body.replaceAll('"type":"-"', '"type":"+"');
    },
  },
  {
    name: 'a wrong method is not found',
    line: 'card-route-save-get',
    answer: status((seen) => isCard(seen) && seen.status === 405, 404),
  },
];

/** Each does one thing otherwise than our server. */
export const DEVIATIONS: readonly Deviation[] = [...ANSWERS, ...IPNS, ...CARDS];
