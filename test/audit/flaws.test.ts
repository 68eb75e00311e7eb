import { describe, expect, it } from 'vitest';
import { auditOf } from '../helpers/auditable.ts';
import { GOOD, type Handler, type Order, same, sign } from '../merchants/node-shop.ts';

const total = ({ total: price }: Order) => Number(price);
const amountOf = (form: URLSearchParams) => Number(form.get('data[amount]'));

/** The parts of each order that were paid. */
const PARTS = new WeakMap<Order, Map<string, number>>();
/** The IPNs that were received for each order. */
const RECEIVED = new WeakMap<Order, string[]>();

/** A good shop with one flaw, and the case that finds it. */
const FLAWS: Record<string, [found: string, flaw: Partial<Handler>]> = {
  'a tolerance of half a percent': [
    'amount-near',
    { isAmount: (order, form) => Math.abs(amountOf(form) - total(order)) <= total(order) * 0.005 },
  ],
  'the last of two amounts is verified, the first compared': [
    'amount-doubled',
    {
      isWhole: () => true,
      isSigned: (form, secret) =>
        same(
          form.get('signature') ?? '',
          sign(form.getAll('data[amount]').at(-1) ?? '', form.get('identifier') ?? '', secret),
        ),
    },
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
  'the return page pays with a reference': [
    'return-get-parameters',
    {
      onReturn: (order, url) => {
        if (order && url.searchParams.get('paid') === '1' && (url.searchParams.get('ref') ?? '').length >= 8)
          GOOD.pay(order, new URLSearchParams());
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
    expect(cases.at(-1)).toMatchObject({ name: 'signature-missing', verdict: 'fail', seen: '2/2' });
  });
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
