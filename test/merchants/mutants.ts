import type { AuditClass } from '../../src/audit/vocabulary.ts';
import { WRONG_SIGNATURE } from '../../src/shop/witness.ts';
import { GOOD, type Handler, sign } from './node-shop.ts';

/** A good handler without one check, and the class of case that must fail. */
export interface Mutant {
  name: string;
  class: AuditClass;
  /** The case that must fail; default: any of the class. */
  case?: string;
  handler: Partial<Handler>;
}

type Check = Partial<Handler>;

const text = (form: URLSearchParams, name: string) => form.get(name) ?? '';
const signature = (form: URLSearchParams) => text(form, 'signature');
const expected = (form: URLSearchParams, secret: string) =>
  sign(text(form, 'data[amount]'), text(form, 'identifier'), secret);

const isGood = (form: URLSearchParams, secret: string) => GOOD.isSigned(form, secret, null as never);

/** Each case of the class may be the one that fails. */
const ANY = undefined;

const mutant = (name: string, kind: AuditClass, found: string | undefined, handler: Check): Mutant => ({
  name,
  class: kind,
  handler,
  ...(found !== undefined && { case: found }),
});

/** Also accepts these IPNs without a valid signature. */
const alsoTakes = (isTaken: (form: URLSearchParams) => boolean): Check => ({
  isSigned: (form, secret) => isTaken(form) || isGood(form, secret),
});

const lenient = (
  name: string,
  kind: AuditClass,
  found: string,
  isTaken: (form: URLSearchParams) => boolean,
) => mutant(name, kind, found, alsoTakes(isTaken));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A handler that accepts nothing for an order any more after ten wrong signatures. */
function lockedByForgeries(): Check {
  const forgeries = new Map<string, number>();
  return {
    isSigned: (form, secret) => {
      const identifier = text(form, 'identifier');
      const count = forgeries.get(identifier) ?? 0;
      if (isGood(form, secret)) return count < 10;
      forgeries.set(identifier, count + 1);
      return false;
    },
  };
}

const NOT_AUTHENTICATED = [
  mutant('no signature check', 'A', ANY, { isSigned: () => true }),
  mutant('any signature is accepted, but not a missing one', 'A', 'signature-garbage', {
    isSigned: (form) => signature(form) !== '',
  }),
  mutant('a missing signature is accepted', 'A', 'signature-missing', {
    isWhole: () => true,
    ...alsoTakes((form) => !form.has('signature')),
  }),
  lenient('the public key is accepted', 'A', 'signature-public-key', (form) => isFrom(form, publicKey)),
  mutant('only as many digits as were sent are compared', 'A', 'signature-beginning', {
    isSigned: (form, secret) => signature(form) !== '' && expected(form, secret).startsWith(signature(form)),
  }),
  lenient('a lower-case signature is not checked', 'A', 'signature-lower-case', (form) =>
    /^[0-9a-f]{64}$/.test(signature(form)),
  ),
  lenient('the signature of any order is accepted', 'A', 'signature-other-order', isOwnOf),
  lenient(
    'a sandbox IPN is not checked',
    'A',
    'signature-garbage-test-flag',
    (form) => text(form, 'mode') === 'sandbox',
  ),
];

let publicKey = '';
/** The public key of the emulator under test. */
export function usePublicKey(key: string): void {
  publicKey = key;
}
const isFrom = (form: URLSearchParams, key: string) => signature(form) === expected(form, key);

const FAILS_OPEN = [
  mutant('an empty signature is not checked', 'B', 'signature-empty', {
    isWhole: (form) => form.has('signature'),
    ...alsoTakes((form) => signature(form) === ''),
  }),
  lenient(
    'the signature null is not checked',
    'J',
    'signature-literal',
    (form) => signature(form) === 'null',
  ),
  mutant('an IPN without data is not checked', 'B', 'data-missing', {
    isWhole: () => true,
    ...alsoTakes((form) => !form.has('data[amount]')),
    isAmount: (order, form) => !form.has('data[amount]') || GOOD.isAmount(order, form),
  }),
];

const also = (key: string): Check => alsoTakes((form) => isFrom(form, key));

const WELL_KNOWN = [
  mutant('an empty key', 'C', 'secret-empty', also('')),
  mutant('the key of an example is accepted', 'C', 'secret-of-documentation', also('YOUR_SECRET_KEY')),
  mutant('the default key is accepted', 'C', 'secret-of-emulator', also('sec_sim_example_not_a_real_key')),
  mutant('a field of the request replaces the key', 'C', 'secret-in-request', {
    isSigned: (form, secret) => isGood(form, form.get('secret_key') ?? secret),
  }),
];

const currency = (form: URLSearchParams) => text(form, 'data[currency][code]');
const amount = (form: URLSearchParams) => text(form, 'data[amount]');

const comparing =
  (isEqual: (sent: string, total: string) => boolean): Handler['isAmount'] =>
  (order, form) =>
    isEqual(amount(form), order.total) && currency(form) === order.currency;

const AMOUNTS = [
  mutant('the amount is not checked', 'D', ANY, { isAmount: comparing(() => true) }),
  mutant('the currency is not checked', 'D', 'currency-other', {
    isAmount: (order, form) => amount(form) === order.total,
  }),
  mutant('a missing currency is accepted', 'D', 'currency-missing', {
    isWhole: (form) => form.has('signature'),
    isAmount: (order, form) => amount(form) === order.total && [order.currency, ''].includes(currency(form)),
  }),
  mutant('a second amount is compared', 'D', 'amount-doubled', {
    isAmount: (order, form) => form.get('amount') === order.total || GOOD.isAmount(order, form),
  }),
  mutant('a field of the request replaces the total', 'D', 'amount-with-total', {
    isAmount: (order, form) => GOOD.isAmount({ ...order, total: form.get('total') ?? order.total }, form),
  }),
  mutant('whole units are compared', 'D', 'amount-cut', {
    isAmount: comparing((sent, total) => Number.parseInt(sent, 10) === Number.parseInt(total, 10)),
  }),
  mutant('a lower amount is accepted', 'D', 'amount-too-low', {
    isAmount: comparing((sent, total) => Number(sent) <= Number(total)),
  }),
  mutant('an amount of zero is accepted', 'D', 'amount-zero', {
    isAmount: (order, form) => Number(amount(form)) === 0 || GOOD.isAmount(order, form),
  }),
  mutant('the sign is dropped', 'D', 'amount-negative', {
    isAmount: comparing((sent, total) => sent.replace('-', '') === total),
  }),
  mutant('amounts are read as numbers of any form', 'D', 'amount-exponent', {
    isAmount: (order, form) => /e/.test(amount(form)) || GOOD.isAmount(order, form),
  }),
  mutant('the signature does not cover the amount', 'D', 'amount-changed', {
    isSigned: (form, secret) => signature(form) === sign('49.90', text(form, 'identifier'), secret),
    isAmount: comparing(() => true),
  }),
  mutant(
    'any merchant key is accepted',
    'D',
    'key-of-other-merchant',
    also('sec_sim_of_another_merchant_0001'),
  ),
  mutant('the charge of a copy is recorded', 'D', 'charge-changed', {
    pay: (order, form) => {
      GOOD.pay(order, form);
      order.total = text(form, 'data[charge]') === '12345.67' ? '0.00' : order.total;
    },
  }),
];

const BINDINGS = [
  mutant('the query selects the order', 'E', ANY, {
    find: (shop, _, url) =>
      [...shop.orders.values()].find(({ token }) => token === url.searchParams.get('token')),
  }),
  mutant('identifiers are compared without case', 'E', 'identifier-case', {
    isToken: () => true,
    find: (shop, form) =>
      [...shop.orders.values()].find(
        (one) => one.identifier.toLowerCase() === text(form, 'identifier').toLowerCase(),
      ),
  }),
  mutant('identifiers are trimmed', 'E', 'identifier-spaces', {
    isToken: () => true,
    find: (shop, form) => shop.orders.get(text(form, 'identifier').trim()),
  }),
  mutant('an identifier matches by its end', 'E', 'identifier-prefix', {
    isToken: () => true,
    find: (shop, form) =>
      [...shop.orders.values()].find((one) => text(form, 'identifier').endsWith(one.identifier)),
  }),
  mutant('an unknown identifier pays the newest order', 'E', ANY, {
    find: (shop, form) => shop.orders.get(text(form, 'identifier')) ?? [...shop.orders.values()].at(-1),
    isToken: () => true,
  }),
  lenient('a signature is valid for every order', 'E', 'transaction-reused', isOwnOf),
];

/** Another payment's signature: neither garbage nor made with a key of the audit. */
function isOwnOf(form: URLSearchParams): boolean {
  const made = ['', 'null', 'not-the-secret-key', publicKey].some((key) => isFrom(form, key));
  return /^[0-9A-F]{64}$/.test(signature(form)) && signature(form) !== WRONG_SIGNATURE && !made;
}

const paid: Handler['onReturn'] = (order) => {
  if (order) GOOD.pay(order, new URLSearchParams());
};

const RETURNS = [mutant('the return page pays', 'F', ANY, { onReturn: paid })];

const INTERFACE = [
  mutant('the token of the order is not checked', 'G', 'sandbox-for-live', { isToken: () => true }),
  mutant('test=1 needs no token', 'G', 'sandbox-flag', {
    isToken: (order, url) => GOOD.isToken(order, url) || url.searchParams.has('test'),
    find: (shop, form, url) => {
      if (form.has('test')) url.searchParams.set('test', '1');
      return shop.orders.get(text(form, 'identifier'));
    },
  }),
  mutant('identifiers are short and there is no token', 'splice', 'splice', {
    isToken: () => true,
    initiate: (fields) => ({ ...fields, ipn_url: (fields['ipn_url'] ?? '').replace(/\?.*/, '') }),
    identifier: (count) => `order-${count}`,
  }),
];

const STATUSES = [
  mutant('the status is not checked', 'H', 'canceled-before-success', { isSuccess: () => true }),
  mutant('an unsigned error marks an order that is paid later', 'H', 'failed-forged', {
    isWhole: () => true,
    ...alsoTakes((form) => text(form, 'status') === 'error'),
    onOther: (order) => {
      order.status = 'failed';
    },
  }),
  mutant('a failure reopens a paid order', 'H', 'canceled-after-success', {
    onOther: (order) => {
      order.paid = false;
      order.status = 'failed';
    },
  }),
  mutant('an unsigned failure marks a paid order', 'H', 'forged-for-paid', {
    isWhole: () => true,
    ...alsoTakes((form) => text(form, 'status') === 'failed' && !form.has('signature')),
    onOther: (order) => {
      if (order.paid) order.charge = 'failed';
    },
  }),
  mutant('ten forgeries lock an order', 'H', 'genuine-after-forgeries', lockedByForgeries()),
  mutant('an incorrectly signed IPN fails a paid order', 'H', 'forged-for-paid', {
    isSigned: () => true,
    isAmount: (order, form) => {
      const held = isGood(form, 'sec_sim_kept_by_this_shop_alone_1');
      if (!held) order.status = 'failed';
      return held && GOOD.isAmount(order, form);
    },
  }),
];

const UNSIGNED_ORIGIN = mutant('a local sender needs no signature', 'I', 'origin-spoofed', {
  isWhole: () => true,
  isSigned: (form, secret, request) =>
    (request.headers['x-forwarded-for'] === '127.0.0.1' && !form.has('signature')) || isGood(form, secret),
});

/** Handlers that compare less when an IPN is JSON. */
const JSON_PATH = [
  mutant('the amount is not compared in JSON', 'D', 'amount-other-transport', {
    ...readsJson(),
    isAmount: (order, form) => form.has('json') || GOOD.isAmount(order, form),
  }),
  mutant('the status is not checked in JSON', 'H', 'status-other-transport', {
    ...readsJson(),
    isSuccess: (form) => form.has('json') || GOOD.isSuccess(form),
  }),
  mutant('the order of the address is paid in JSON', 'E', 'order-other-transport', {
    ...readsJson(),
    find: (shop, form, url) =>
      form.has('json')
        ? [...shop.orders.values()].find(({ token }) => token === url.searchParams.get('token'))
        : GOOD.find(shop, form, url),
  }),
];

const ORIGIN = mutant('the sender is identified by a header', 'I', ANY, {
  isSigned: (form, secret, request) =>
    request.headers['x-forwarded-for'] === '127.0.0.1' || GOOD.isSigned(form, secret, request),
});

/** The form with another identifier, if there is one. */
function identifiedBy(form: URLSearchParams, identifier: string | null | undefined): URLSearchParams {
  const other = new URLSearchParams(form);
  other.set('identifier', identifier ?? text(form, 'identifier'));
  return other;
}

const JUGGLING = [
  mutant('a list as signature is valid', 'J', 'signature-list', {
    isWhole: () => true,
    ...alsoTakes((form) => form.getAll('signature[]')[0] === WRONG_SIGNATURE),
  }),
  mutant('the last identifier is verified and the first is used', 'J', 'identifier-doubled-first', {
    isWhole: () => true,
    isSigned: (form, secret) => isGood(identifiedBy(form, form.getAll('identifier').at(-1)), secret),
  }),
  mutant('the query is verified and the body is used', 'J', 'identifier-doubled-body', {
    isWhole: () => true,
    isSigned: (form, secret, { url = '' }) =>
      isGood(identifiedBy(form, new URLSearchParams(url.split('?')[1]).get('identifier')), secret),
  }),
  ...(
    [
      ['last', (form) => form.getAll('identifier').at(-1)],
      ['array', (form) => form.get('identifier[]')],
      ['nested', (form) => form.get('data[identifier]')],
      ['query', (_, url) => url.searchParams.get('identifier')],
    ] as [string, (form: URLSearchParams, url: URL) => string | null | undefined][]
  ).map(([name, second]) =>
    mutant(`another identifier is looked up than is verified: ${name}`, 'J', `identifier-doubled-${name}`, {
      isWhole: () => true,
      find: (shop, form, url) => shop.orders.get(second(form, url) ?? text(form, 'identifier')),
    }),
  ),
  mutant('the text of a list is verified and its entry is looked up', 'J', 'identifier-as-text', {
    isWhole: () => true,
    isSigned: (form, secret) =>
      isGood(identifiedBy(form, form.has('identifier[]') ? 'Array' : undefined), secret),
    find: (shop, form) => shop.orders.get(form.get('identifier[]') ?? text(form, 'identifier')),
  }),
  mutant('true is a valid signature in JSON', 'A', 'json-signature', readsJson(true)),
  lenient('0e123 is accepted', 'J', 'signature-literal', (form) => /^0e\d+$/.test(signature(form))),
  mutant('the first amount and the last signature are read', 'J', 'fields-doubled', {
    isWhole: () => true,
    isSigned: (form, secret) => form.getAll('signature').at(-1) === expected(form, secret),
  }),
  mutant('data as text is not checked', 'A', 'data-text-signature', {
    isWhole: () => true,
    ...alsoTakes((form) => form.has('data')),
    isAmount: (order, form) => form.has('data') || GOOD.isAmount(order, form),
  }),
];

/** A handler that also reads JSON. @param juggled a signature that is not text, and is accepted; default: none */
export function readsJson(juggled: unknown = undefined): Check {
  return {
    isWhole: (form, raw) => {
      if (!raw.startsWith('{')) return GOOD.isWhole(form, raw);
      const json = JSON.parse(raw) as {
        signature: unknown;
        identifier: string;
        status: string;
        data: { amount: string; currency: { code: string } };
      };
      form.set('identifier', json.identifier);
      form.set('json', 'yes');
      form.set('status', json.status);
      form.set('data[amount]', json.data.amount);
      form.set('data[currency][code]', json.data.currency.code);
      const isJuggled = 'signature' in json && json.signature === juggled;
      form.set('signature', isJuggled ? 'juggled' : String(json.signature));
      return true;
    },
    ...alsoTakes((form) => signature(form) === 'juggled'),
  };
}

/** A query that fails if the identifier contains a character. */
const breaksOn = (character: string): Check => ({
  find: (shop, form) => {
    if (text(form, 'identifier').includes(character)) throw new Error('SQLITE_ERROR: near "OR"');
    return shop.orders.get(text(form, 'identifier'));
  },
});

const INJECTIONS = [
  mutant('markup is repeated unescaped', 'K', 'identifier-markup', {
    refuse: (response, form) =>
      response.writeHead(404, { 'Content-Type': 'text/html' }).end(`no order ${text(form, 'identifier')}`),
  }),
  mutant('a quote breaks the query', 'K', 'identifier-sql', breaksOn("'")),
  mutant('a name with a quote breaks the query', 'K', 'name-markup', {
    pay: (order, form) => {
      if (text(form, 'data[account_holder]').includes("'")) throw new Error('SQLITE_ERROR');
      GOOD.pay(order, form);
    },
  }),
  mutant('a null character breaks the query', 'K', 'identifier-newline', breaksOn('\u0000')),
];

const LEAKING = [
  mutant('a GET shows the configuration', 'L', 'handler-get', {
    get: (response, keys) => response.end(JSON.stringify(keys)),
  }),
  mutant('an error shows the expected signature', 'L', 'error-bodies', {
    refuse: (response, form, { secretKey }) =>
      response.writeHead(400).end(`expected ${expected(form, secretKey)}`),
  }),
  mutant('the ipn_url contains the secret key', 'L', 'secret-in-initiate', {
    initiate: (fields, { secretKey }) => ({ ...fields, ipn_url: `${fields['ipn_url']}&key=${secretKey}` }),
  }),
];

const FROM_CLIENT = [
  mutant('the price comes from the form', 'M', 'amount-of-initiate', {
    initiate: (fields) => ({ ...fields, amount: '1.00' }),
    isAmount: (_, form) => amount(form) === '1.00',
  }),
  mutant('the browser initiates', 'M', 'key-in-browser', {
    headers: { Origin: 'http://localhost:3000' },
  }),
  mutant('identifiers are numbers and there is no token', 'M', 'identifier-guessable', {
    isToken: () => true,
    identifier: (count) => String(10_000_000_000_000 + count),
    initiate: (fields) => ({ ...fields, ipn_url: String(fields['ipn_url']).split('?')[0] ?? '' }),
  }),
  mutant('one URL receives IPNs and customers', 'M', 'ipn-url-is-success-url', {
    initiate: (fields) => ({ ...fields, success_url: fields['ipn_url'] ?? '' }),
  }),
  mutant('the ipn_url is the logo', 'M', 'ipn-url-is-logo', {
    initiate: (fields) => ({ ...fields, site_logo: fields['ipn_url'] ?? '' }),
  }),
];

const again: Handler['pay'] = (order) => {
  order.paid = true;
  order.status = 'paid';
  order.credited++;
};

/** The invoice number grows with each order, so only the credit is an effect. */
function numbersInvoices(): Check {
  let invoices = 0;
  return {
    pay: async (order, form) => {
      const { paid } = order;
      await pause(100);
      if (paid) return;
      again(order, form);
      order.charge = String(++invoices);
    },
  };
}

const TWICE = [
  mutant('a copy pays again', 'once', 'replay-at-once', { pay: again }),
  mutant('checks, waits, and pays', 'once', 'copies-20', {
    pay: async (order, form) => {
      const { paid } = order;
      await pause(100);
      if (!paid) again(order, form);
    },
  }),
  mutant('checks, waits, pays, and numbers its invoices', 'once', 'copies-20', numbersInvoices()),
  mutant('browser and IPN both pay', 'once', 'ipn-with-return', {
    onReturn: (order, url) => {
      if (order?.paid) again(order, url.searchParams);
    },
  }),
];

const FRAGILE = [
  mutant('every status except failed and canceled is success', 'robustness', 'status-unknown', {
    isSuccess: (form) => text(form, 'status') !== 'failed' && text(form, 'status') !== 'canceled',
  }),
  mutant('a missing field crashes the handler', 'robustness', 'fields-missing', {
    isWhole: (form) => {
      if (!form.has('identifier'))
        throw new TypeError("Cannot read properties of undefined (reading 'trim')");
      return GOOD.isWhole(form, '');
    },
  }),
  mutant('an empty body crashes the handler', 'robustness', 'body-empty', {
    isWhole: (form, raw) => {
      if (raw === '') throw new TypeError('Cannot convert undefined or null to object');
      return GOOD.isWhole(form, raw);
    },
  }),
  mutant('a fatal error has status 200', 'robustness', ANY, {
    accept: (response) => response.end('Fatal error: Uncaught TypeError in /srv/shop/ipn.php:12'),
  }),
];

export const MUTANTS: readonly Mutant[] = [
  ...NOT_AUTHENTICATED,
  ...FAILS_OPEN,
  ...WELL_KNOWN,
  ...AMOUNTS,
  ...BINDINGS,
  ...RETURNS,
  ...INTERFACE,
  ...STATUSES,
  ...JSON_PATH,
  ORIGIN,
  UNSIGNED_ORIGIN,
  ...JUGGLING,
  ...INJECTIONS,
  ...LEAKING,
  ...FROM_CLIENT,
  ...TWICE,
  ...FRAGILE,
];
