import { WRONG_SIGNATURE } from '../../src/audit/ipn.ts';
import type { AuditClass } from '../../src/contract/audit.ts';
import { GOOD, type Handler, sign } from './node-shop.ts';

/** A good handler with one check removed, and the class of case that must convict it. */
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

const mutant = (name: string, kind: AuditClass, handler: Check, found?: string): Mutant => ({
  name,
  class: kind,
  handler,
  ...(found !== undefined && { case: found }),
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const NOT_AUTHENTICATED = [
  mutant('no signature check', 'A', { isSigned: () => true }),
  mutant(
    'signature only has to be there',
    'A',
    { isSigned: (form) => signature(form) !== '' },
    'signature-garbage',
  ),
  mutant('signature only has to look like one', 'A', {
    isSigned: (form) => /^[0-9A-F]{64}$/.test(signature(form)),
  }),
  mutant(
    'no signature needed',
    'A',
    {
      isWhole: () => true,
      isSigned: (form, secret) => !form.has('signature') || GOOD.isSigned(form, secret, null as never),
    },
    'signature-missing',
  ),
  mutant(
    'signed with the public key',
    'A',
    {
      isSigned: (form, secret) =>
        signature(form) === expected(form, secret) || (signature(form) !== '' && publicKeySigned(form)),
    },
    'signature-public-key',
  ),
  mutant('only the length of the signature is compared', 'A', {
    isSigned: (form) => signature(form).length === 64,
  }),
  mutant(
    'lower case is taken for a test',
    'A',
    {
      isSigned: (form, secret) =>
        /^[0-9a-f]{64}$/.test(signature(form)) || GOOD.isSigned(form, secret, null as never),
    },
    'signature-lower-case',
  ),
  mutant(
    'base64 is not checked',
    'A',
    {
      isSigned: (form, secret) => signature(form).endsWith('=') || GOOD.isSigned(form, secret, null as never),
    },
    'signature-base64',
  ),
  mutant('any signature that was ever seen', 'A', seenSignatures(), 'signature-other-order'),
  mutant(
    'a test is believed',
    'A',
    {
      isSigned: (form, secret) =>
        text(form, 'mode') === 'sandbox' || GOOD.isSigned(form, secret, null as never),
    },
    'signature-garbage-test-flag',
  ),
];

let publicKey = '';
/** The public key of the emulator under test. */
export function usePublicKey(key: string): void {
  publicKey = key;
}
function publicKeySigned(form: URLSearchParams): boolean {
  return signature(form) === expected(form, publicKey);
}

/** Takes a signature over the amount alone: that of any other order of the same price. */
function seenSignatures(): Check {
  return {
    isSigned: (form, secret) => {
      if (GOOD.isSigned(form, secret, null as never)) return true;
      return (
        form.get('signature') !== WRONG_SIGNATURE &&
        !isFrom(form, 'not-the-secret-key') &&
        /^[0-9A-F]{64}$/.test(signature(form))
      );
    },
  };
}
const isFrom = (form: URLSearchParams, key: string) => signature(form) === expected(form, key);

const FAILS_OPEN = [
  mutant(
    'an empty signature is not checked',
    'B',
    {
      isWhole: (form) => form.has('signature'),
      isSigned: (form, secret) => signature(form) === '' || GOOD.isSigned(form, secret, null as never),
    },
    'signature-empty',
  ),
  mutant(
    'null means no signature',
    'B',
    {
      isSigned: (form, secret) => signature(form) === 'null' || GOOD.isSigned(form, secret, null as never),
    },
    'signature-null',
  ),
  mutant(
    'a list breaks the check off',
    'B',
    {
      isWhole: () => true,
      isSigned: (form, secret) => form.has('signature[]') || GOOD.isSigned(form, secret, null as never),
    },
    'signature-empty-array',
  ),
  mutant(
    'without data nothing is checked',
    'B',
    {
      isWhole: () => true,
      isSigned: (form, secret) => !form.has('data[amount]') || GOOD.isSigned(form, secret, null as never),
      isAmount: (order, form) => !form.has('data[amount]') || GOOD.isAmount(order, form),
    },
    'data-missing',
  ),
];

const also = (key: string): Check => ({
  isSigned: (form, secret) => isFrom(form, key) || GOOD.isSigned(form, secret, null as never),
});

const WELL_KNOWN = [
  mutant('an empty key', 'C', also(''), 'secret-empty'),
  mutant('null as key', 'C', also('null'), 'secret-null'),
  mutant('undefined as key', 'C', also('undefined'), 'secret-null'),
  mutant('the key of an example', 'C', also('YOUR_SECRET_KEY'), 'secret-of-documentation'),
  mutant('the last key of all examples', 'C', also('123456'), 'secret-of-documentation'),
  mutant('the key of every emulator', 'C', also('sec_sim_example_not_a_real_key'), 'secret-of-emulator'),
];

const currency = (form: URLSearchParams) => text(form, 'data[currency][code]');
const amount = (form: URLSearchParams) => text(form, 'data[amount]');

const AMOUNTS = [
  mutant('the amount is not checked', 'D', { isAmount: (order, form) => currency(form) === order.currency }),
  mutant(
    'the currency is not checked',
    'D',
    { isAmount: (order, form) => amount(form) === order.total },
    'currency-other',
  ),
  mutant(
    'a missing currency is taken',
    'D',
    {
      isWhole: (form) => form.has('signature'),
      isAmount: (order, form) =>
        amount(form) === order.total && [order.currency, ''].includes(currency(form)),
    },
    'currency-missing',
  ),
  mutant(
    'whole units are compared',
    'D',
    {
      isAmount: (order, form) =>
        Number.parseInt(amount(form), 10) === Number.parseInt(order.total, 10) &&
        currency(form) === order.currency,
    },
    'amount-cut',
  ),
  mutant(
    'as much or less',
    'D',
    {
      isAmount: (order, form) =>
        Number(amount(form)) <= Number(order.total) && currency(form) === order.currency,
    },
    'amount-too-low',
  ),
  mutant(
    'zero is free',
    'D',
    { isAmount: (order, form) => Number(amount(form)) === 0 || GOOD.isAmount(order, form) },
    'amount-zero',
  ),
  mutant(
    'the sign is dropped',
    'D',
    {
      isAmount: (order, form) =>
        amount(form).replace('-', '') === order.total && currency(form) === order.currency,
    },
    'amount-negative',
  ),
  mutant(
    'amounts are read as numbers of any form',
    'D',
    {
      isAmount: (order, form) => /e/.test(amount(form)) || GOOD.isAmount(order, form),
    },
    'amount-exponent-low',
  ),
  mutant(
    'the amount is not under the signature',
    'D',
    {
      isSigned: (form, secret) => signature(form) === sign('49.90', text(form, 'identifier'), secret),
      isAmount: (order, form) => currency(form) === order.currency,
    },
    'amount-changed',
  ),
  mutant('keys of other merchants', 'D', also('sec_sim_of_another_merchant_0001'), 'key-of-other-merchant'),
  mutant(
    'the charge of a copy is booked',
    'D',
    {
      pay: (order, form) => {
        GOOD.pay(order, form);
        order.total = text(form, 'data[charge]') === '12345.67' ? '0.00' : order.total;
      },
    },
    'charge-changed',
  ),
];

const BINDINGS = [
  mutant('the order is taken from the query', 'E', {
    find: (shop, _, url) =>
      [...shop.orders.values()].find(({ token }) => token === url.searchParams.get('token')),
  }),
  mutant(
    'identifiers are compared without case',
    'E',
    {
      find: (shop, form) =>
        [...shop.orders.values()].find(
          (one) => one.identifier.toLowerCase() === text(form, 'identifier').toLowerCase(),
        ),
    },
    'identifier-case',
  ),
  mutant(
    'identifiers are trimmed',
    'E',
    { find: (shop, form) => shop.orders.get(text(form, 'identifier').trim()) },
    'identifier-spaces',
  ),
  mutant(
    'the end of the identifier will do',
    'E',
    {
      find: (shop, form) =>
        [...shop.orders.values()].find((one) => text(form, 'identifier').endsWith(one.identifier)),
    },
    'identifier-prefix',
  ),
  mutant('an unknown identifier pays the newest order', 'E', {
    find: (shop, form) => shop.orders.get(text(form, 'identifier')) ?? [...shop.orders.values()].at(-1),
    isToken: () => true,
  }),
  mutant(
    'the signature is that of the transaction',
    'E',
    {
      isSigned: (form, secret) =>
        GOOD.isSigned(form, secret, null as never) || (signature(form) !== '' && isOwnOf(form)),
    },
    'transaction-reused',
  ),
];

/** A signature that is neither garbage nor made with one of the audit's own keys: that of another payment. */
function isOwnOf(form: URLSearchParams): boolean {
  const made = ['', 'null', 'not-the-secret-key', publicKey].some((key) => isFrom(form, key));
  return /^[0-9A-F]{64}$/.test(signature(form)) && signature(form) !== WRONG_SIGNATURE && !made;
}

const paid: Handler['onReturn'] = (order) => {
  if (order) GOOD.pay(order, new URLSearchParams());
};

const RETURNS = [
  mutant('the return page pays', 'F', { onReturn: paid }),
  mutant(
    'the return page pays by its parameters',
    'F',
    {
      onReturn: (order, url) => {
        if (url.searchParams.get('status') === 'success') paid(order, url);
      },
    },
    'return-get-parameters',
  ),
];

const INTERFACE = [
  mutant('no token of the order', 'G', { isToken: () => true }, 'sandbox-for-live'),
  mutant(
    'test=1 needs no token',
    'G',
    {
      isToken: (order, url) => GOOD.isToken(order, url) || url.searchParams.has('test'),
      find: (shop, form, url) => {
        if (form.has('test')) url.searchParams.set('test', '1');
        return shop.orders.get(text(form, 'identifier'));
      },
    },
    'sandbox-test-flag',
  ),
  mutant(
    'short identifiers and no token',
    'splice',
    {
      isToken: () => true,
      identifier: (count) => `order-${count}`,
    },
    'splice',
  ),
];

const STATUSES = [
  mutant('the status is not checked', 'H', { isSuccess: () => true }, 'canceled-before-success'),
  mutant(
    'an unsigned failure fails a pending order for good',
    'H',
    {
      isWhole: () => true,
      isSigned: (form, secret) =>
        ['failed'].includes(text(form, 'status')) || GOOD.isSigned(form, secret, null as never),
      onOther: (order) => {
        order.identifier = 'closed';
      },
      isAmount: (order, form) => order.identifier !== 'closed' && GOOD.isAmount(order, form),
    },
    'failed-unsigned',
  ),
  mutant(
    'an unsigned error marks an order that is paid later',
    'H',
    {
      isWhole: () => true,
      isSigned: (form, secret) =>
        text(form, 'status') === 'error' || GOOD.isSigned(form, secret, null as never),
      onOther: (order) => {
        order.status = 'failed';
      },
    },
    'error-unsigned',
  ),
  mutant(
    'a failure reopens a paid order',
    'H',
    {
      onOther: (order) => {
        order.paid = false;
        order.status = 'failed';
      },
    },
    'canceled-after-success',
  ),
  mutant(
    'a bad signature fails a paid order',
    'H',
    {
      isSigned: () => true,
      isAmount: (order, form) => {
        const held = GOOD.isSigned(form, 'sec_sim_kept_by_this_shop_alone_1', null as never);
        if (!held) order.status = 'failed';
        return held && GOOD.isAmount(order, form);
      },
    },
    'success-badly-signed-paid',
  ),
];

const ORIGIN = mutant('the gateway is known by its address', 'I', {
  isSigned: (form, secret, request) =>
    request.headers['x-forwarded-for'] === '127.0.0.1' || GOOD.isSigned(form, secret, request),
});

const JUGGLING = [
  mutant(
    'a list as signature is true',
    'J',
    {
      isWhole: () => true,
      isSigned: (form, secret) =>
        form.getAll('signature[]')[0] === WRONG_SIGNATURE || GOOD.isSigned(form, secret, null as never),
    },
    'signature-array',
  ),
  ...(
    [
      ['last', (form) => form.getAll('identifier').at(-1)],
      ['array', (form) => form.get('identifier[]')],
      ['nested', (form) => form.get('data[identifier]')],
      ['query', (_, url) => url.searchParams.get('identifier')],
    ] as [string, (form: URLSearchParams, url: URL) => string | null | undefined][]
  ).map(([name, second]) =>
    mutant(
      `the identifier that is looked up is another: ${name}`,
      'J',
      {
        isWhole: () => true,
        find: (shop, form, url) => shop.orders.get(second(form, url) ?? text(form, 'identifier')),
      },
      `identifier-doubled-${name}`,
    ),
  ),
  mutant('a signature of JSON may be true', 'J', jsonJuggling(true), 'signature-json-true'),
  mutant('a signature of JSON may be zero', 'J', jsonJuggling(0), 'signature-json-zero'),
  mutant(
    '0e123 is zero',
    'J',
    {
      isSigned: (form, secret) =>
        /^0e\d+$/.test(signature(form)) || GOOD.isSigned(form, secret, null as never),
    },
    'signature-magic-hash',
  ),
  mutant(
    'first amount, last signature',
    'J',
    {
      isWhole: () => true,
      isSigned: (form, secret) => form.getAll('signature').at(-1) === expected(form, secret),
    },
    'fields-doubled',
  ),
  mutant(
    'data as text is not checked',
    'J',
    {
      isWhole: () => true,
      isSigned: (form, secret) => form.has('data') || GOOD.isSigned(form, secret, null as never),
      isAmount: (order, form) => form.has('data') || GOOD.isAmount(order, form),
    },
    'data-as-text',
  ),
];

/** A handler that also reads JSON, and whose comparison takes a value that is no text. */
function jsonJuggling(value: unknown): Check {
  return {
    isWhole: (form, raw) => {
      if (!raw.startsWith('{')) return GOOD.isWhole(form, raw);
      const json = JSON.parse(raw) as {
        signature: unknown;
        identifier: string;
        status: string;
        data: { amount: string };
      };
      form.set('identifier', json.identifier);
      form.set('status', json.status);
      form.set('data[amount]', json.data.amount);
      form.set('data[currency][code]', 'USD');
      form.set('signature', json.signature === value ? 'juggled' : String(json.signature));
      return true;
    },
    isSigned: (form, secret) => signature(form) === 'juggled' || GOOD.isSigned(form, secret, null as never),
  };
}

const INJECTIONS = [
  mutant(
    'markup comes back',
    'K',
    {
      refuse: (response, form) =>
        response.writeHead(404, { 'Content-Type': 'text/html' }).end(`no order ${text(form, 'identifier')}`),
    },
    'identifier-markup',
  ),
  mutant(
    'a quote breaks the query',
    'K',
    {
      find: (shop, form) => {
        if (text(form, 'identifier').includes("'")) throw new Error('SQLITE_ERROR: near "OR"');
        return shop.orders.get(text(form, 'identifier'));
      },
    },
    'identifier-sql',
  ),
  mutant(
    'a name with a quote breaks the query',
    'K',
    {
      pay: (order, form) => {
        if (text(form, 'data[account_holder]').includes("'")) throw new Error('SQLITE_ERROR');
        GOOD.pay(order, form);
      },
    },
    'name-markup',
  ),
  mutant(
    'a null character breaks the query',
    'K',
    {
      find: (shop, form) => {
        if (text(form, 'identifier').includes('\u0000')) throw new Error('invalid byte sequence');
        return shop.orders.get(text(form, 'identifier'));
      },
    },
    'identifier-newline',
  ),
];

const LEAKING = [
  mutant(
    'a GET shows the configuration',
    'L',
    {
      get: (response, keys) => response.end(JSON.stringify(keys)),
    },
    'handler-get',
  ),
  mutant(
    'a refusal tells the expected signature',
    'L',
    {
      refuse: (response, form, { secretKey }) =>
        response.writeHead(400).end(`expected ${expected(form, secretKey)}`),
    },
    'error-bodies',
  ),
  mutant(
    'the secret key in the ipn_url',
    'L',
    {
      initiate: (fields, { secretKey }) => ({ ...fields, ipn_url: `${fields['ipn_url']}&key=${secretKey}` }),
    },
    'secret-in-initiate',
  ),
];

const FROM_CLIENT = [
  mutant(
    'the price comes from the form',
    'M',
    {
      initiate: (fields) => ({ ...fields, amount: '1.00' }),
      isAmount: (_, form) => amount(form) === '1.00',
    },
    'amount-of-initiate',
  ),
  mutant(
    'initiate from the browser',
    'M',
    { headers: { Origin: 'http://localhost:3000' } },
    'key-in-browser',
  ),
  mutant(
    'numbers as identifiers and no token',
    'M',
    {
      isToken: () => true,
      identifier: (count) => String(10_000_000_000_000 + count),
      initiate: (fields) => ({ ...fields, ipn_url: String(fields['ipn_url']).split('?')[0] ?? '' }),
    },
    'identifier-guessable',
  ),
  mutant(
    'one address for both',
    'M',
    {
      initiate: (fields) => ({ ...fields, success_url: fields['ipn_url'] ?? '' }),
    },
    'ipn-url-is-success-url',
  ),
  mutant(
    'one page of one script for both',
    'M',
    {
      initiate: (fields) => {
        const both = String(fields['ipn_url']).replace('/ipn?', '/index.php?page=payment&');
        return { ...fields, ipn_url: both, success_url: both };
      },
    },
    'ipn-url-is-success-url',
  ),
  mutant(
    'the ipn_url as logo',
    'M',
    {
      initiate: (fields) => ({ ...fields, site_logo: fields['ipn_url'] ?? '' }),
    },
    'ipn-url-is-logo',
  ),
  mutant(
    'back to production',
    'M',
    {
      initiate: (fields) => ({ ...fields, success_url: 'https://shop.example/paid' }),
    },
    'success-url-public',
  ),
];

const again: Handler['pay'] = (order) => {
  order.paid = true;
  order.status = 'paid';
  order.credited++;
};

/** The number of an invoice grows with each order: only the credit is an effect. */
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
  mutant('a copy pays again', 'once', { pay: again }, 'replay-at-once'),
  mutant(
    'looks, waits, and pays',
    'once',
    {
      pay: async (order, form) => {
        const { paid } = order;
        await pause(100);
        if (!paid) again(order, form);
      },
    },
    'copies-2',
  ),
  mutant('looks, waits, pays, and numbers its invoices', 'once', numbersInvoices(), 'copies-20'),
  mutant(
    'browser and IPN both pay',
    'once',
    {
      onReturn: (order, url) => {
        if (order?.paid) again(order, url.searchParams);
      },
    },
    'ipn-with-return',
  ),
];

const FRAGILE = [
  mutant(
    'any status but failed is success',
    'robustness',
    {
      isSuccess: (form) => text(form, 'status') !== 'failed' && text(form, 'status') !== 'canceled',
    },
    'status-unknown',
  ),
  mutant(
    'a missing field breaks it',
    'robustness',
    {
      isWhole: (form) => {
        if (!form.has('identifier'))
          throw new TypeError("Cannot read properties of undefined (reading 'trim')");
        return GOOD.isWhole(form, '');
      },
    },
    'fields-missing',
  ),
  mutant(
    'an empty body breaks it',
    'robustness',
    {
      isWhole: (form, raw) => {
        if (raw === '') throw new TypeError('Cannot convert undefined or null to object');
        return GOOD.isWhole(form, raw);
      },
    },
    'body-empty',
  ),
  mutant(
    'an unknown field is refused',
    'robustness',
    {
      isWhole: (form, raw) => !form.has('version') && GOOD.isWhole(form, raw),
    },
    'fields-extra',
  ),
  mutant('200 with a fatal error', 'robustness', {
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
  ORIGIN,
  ...JUGGLING,
  ...INJECTIONS,
  ...LEAKING,
  ...FROM_CLIENT,
  ...TWICE,
  ...FRAGILE,
];
