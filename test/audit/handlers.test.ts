import type { ServerResponse } from 'node:http';
import { it } from 'vitest';
import { pause } from '../../src/system/real-time.ts';
import { auditOf } from '../helpers/auditable.ts';
import { AUDIT_CASES, sample } from '../helpers/scope.ts';
import { readsJson } from '../merchants/mutants.ts';
import { GOOD, type Handler, type Order } from '../merchants/node-shop.ts';

/*
 * Correct handlers in many styles, for which no case may fail.
 */

type Style = Partial<Handler>;

const PAGE = '<!doctype html><title>Shop</title><h1>Our shop</h1><p>Something about this request.</p>';
const JSON_TYPE = { 'content-type': 'application/json' };
const HTML_TYPE = { 'content-type': 'text/html; charset=utf-8' };

const answering =
  (status: number, type: Record<string, string> = {}, body = '') =>
  (response: ServerResponse) =>
    response.writeHead(status, type).end(body);

/** Answers everything in the same way. */
const always = (...given: Parameters<typeof answering>): Style => {
  const answer = answering(...given);
  return { refuse: answer, accept: answer, get: answer };
};

/** Pays an order after a while, and responds before that. */
const queued = (ms: number): Style => ({
  pay: (order, form) => void pause(ms).then(() => GOOD.pay(order, form)),
  accept: answering(202),
});

/** One request at a time for each order. */
function locking(): Style {
  const running = new WeakMap<Order, Promise<void>>();
  return {
    pay: (order, form) => {
      const turn = (running.get(order) ?? Promise.resolve()).then(async () => {
        await pause(5);
        GOOD.pay(order, form);
      });
      running.set(order, turn);
      return turn;
    },
  };
}

/** Rejects a request while another one for the same order is handled. */
function busy(): Style {
  const running = new Set<Order>();
  return {
    find: async (shop, form, url) => {
      const order = await GOOD.find(shop, form, url);
      return order && running.has(order) ? undefined : order;
    },
    pay: async (order, form) => {
      running.add(order);
      await pause(300);
      GOOD.pay(order, form);
      running.delete(order);
    },
  };
}

/** Changes each field before it is checked, as some frameworks do. */
const reading = (one: (values: readonly string[]) => string): Style => ({
  isWhole: (form, raw) => {
    for (const name of new Set(form.keys())) form.set(name, one(form.getAll(name)));
    return GOOD.isWhole(form, raw);
  },
});

/** An order of this price, whose amount is compared as a number. */
const costing = (total: string): Style => ({
  initiate: (fields) => ({ ...fields, amount: total }),
  isAmount: (order, form) =>
    Number(form.get('data[amount]')) === Number(total) && form.get('data[currency][code]') === order.currency,
  show: (order, keys) => ({ ...GOOD.show(order, keys), total }),
});

const IN_PATH: Style = {
  initiate: (fields) => ({ ...fields, ipn_url: String(fields['ipn_url']).replace('?token=', '/') }),
  isToken: (order, url) => url.pathname === `/ipn/${order.token}`,
};

function numberingInvoices(): Style {
  const invoices: string[] = [];
  return {
    pay: (order, form) => {
      if (!order.paid) invoices.push(order.identifier);
      GOOD.pay(order, form);
    },
    show: (order, keys) => ({
      ...GOOD.show(order, keys),
      invoice: invoices.indexOf(order.identifier) + 1 || null,
    }),
  };
}

/** Sends an e-mail about each payment some time after it. */
const mailing = (ms: number): Style => ({
  pay: (order, form) => {
    if (order.paid) return;
    GOOD.pay(order, form);
    void pause(ms).then(() => order.credited++);
  },
});

const STYLES: readonly (readonly [name: string, style: Style])[] = [
  ...[401, 403, 404, 409, 422].map((status): [string, Style] => [
    `rejects with ${status}`,
    { refuse: answering(status) },
  ]),
  ['answers 200 to everything', always(200)],
  ['answers 200 to everything, in JSON', always(200, JSON_TYPE, '{"ok":true}')],
  ['answers 200 to everything, with a page', always(200, HTML_TYPE, PAGE)],
  ['answers 204', { accept: answering(204) }],
  ['answers 501 to other methods', { get: answering(501) }],
  ['answers 404 to other methods, with a page', { get: answering(404, HTML_TYPE, PAGE) }],
  ['reads JSON, too', readsJson()],
  ['PHP, which reads the last of repeated fields', reading((values) => values.at(-1) ?? '')],
  ['Laravel with a queue', { ...reading((values) => values.at(-1)?.trim() ?? ''), ...queued(100) }],
  ['a slow queue', queued(400)],
  ['slow', { pay: async (order, form) => pause(300).then(() => GOOD.pay(order, form)) }],
  ['locking', locking()],
  ['slow, and rejects concurrent requests', busy()],
  [
    'accepts only forms, as one piece that is not compressed',
    {
      isSigned: (form, secret, request) =>
        /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '') &&
        request.headers['content-encoding'] === undefined &&
        request.headers['transfer-encoding'] === undefined &&
        GOOD.isSigned(form, secret, request),
    },
  ],
  [
    'PHP behind a front controller',
    {
      initiate: (fields) => ({
        ...fields,
        ipn_url: String(fields['ipn_url']).replace('/ipn?', '/index.php?route=ipn&'),
      }),
    },
  ],
  [
    'converts the signature to upper case',
    {
      isSigned: (form, secret, request) => {
        form.set('signature', (form.get('signature') ?? '').toUpperCase());
        return GOOD.isSigned(form, secret, request);
      },
    },
  ],
  ...['0.01', '100', '1250.5', '99999.99'].map((total): [string, Style] => [
    `amounts as numbers, ${total}`,
    costing(total),
  ]),
  ['numbers as identifiers', { identifier: (count) => String(1_000 + count) }],
  ['numbers as identifiers, token in the path', { ...IN_PATH, identifier: (count) => String(1_000 + count) }],
  ['identifiers with special characters', { identifier: (count) => `SO/2026/${count}#a` }],
  ['identifiers of 20 digits', { identifier: (count) => GOOD.identifier(count).replace(/\D/g, '7') }],
  ['token in the path', IN_PATH],
  ['sends e-mails later', mailing(150)],
  ['sends e-mails from a slow queue', { ...mailing(400), accept: answering(202) }],
  ['numbers its invoices', numberingInvoices()],
];

it.concurrent.for(sample(STYLES, ([name]) => name === 'Laravel with a queue'))(
  'passes a correct handler: %s',
  async ([, style], { expect: check }) => {
    const { cases } = await auditOf(style, { only: AUDIT_CASES });
    const alarms = cases.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped');
    check(alarms.map(({ name, verdict, why }) => [name, verdict, why])).toEqual([]);
  },
);
