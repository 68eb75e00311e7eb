import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { pause } from '../../src/system/real-time.ts';
import { auditOf, prepareAudit } from '../helpers/auditable.ts';
import { GOOD, type Handler, type Order, sign } from '../merchants/node-shop.ts';

const total = ({ total: price }: Order) => Number(price);
const amountOf = (form: URLSearchParams) => Number(form.get('data[amount]'));

/** The parts of each order that were paid. */
const PARTS = new WeakMap<Order, Map<string, number>>();
/** The IPNs that were received for each order. */
const RECEIVED = new WeakMap<Order, string[]>();

/** When each order was paid. */
const PAID_AT = new WeakMap<Order, number>();
const SHIPPED_AFTER_MS = 1_500;

/** Identifiers of IPNs that were rejected, and signatures that were valid. */
const REJECTED = new Set<string>();
const SIGNATURES = new Set<string>();
/** The status of the last request. */
let lastStatus = '';

/** The headers of the last request to a page. */
let lastHeaders: IncomingHttpHeaders = {};

/** A good shop with one flaw, and the case that finds it. */
const FLAWS: Record<string, [found: string, flaw: Partial<Handler>]> = {
  'a tolerance of half a percent': [
    'amount-near',
    { isAmount: (order, form) => Math.abs(amountOf(form) - total(order)) <= total(order) * 0.005 },
  ],
  'parts of the price are added up by an unsigned transaction': [
    'amount-in-parts',
    {
      isAmount: (order, form) => {
        const parts = PARTS.get(order) ?? new Map<string, number>();
        PARTS.set(order, parts);
        parts.set(form.get('data[payment_trx]') ?? '', amountOf(form));
        return [...parts.values()].reduce((sum, part) => sum + part, 0) >= total(order);
      },
    },
  ],
  'a segment of the path selects the key': [
    'secret-in-request',
    {
      initiate: (fields) => ({ ...fields, ipn_url: (fields['ipn_url'] ?? '').replace('/ipn', '/ipn/tea') }),
      isSigned: (form, secret, request) =>
        GOOD.isSigned(form, request.url?.startsWith('/ipn/tea?') ? secret : '', request),
    },
  ],
  'a decimal point is read as a mark of thousands': [
    'amount-text',
    {
      initiate: (fields) => ({ ...fields, amount: '1250.00' }),
      isAmount: (_, form) =>
        Number((form.get('data[amount]') ?? '').replace(/^(\d+)\.(\d{3})$/, '$1$2')) === 1_250,
    },
  ],
  'only the first part of a body is read': [
    'slow-body',
    {
      read: async (request) => {
        for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>)
          return chunk;
        return Buffer.alloc(0);
      },
    },
  ],
  'the success_url has a token that is made like a signature': [
    'signature-in-address',
    {
      initiate: (fields, { secretKey }) => {
        const { amount = '', identifier = '', success_url: page } = fields;
        return { ...fields, success_url: `${page}&key=${sign(amount, identifier, secretKey)}` };
      },
    },
  ],
  'the amount is rounded before it is compared': [
    'amount-with-digit',
    {
      identifier: (count) => `order-${1_000 + count}`,
      isToken: () => true,
      isAmount: (order, form) => Math.round(amountOf(form) * 100) === total(order) * 100,
    },
  ],
  'an order is found by a part of its identifier': [
    'identifier-shortened',
    {
      identifier: (count) => `P${100 + count}`,
      isToken: () => true,
      find: ({ orders }, form) =>
        [...orders.values()].findLast(({ identifier }) =>
          identifier.includes(form.get('identifier') ?? 'none'),
        ),
    },
  ],
  'a private address in a header of proxies is trusted': [
    'address-spoofed',
    {
      isSigned: (form, secret, request) =>
        /^10\./.test(String(request.headers['x-forwarded-for'])) || GOOD.isSigned(form, secret, request),
    },
  ],
  'a paid order is refunded by an unsigned status': [
    'refunded-after-success',
    {
      onOther: (order, form) => {
        if (form.get('status') === 'refunded' && order.paid) order.charge = `credit ${order.total}`;
      },
    },
  ],
  'orders are looked up with LIKE': [
    'identifier-wildcard',
    {
      find: ({ orders }, form) => {
        const like = (form.get('identifier') ?? '').replaceAll('_', '.').replaceAll('%', '.*');
        return [...orders.values()].find(({ identifier }) => new RegExp(`^${like}$`).test(identifier));
      },
    },
  ],
  'orders are looked up without regard to accents': [
    'identifier-accent',
    {
      isToken: () => true,
      find: ({ orders }, form) =>
        orders.get((form.get('identifier') ?? '').normalize('NFD').replace(/\p{M}/gu, '')),
    },
  ],
  'a paid order is put on hold by a signed wrong amount': [
    'amount-low-after-success',
    {
      isAmount: (order, form) => {
        if (amountOf(form) === total(order)) return true;
        Object.assign(order, { status: 'on hold', paid: false });
        return false;
      },
    },
  ],
  'the return page pays with a reference': [
    'return-parameters',
    {
      onReturn: (order, url) => {
        if (order && url.searchParams.get('paid') === '1' && (url.searchParams.get('ref') ?? '').length >= 8)
          GOOD.pay(order, new URLSearchParams());
      },
    },
  ],
  'the return page pays if the gateway sent the browser': [
    'return-unpaid',
    {
      see: ({ headers }) => {
        lastHeaders = headers;
      },
      onReturn: (order) => {
        if (order && lastHeaders.referer !== undefined) GOOD.pay(order, new URLSearchParams());
      },
    },
  ],
  'a copy that comes after the order was shipped ships it again': [
    'replay-much-later',
    {
      pay: (order, form) => {
        if (order.paid && Date.now() - (PAID_AT.get(order) ?? 0) < SHIPPED_AFTER_MS) return;
        order.paid = false;
        GOOD.pay(order, form);
        PAID_AT.set(order, Date.now());
      },
    },
  ],
  'each visit of a paid order gives credit': [
    'return-repeated',
    {
      onReturn: (order) => {
        if (order?.paid) order.credited++;
      },
    },
  ],
  'what is no number is not less than the price': [
    'amount-not-a-number',
    { isAmount: (order, form) => !(amountOf(form) < total(order)) },
  ],
  'a body that is no form is not verified': [
    'forged-body',
    {
      isSigned: (form, secret, request) =>
        request.headers['content-type'] === 'text/plain' || GOOD.isSigned(form, secret, request),
    },
  ],
  'only POST is verified': [
    'forged-method',
    {
      isSigned: (form, secret, request) =>
        request.headers['x-http-method-override'] === 'GET' || GOOD.isSigned(form, secret, request),
    },
  ],
  'a path with another slash is not verified': [
    'forged-path',
    {
      isSigned: (form, secret, request) =>
        request.url?.startsWith('/ipn/') === true || GOOD.isSigned(form, secret, request),
    },
  ],
  'another field may name the order': [
    'identifier-doubled-renamed',
    {
      isToken: () => true,
      find: ({ orders }, form) => orders.get(form.get('order_id') ?? form.get('identifier') ?? ''),
    },
  ],
  'a signature that was valid once is valid for every order': [
    'signature-of-paid-order',
    {
      isSigned: (form, secret, request) => {
        const isSigned = GOOD.isSigned(form, secret, request);
        if (isSigned) SIGNATURES.add(form.get('signature') ?? '');
        return isSigned || SIGNATURES.has(form.get('signature') ?? '');
      },
    },
  ],
  'a field is written into a query before the signature is checked': [
    'fields-sql',
    {
      see: (_, body) => {
        lastStatus = new URLSearchParams(body.toString()).get('status') ?? '';
      },
      isSigned: (form, secret, request) =>
        lastStatus.includes("', status='paid") || GOOD.isSigned(form, secret, request),
      isSuccess: () => true,
    },
  ],
  'a copy is one more payment if its amount is written in another way': [
    'replay-changed',
    {
      isAmount: (order, form) => amountOf(form) === total(order),
      pay: (order, form) => {
        const received = RECEIVED.get(order) ?? [];
        RECEIVED.set(order, received);
        if (received.includes(form.get('data[amount]') ?? '')) return;
        received.push(form.get('data[amount]') ?? '');
        Object.assign(order, { paid: true, status: 'paid' });
        order.credited++;
      },
    },
  ],
  'a failure makes the shop forget a payment': [
    'replay-after-failure',
    {
      onOther: (order) => RECEIVED.delete(order),
      pay: (order) => {
        if (RECEIVED.has(order)) return;
        RECEIVED.set(order, []);
        Object.assign(order, { paid: true, status: 'paid' });
        order.credited++;
      },
    },
  ],
  'each cancellation gives credit': [
    'canceled-twice',
    {
      onOther: (order) => {
        order.credited++;
      },
    },
  ],
  'each visit of the cancel page gives credit': [
    'cancel-page-twice',
    {
      onCancel: (order) => {
        if (order) order.credited++;
      },
    },
  ],
  'the return page completes what the handler has rejected': [
    'return-after-ipn',
    {
      refuse: (response, form, keys) => {
        REJECTED.add(form.get('identifier') ?? '');
        GOOD.refuse(response, form, keys);
      },
      onReturn: (order) => {
        if (order && REJECTED.has(order.identifier)) GOOD.pay(order, new URLSearchParams());
      },
    },
  ],
  'the return page takes unsigned fields for an IPN': [
    'return-ipn',
    {
      onReturn: (order, url) => {
        if (order && url.searchParams.get('data[amount]') === order.total)
          GOOD.pay(order, new URLSearchParams());
      },
    },
  ],
  'the return page closes an order whose identifier can be guessed': [
    'return-before-payment',
    {
      identifier: (count) => `order-${1000 + count}`,
      onReturn: (order) => {
        if (order && !order.paid) order.token = '';
      },
    },
  ],
  'goods are released before an optional field breaks the handler': [
    'copies-incomplete',
    {
      initiate: (fields) => ({ ...fields, ipn_url: (fields['ipn_url'] ?? '').replace(/\?.*/, '') }),
      isToken: () => true,
      pay: (order, form) => {
        if (order.paid) return;
        order.credited++;
        if (!form.has('data[account_holder]')) throw new TypeError('no account_holder');
        Object.assign(order, { paid: true, status: 'paid' });
      },
    },
  ],
  'the return page saves an old copy of the order': [
    'ipn-during-return',
    {
      onReturn: (order) => {
        if (!order || order.paid) return;
        const saving = setInterval(() => {
          if (!order.paid) return;
          clearInterval(saving);
          Object.assign(order, { paid: false, status: 'pending' });
        }, 20).unref();
      },
    },
  ],
};

describe.concurrent('an audit finds, twice,', () => {
  it.each(Object.entries(FLAWS))('%s', async (_, [name, flaw]) => {
    const { cases } = await auditOf(flaw, { only: [name] });
    expect(cases.map((one) => [one.name, one.verdict, one.seen])).toEqual([
      ['control', 'pass', null],
      [name, 'fail', '2/2'],
    ]);
  });

  it('the signature of an unpaid order on its page, which the audit itself found', async () => {
    const show: Handler['show'] = (order, { secretKey }) => ({
      status: order.status,
      expected: sign(order.total, order.identifier, secretKey).toLowerCase(),
    });
    const { cases } = await auditOf(
      { show },
      { probe: undefined, paidWhen: undefined, orderAmount: undefined, only: ['signature-on-page'] },
    );
    expect(cases.at(-1)).toMatchObject({
      name: 'signature-on-page',
      verdict: 'fail',
      mistake: 'secrets-shown',
    });
  });

  it('goods that are released before the signature is checked', async () => {
    let orders: Map<string, Order> | undefined;
    const { cases } = await auditOf(
      {
        see: (_, body) => {
          const form = new URLSearchParams(body.toString());
          const order = orders?.get(form.get('identifier') ?? '');
          if (order && !order.paid && form.get('status') === 'success') order.credited++;
        },
      },
      (shop) => {
        orders = shop.orders;
        return { only: ['signature-missing'] };
      },
    );
    const found = {
      name: 'signature-missing',
      verdict: 'fail',
      seen: '2/2',
      mistake: 'effects-before-checks',
    };
    expect(cases.at(-1)).toMatchObject(found);
  });
});

it('an audit finds a handler that keeps its IPN in a variable of the module', async () => {
  let current = new URLSearchParams();
  const flaw: Partial<Handler> = {
    find: async (shop, form) => {
      await pause(60);
      current = form.size ? current : form;
      return shop.orders.get(current.get('identifier') ?? '');
    },
    see: (_, body) => {
      current = new URLSearchParams(body.toString());
    },
    isToken: () => true,
  };
  const { cases } = await auditOf(flaw, { only: ['ipn-with-other'] });
  expect(cases.at(-1)).toMatchObject({ verdict: 'fail', mistake: 'state-shared', seen: '2/2' });
});

it('an audit finds an IPN that is dropped while that of another order is handled', async () => {
  let isBusy = false;
  const flaw: Partial<Handler> = {
    pay: async (order, form) => {
      if (isBusy) return;
      isBusy = true;
      await pause(60);
      GOOD.pay(order, form);
      isBusy = false;
    },
  };
  const { cases } = await auditOf(flaw, { only: ['ipns-of-two-orders'] });
  const why = expect.stringMatching(/One was answered 200 “OK”, but its order is not paid\.$/);
  expect(cases.at(-1)).toMatchObject({ verdict: 'fail', why, seen: '2/2' });
});

it.concurrent('an audit finds fields that become properties of every object', async () => {
  const shared: { paid?: boolean } = {};
  const flaw: Partial<Handler> = {
    isWhole: (form, raw) => {
      if (form.get('__proto__[status]') === 'paid') shared.paid = true;
      return GOOD.isWhole(form, raw);
    },
  };
  const { cases } = await auditOf(flaw, (shop) => ({
    probe: (identifier) => ({
      ...JSON.parse(shop.probe(identifier)),
      ...(shared.paid && { status: 'paid' }),
    }),
    only: ['prototype-changed'],
  }));
  expect(cases.at(-1)).toMatchObject({ verdict: 'fail', why: expect.stringContaining('every new one') });
});

it.concurrent.each([
  ['price', 'amount', '0.01 USD'],
  ['currency', 'currency', '49.90 GNF'],
])('an audit finds a %s that the customer chooses', async (given, name, initiated) => {
  let chosen: string | null = null;
  const flaw: Partial<Handler> = {
    see: (_, body) => {
      const form = new URLSearchParams(body.toString());
      chosen = form.get('currency') === 'JPY' && given === 'currency' ? null : form.get(given);
    },
    initiate: (fields) => ({ ...fields, [name]: chosen ?? fields[name] ?? '' }),
  };
  const { cases } = await auditOf(flaw, (shop) => ({
    order: undefined,
    orderUrl: `${shop.url}/order`,
    only: ['initiate-price-given'],
  }));
  expect(cases.at(-1)).toMatchObject({
    verdict: 'fail',
    why: expect.stringContaining(`a payment of ${initiated}`),
  });
});

it.concurrent('an audit finds an order that a forged IPN has paid before it was placed', async () => {
  const flaw: Partial<Handler> = {
    identifier: (count) => `order-${1000 + count}`,
    refuse: (response, form, keys) => {
      REJECTED.add(form.get('identifier') ?? '');
      GOOD.refuse(response, form, keys);
    },
  };
  const { cases } = await auditOf(flaw, (shop) => ({
    probe: (identifier) => {
      const shown = JSON.parse(shop.probe(identifier));
      return REJECTED.has(identifier) && !shown.paid ? { ...shown, status: 'paid' } : shown;
    },
    only: ['identifier-of-next-order'],
  }));
  expect(cases.at(-1)).toMatchObject({ name: 'identifier-of-next-order', verdict: 'fail' });
});

it.concurrent('an audit finds an order that is paid by another one of its session', async () => {
  const paid = new Set<string>();
  const flaw: Partial<Handler> = {
    pay: (order, form) => {
      GOOD.pay(order, form);
      paid.add(order.session);
    },
    onReturn: (order, _, session) => {
      if (order && order.session === session && paid.has(session)) GOOD.pay(order, new URLSearchParams());
    },
  };
  const { cases } = await auditOf(flaw, ({ url }) => ({
    order: undefined,
    orderUrl: `${url}/order`,
    only: ['return'],
  }));
  const bad = cases.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped');
  expect(bad.map(({ name, seen }) => [name, seen])).toEqual([['return-second-order', '2/2']]);
});

describe.concurrent('an audit of a cancel page that closes the order', () => {
  const closes: Partial<Handler> = {
    onCancel: (order) => {
      if (order && !order.paid) order.token = '';
    },
  };

  it.each([
    [
      'a failure if its address can be guessed',
      'fail',
      { identifier: (count: number) => `order-${1000 + count}` },
    ],
    ['a note if it cannot', 'note', {}],
  ] as const)('is %s', async (_, verdict, numbered) => {
    const { cases } = await auditOf({ ...closes, ...numbered }, { only: ['cancel-before-payment'] });
    expect(cases.at(-1)).toMatchObject({ name: 'cancel-before-payment', verdict });
  });
});

it.concurrent('an audit prints every request that a mistake takes', async () => {
  const sums = new Map<Order, number>();
  const flaw: Partial<Handler> = {
    isAmount: (order, form) => {
      const sum = (sums.get(order) ?? 0) + Number(form.get('data[amount]'));
      sums.set(order, sum);
      return sum >= Number(order.total);
    },
  };
  const { cases } = await auditOf(flaw, { only: ['amount-in-parts', 'amount-too-low'] });
  const parts = cases.find(({ name }) => name === 'amount-in-parts');
  expect(parts).toMatchObject({ verdict: 'fail', seen: '2/2' });
  expect(parts?.curl?.match(/^curl /gm)).toHaveLength(3);
});

it.concurrent('an audit does not call it injection if any identifier pays the order', async () => {
  const flaw: Partial<Handler> = {
    find: (shop, _, url) =>
      [...shop.orders.values()].find(({ token }) => token === url.searchParams.get('token')),
  };
  const { mistakes } = await auditOf(flaw, { only: ['identifier-sql', 'identifier-quote'] });
  expect(mistakes.map(({ name }) => name)).toEqual(['order-not-by-identifier']);
});

it.concurrent('an audit takes a token in the path of the ipn_url for one', async () => {
  const inPath: Partial<Handler> = {
    initiate: (fields) => ({ ...fields, ipn_url: (fields['ipn_url'] ?? '').replace('?token=', '/') }),
    isToken: (order, url) => url.pathname === `/ipn/${order.token}`,
  };
  const { cases } = await auditOf(inPath, { only: ['G'] });
  expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
});

it.concurrent('an audit finds a mail that is sent after the signature, and before the amount is compared', async () => {
  const flaw: Partial<Handler> = {
    isAmount: (order, form) => {
      order.credited++;
      return GOOD.isAmount(order, form);
    },
    pay: (order, form) => {
      GOOD.pay(order, form);
      order.credited--;
    },
  };
  const { cases } = await auditOf(flaw, { only: ['amount-too-low'] });
  expect(cases.at(-1)).toMatchObject({ verdict: 'fail', mistake: 'effects-before-checks', seen: '2/2' });
});

it.concurrent('an audit finds a token of the ipn_url that the customer sees', async () => {
  const flaw: Partial<Handler> = {
    initiate: (fields) => ({
      ...fields,
      cancel_url: fields['cancel_url'] + new URL(fields['ipn_url'] ?? '').search.replace('?', '&'),
    }),
  };
  const { cases } = await auditOf(flaw, { only: ['G'] });
  const bad = cases.filter(({ verdict }) => verdict !== 'pass');
  expect(bad).toMatchObject([
    { name: 'sandbox-known-token', verdict: 'at-risk', mistake: 'token-not-checked' },
  ]);
});

it.concurrent('an audit sees a shop that takes its own host from the headers of a proxy', async () => {
  let host: string | undefined;
  const flaw: Partial<Handler> = {
    see: ({ headers }) => {
      host = headers['x-forwarded-host']?.toString();
    },
    initiate: (fields) => ({
      ...fields,
      ipn_url: (fields['ipn_url'] ?? '').replace(/127\.0\.0\.1:\d+/, (own) => host ?? own),
    }),
  };
  const { cases } = await auditOf(flaw, (shop) => ({
    order: undefined,
    orderUrl: `${shop.url}/order`,
    only: ['initiate-other-host'],
  }));
  expect(cases.at(-1)).toMatchObject({ name: 'initiate-other-host', verdict: 'at-risk' });
});

describe.concurrent('an audit finds an order that no IPN can pay any more', () => {
  /** A shop whose orders fail for good when a request is wrong. */
  const failing =
    (isWrong: (order: Order, form: URLSearchParams, url: string) => boolean) =>
    async (only: readonly string[]) => {
      let orders: Map<string, Order> | undefined;
      const shop: Partial<Handler> = {
        see: ({ url = '', method }, body) => {
          if (!url.startsWith('/ipn') || method !== 'POST') return;
          for (const order of orders?.values() ?? []) {
            if (isWrong(order, new URLSearchParams(body.toString()), url))
              Object.assign(order, { status: 'failed', paid: false });
          }
        },
        pay: (order, form) => (order.status === 'failed' ? undefined : GOOD.pay(order, form)),
      };
      const { cases } = await auditOf(shop, (started) => {
        orders = started.orders;
        return { only };
      });
      return cases;
    };

  it('after a wrong amount', async () => {
    const isWrong = (order: Order, form: URLSearchParams) =>
      !order.paid && form.get('identifier') === order.identifier && amountOf(form) !== total(order);
    const cases = await failing(isWrong)(['amount-changed']);
    expect(cases.at(-1)).toMatchObject({
      verdict: 'fail',
      seen: '2/2',
      why: expect.stringMatching(/^After this request, the genuine IPN of the order no longer pays it/),
    });
  });

  it.each([
    [
      'pending',
      'cannot be paid by its genuine IPN',
      (order: Order, url: string) => !order.paid && !url.includes(order.token),
    ],
    ['paid', 'is not paid', ({ paid }: Order) => paid],
  ])('of another customer, %s before, among other cases', async (_, harm, isHit) => {
    const audited = failing((order, form, url) => form.size === 0 && isHit(order, url));
    const cases = await audited(['body-empty', 'robustness', 'amount']);
    expect(cases.find(({ name }) => name === 'body-empty')).toMatchObject({
      verdict: 'fail',
      seen: '2/2',
      mistake: 'order-not-by-identifier',
      why: expect.stringContaining(harm),
    });
  });
});

/** Passes connections on to a server, one at a time, like a server without workers. */
async function oneAtATime(target: string): Promise<{ url: string } & AsyncDisposable> {
  const { port } = new URL(target);
  let queue: Promise<unknown> = Promise.resolve();
  const server = createServer((client) => {
    client.on('error', () => {});
    queue = queue.then(() => {
      const shop = connect(Number(port), '127.0.0.1');
      shop.on('error', () => client.destroy());
      client.pipe(shop).pipe(client);
      return Promise.race([once(shop, 'close'), once(client, 'close')]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

it('an audit proves nothing by copies that a server handles one at a time', async () => {
  const { shop, audit } = await prepareAudit();
  await using front = await oneAtATime(shop.url);
  const only = ['copies-20', 'retry-while-running', 'replay-at-once'];
  const verdicts = async () =>
    (await audit({ only })).cases.map(({ name, verdict, why }) => [name, verdict, why]);
  const passed = await verdicts();
  expect(passed.map(([, verdict]) => verdict)).toEqual(['pass', 'pass', 'pass', 'pass']);
  shop.ipnUrl = `${front.url}/ipn`;
  const unproven = [expect.any(String), 'unproven', expect.stringContaining('one request at a time')];
  expect(await verdicts()).toEqual([...passed.slice(0, 2), unproven, unproven]);
});

it('an audit does not fail a handler that takes the payment and answers after the time limit of the emulator', async () => {
  let answered = 0;
  const slow: Partial<Handler> = {
    accept: (response) => {
      // The response to the control does not come.
      if (answered++ > 0) response.writeHead(200).end('OK');
    },
  };
  const { audit } = await prepareAudit(slow, { ipnTimeout: '300ms' });
  const { cases, notices } = await audit({ only: ['signature-garbage'] });
  expect(cases.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
  expect(notices).toEqual([expect.stringContaining('the audit waits 30 s for each answer')]);
});

describe.concurrent('an audit does not fail', () => {
  it('an honest record of IPNs, which each rejected one changes', async () => {
    let orders: Map<string, Order> | undefined;
    const { cases, mistakes } = await auditOf(
      {
        see: (_, body) => {
          const form = new URLSearchParams(body.toString());
          const order = orders?.get(form.get('identifier') ?? '');
          if (order) RECEIVED.set(order, [...(RECEIVED.get(order) ?? []), form.get('signature') ?? '']);
        },
      },
      (shop) => {
        orders = shop.orders;
        const probe = (identifier: string) => {
          const order = shop.orders.get(identifier);
          return order && { status: order.status, credited: order.credited, log: RECEIVED.get(order) ?? [] };
        };
        return { probe, only: ['A', 'H', 'replay-at-once'] };
      },
    );
    expect(mistakes).toEqual([]);
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  });

  it('a counter of visits', async () => {
    const visits = new Map<Order | undefined, number>();
    const count: Partial<Handler> = { onReturn: (order) => visits.set(order, (visits.get(order) ?? 0) + 1) };
    const { cases } = await auditOf(count, (shop) => ({
      probe: (identifier) => {
        const order = shop.orders.get(identifier);
        return order && { ...order, visits: visits.get(order) ?? 0 };
      },
      only: ['return-repeated'],
    }));
    expect(cases.map(({ verdict }) => verdict)).toEqual(['pass', 'pass']);
  });

  it('a rejected field that no gateway sends, which is a note', async () => {
    const strict: Partial<Handler> = {
      isWhole: (form, raw) => !form.has('version') && GOOD.isWhole(form, raw),
    };
    const { cases } = await auditOf(strict, { only: ['fields-extra'] });
    expect(cases.map(({ verdict }) => verdict)).toEqual(['pass', 'note']);
  });

  it('what moves with the orders of others when an IPN arrives', async () => {
    let [placed, shown] = [0, 0];
    const { cases } = await auditOf(
      {
        see: () => {
          shown = placed;
        },
      },
      (shop) => ({
        order: async () => {
          placed++;
          return shop.place();
        },
        probe: (identifier) => ({ ...JSON.parse(shop.probe(identifier)), orders: shown }),
        only: ['signature-missing', 'signature-garbage', 'replay-at-once'],
      }),
    );
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  });

  it('a redirect after a payment that was taken, which is a note', async () => {
    const { cases } = await auditOf(
      { accept: (response) => response.writeHead(302, { Location: '/thanks' }).end() },
      { only: ['answer', 'signature-garbage'] },
    );
    expect(Object.fromEntries(cases.map(({ name, verdict }) => [name, verdict]))).toEqual({
      control: 'pass',
      answer: 'note',
      'signature-garbage': 'pass',
    });
  });
});
