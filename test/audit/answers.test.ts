import type { ServerResponse } from 'node:http';
import { it } from 'vitest';
import type { AuditVerdict } from '../../src/audit/vocabulary.ts';
import { auditOf } from '../helpers/auditable.ts';
import { GOOD, type Handler } from '../merchants/node-shop.ts';

interface Example {
  what: string;
  only: string;
  verdict: AuditVerdict;
  /** Part of the explanation, or of what the audit observed. */
  said: RegExp;
  handler: Partial<Handler>;
}

const example = (
  what: string,
  only: string,
  verdict: AuditVerdict,
  said: RegExp,
  handler: Partial<Handler>,
): Example => ({ what, only, verdict, said, handler });

/** Refuses an identifier that contains a text differently from others. */
const refusing = (part: string, answer: (response: ServerResponse, identifier: string) => unknown) => ({
  refuse: ((response, form, keys) => {
    const identifier = form.get('identifier') ?? '';
    if (identifier.includes(part)) answer(response, identifier);
    else GOOD.refuse(response, form, keys);
  }) satisfies Handler['refuse'],
});

const repeated = (type: Record<string, string>) =>
  refusing('<', (response, identifier) => response.writeHead(404, type).end(`no order ${identifier}`));

const TRACE = 'Fatal error: Uncaught TypeError in /srv/shop/ipn.php:12';

const HOSTILE_IDENTIFIERS = [
  example(
    'markup in JSON',
    'identifier-markup',
    'pass',
    /^A validly/,
    repeated({ 'content-type': 'application/json' }),
  ),
  example(
    'markup in plain text',
    'identifier-markup',
    'pass',
    /^A validly/,
    repeated({ 'Content-Type': 'text/plain' }),
  ),
  example('markup without a type', 'identifier-markup', 'fail', /repeats the markup unescaped/, repeated({})),
  example(
    'a new header',
    'identifier-newline',
    'fail',
    /became a response header/,
    refusing('\r\n', (response) => response.writeHead(404, { 'X-Injected': '1' }).end()),
  ),
  example(
    'a crash',
    'identifier-sql',
    'fail',
    /handler crashed and answered 503/,
    refusing("'", (response) => response.writeHead(503).end()),
  ),
  example(
    'no response',
    'identifier-sql',
    'fail',
    /handler sent no response/,
    refusing('"', (response) => response.destroy()),
  ),
  example(
    'an error page',
    'identifier-markup',
    'fail',
    /shows an error from your code: .*Uncaught TypeError/,
    refusing('{{', (response) => response.end(TRACE)),
  ),
];

const LEAKS = [
  example('a header with the key', 'handler-head', 'fail', /contains the secret key\.$/, {
    get: (response, { secretKey }) => response.writeHead(405, { 'X-Debug': secretKey }).end(),
  }),
  example('an error page', 'handler-get', 'fail', /contains an error from your code: /, {
    get: (response) => response.end(TRACE),
  }),
  example('the encoded key', 'secret-in-initiate', 'fail', /sends the secret key in successUrl of its/, {
    initiate: (fields, { secretKey }) => ({
      ...fields,
      success_url: `${fields['success_url']}&key=${encodeURIComponent(secretKey).replace('_', '%5F')}`,
    }),
  }),
];

const RETURNS = [
  example(
    'a page of the emulator',
    'return-unpaid',
    'skipped',
    /is a page of the emulator, not of the shop/,
    {
      initiate: (fields, { initiateUrl }) => ({
        ...fields,
        success_url: new URL('/thanks', initiateUrl).href,
      }),
    },
  ),
  example('a page elsewhere', 'return-unpaid', 'skipped', /^https:\/\/shop\.example\/paid is not local: /, {
    initiate: (fields) => ({ ...fields, success_url: 'https://shop.example/paid' }),
  }),
  example('no confirmation page', 'confirm-unpaid', 'skipped', /use --confirm-url if/, {}),
];

const INITIATED = [
  example('an amount in fewer digits', 'amount-of-initiate', 'pass', /costs 49\.90, and .* of 049\.9$/, {
    initiate: (fields) => ({ ...fields, amount: '049.9' }),
    isAmount: (order, form) => Number(form.get('data[amount]')) === Number(order.total),
  }),
  example('one page for all orders', 'ipn-url-is-success-url', 'fail', /cannot tell their requests apart/, {
    initiate: (fields) => ({ ...fields, success_url: `${fields['ipn_url']}&thanks=1` }),
  }),
  example('two orders on one page', 'ipn-url-is-success-url', 'pass', /\/ipn\?token=/, {
    initiate: (fields) => ({ ...fields, success_url: String(fields['ipn_url']).replace(/=.*/, '=other') }),
  }),
  example('two pages of a script', 'ipn-url-is-success-url', 'pass', /\.php\?page=/, {
    initiate: (fields) => ({
      ...fields,
      ipn_url: String(fields['ipn_url']).replace('/ipn?', '/index.php?page=ipn&'),
      success_url: String(fields['ipn_url']).replace('/ipn?', '/index.php?page=paid&'),
    }),
  }),
  example('a page on the Internet', 'success-url-public', 'fail', /return to a different shop/, {
    initiate: (fields) => ({ ...fields, success_url: 'https://shop.example/paid' }),
  }),
  example('a counter', 'identifier-guessable', 'at-risk', /^INV-2026-1000 and INV-2026-1199, /, {
    ...{ isToken: () => true, identifier: (count) => `INV-2026-${1_000 + 199 * count}` },
    initiate: (fields) => ({ ...fields, ipn_url: String(fields['ipn_url']).split('?')[0] ?? '' }),
  }),
  example('a counter with a token', 'identifier-guessable', 'pass', /^INV-/, {
    identifier: (count) => `INV-2026-${1_000 + count}`,
  }),
  example('distant numbers', 'identifier-guessable', 'pass', /^INV-/, {
    ...{ isToken: () => true, identifier: (count) => `INV-${1_000 + 201 * count}` },
    initiate: (fields) => ({ ...fields, ipn_url: String(fields['ipn_url']).split('?')[0] ?? '' }),
  }),
];

const CHEAPEST: Partial<Handler> = {
  initiate: (fields) => ({ ...fields, amount: '0.01' }),
  isAmount: (_, form) => form.get('data[amount]') === '0.01',
};

const ORDERS = [
  example('the smallest price', 'amount-in-parts', 'skipped', /nothing is less$/, CHEAPEST),
  example('the smallest price', 'amount-less-charge', 'skipped', /nothing is less$/, CHEAPEST),
  example('capital letters', 'identifier-case', 'pass', /different letter case/, {
    identifier: (count) => `ORDER-OF-NOVEMBER-${count}`,
  }),
  example('digits only', 'identifier-case', 'skipped', /^the identifier has no letter to change$/, {
    identifier: (count) => String(7 ** 20 + count * 7_777),
  }),
  example('one identifier', 'other-paid-order', 'unproven', /share the identifier "SAME"/, {
    identifier: () => 'SAME',
  }),
];

let isClosed = false;
const LATER = [
  example(
    'a JSON body closes the order',
    'json',
    'fail',
    /^Afterwards, your shop does not accept the correct IPN/,
    {
      isWhole: (form, raw) => {
        isClosed ||= raw.startsWith('{');
        return !isClosed && GOOD.isWhole(form, raw);
      },
    },
  ),
  example(
    'a shop that pays one order only',
    'canceled-after-success',
    'unproven',
    /^its genuine IPN did not pay the order \(answered 400 “rejected”\)$/,
    {
      find: (shop, form, url) =>
        [...shop.orders.values()].some(({ paid }) => paid) ? undefined : GOOD.find(shop, form, url),
    },
  ),
  example('an error with status 200', 'answer', 'fail', /A gateway sees only the status/, {
    accept: (response) => response.end(TRACE),
  }),
  example(
    'a forged failure',
    'failed-forged',
    'fail',
    /^A forged IPN had an effect: total from "49.90" to "0.00"/,
    {
      isSigned: (form, secret, request) =>
        form.get('status') === 'error' || GOOD.isSigned(form, secret, request),
      onOther: (order) => {
        order.total = '0.00';
      },
    },
  ),
  example(
    'a failure that pays',
    'canceled-forged',
    'fail',
    /^An IPN for a payment that did not succeed marks the order as paid/,
    {
      ...{ isWhole: () => true, isSuccess: () => true },
      isSigned: (form, secret, request) => !form.has('signature') || GOOD.isSigned(form, secret, request),
    },
  ),
];

it.concurrent.for([...HOSTILE_IDENTIFIERS, ...LEAKS, ...RETURNS, ...INITIATED, ...ORDERS, ...LATER])(
  '$only: $verdict for $what',
  async ({ only, verdict, said, handler }, { expect: check }) => {
    const { cases } = await auditOf(handler, { only: [only] });
    const one = cases.find(({ name }) => name === only);
    check({ verdict: one?.verdict, said: `${one?.why}\n${one?.observed}` }).toEqual({
      verdict,
      said: check.stringMatching(new RegExp(said, 'm')),
    });
  },
);
