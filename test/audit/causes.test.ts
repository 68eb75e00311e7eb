import { describe, expect, it } from 'vitest';
import { auditCases } from '../../src/audit/audit.ts';
import { QUICK } from '../../src/audit/quick.ts';
import { auditOf } from '../helpers/auditable.ts';
import { GOOD, type Handler, type Order } from '../merchants/node-shop.ts';

/*
 * What an audit blames on a request, and what has another cause.
 */

/** A shop that sells one piece of its stock for each paid order. */
function selling() {
  const stock = { count: 1_000 };
  const pay: Handler['pay'] = (order, form) => {
    if (!order.paid) stock.count--;
    GOOD.pay(order, form);
  };
  return { stock, pay, probes: { stock: () => stock.count } };
}

const verdictsOf = ({ cases }: Awaited<ReturnType<typeof auditOf>>) =>
  Object.fromEntries(cases.map(({ name, verdict }) => [name, verdict]));

describe.concurrent('an audit does not blame a forgery', () => {
  it('for what the genuine IPN of another order sells', async () => {
    const { pay, probes } = selling();
    const report = await auditOf({ pay }, { probes, only: ['ipn-with-other'] });
    expect(verdictsOf(report)).toEqual({ control: 'pass', 'ipn-with-other': 'pass' });
  });

  it('unless it sells a piece, too', async () => {
    const { stock, pay, probes } = selling();
    const refuse: Handler['refuse'] = (response, form, keys) => {
      stock.count--;
      GOOD.refuse(response, form, keys);
    };
    const report = await auditOf({ pay, refuse }, { probes, only: ['ipn-with-other'] });
    expect(verdictsOf(report)).toMatchObject({ 'ipn-with-other': 'fail' });
  });

  it('for what happens without it, too', async () => {
    const looks = new Map<string, number>();
    // The warehouse packs each order but that of the control between two looks at it.
    const packed = (identifier: string) => {
      const seen = looks.get(identifier) ?? 0;
      looks.set(identifier, seen + 1);
      return looks.size > 1 && seen > 0 ? 1 : 0;
    };
    const { cases } = await auditOf({}, { probes: { packed }, only: ['signature-garbage'] });
    const why = 'the same happens without this request: The order is not paid, but this changed: packed.';
    expect(cases.at(-1)).toMatchObject({ verdict: 'unproven', seen: '2/2', why });
  });
});

it.concurrent('a shop that loses some payments is told so, and no other case is blamed for it', async () => {
  const orders: string[] = [];
  // Two in a row, which looks as if the case that uses them caused it, and a later one.
  const isLost = ({ identifier }: Order) => {
    if (!orders.includes(identifier)) orders.push(identifier);
    return [1, 2, 4].includes(orders.indexOf(identifier));
  };
  const isAmount: Handler['isAmount'] = (order, form) => !isLost(order) && GOOD.isAmount(order, form);
  const told: string[] = [];
  const { cases } = await auditOf(
    { isAmount },
    {
      only: ['every-payment', 'charset', 'replay-at-once'],
      onCase: ({ name, verdict }) => told.push(`${verdict} ${name}`),
    },
  );
  const [, found, replayed, charset] = cases;
  expect(found).toMatchObject({ verdict: 'fail', mistake: 'payments-lost' });
  expect(found?.why).toMatch(/did not pay it, twice, while that of /);
  expect(found?.curl?.match(/^curl /gm)).toHaveLength(2);
  expect(replayed).toMatchObject({ name: 'replay-at-once', verdict: 'pass' });
  const why = 'this shop also loses payments without this request';
  expect(charset).toMatchObject({ name: 'charset', verdict: 'unproven', why });
  // Nobody is told of a conviction that does not hold.
  expect(told).toEqual(['pass control', 'pass replay-at-once', 'fail every-payment', 'unproven charset']);
});

it.concurrent('a shop that closes an order when the next is placed loses payments, and harms no stranger', async () => {
  let newest = '';
  const isOpen = ({ identifier, paid }: Order) => paid || identifier === newest;
  const report = await auditOf(
    {
      initiate: (fields) => {
        newest = fields['identifier'] ?? '';
        return fields;
      },
      isAmount: (order, form) => isOpen(order) && GOOD.isAmount(order, form),
      show: (order, keys) => ({ ...GOOD.show(order, keys), ...(!isOpen(order) && { status: 'closed' }) }),
    },
    { only: ['D', 'every-payment'] },
  );
  const failed = report.cases.filter(({ verdict }) => verdict === 'fail');
  expect(failed.map(({ name }) => name)).toEqual(['every-payment']);
  // Each order that is tried again closes others.
  expect(report.shop.orders.size).toBeLessThan(45);
});

it.concurrent('an identifier that is made of the time is waited for, and named', async () => {
  let count = 0;
  // The first two orders are placed in the same second.
  const identifier = () => `T17959312${String(Math.max(count++ - 1, 0)).padStart(2, '0')}`;
  const report = await auditOf({ identifier }, { only: ['signature-garbage', 'identifier-repeated'] });
  expect(verdictsOf(report)).toEqual({
    control: 'pass',
    'signature-garbage': 'pass',
    'identifier-repeated': 'fail',
  });
});

it.concurrent('cases whose requests must be rejected share an order, which is then paid', async () => {
  const report = await auditOf({}, { only: ['D', '-charge-changed'] });
  const { shop, cases } = report;
  expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  const sharing = Math.ceil((cases.length - 1) / 10);
  expect([...shop.orders.values()].map(({ paid }) => paid)).toEqual(Array(sharing + 1).fill(true));
});

it('the name of each quick case is that of a case', () => {
  const names = auditCases().map(({ name }) => name);
  expect([...QUICK].filter((name) => !names.includes(name))).toEqual([]);
});

it.concurrent('--log takes a pattern, and holds for effects', async () => {
  let visits = 0;
  const refuse: Handler['refuse'] = (response, form, keys) => {
    visits++;
    GOOD.refuse(response, form, keys);
  };
  const probes = { log_visits: () => visits };
  const audit = (log: string[]) => auditOf({ refuse }, { probes, log, only: ['signature-garbage'] });
  expect(verdictsOf(await audit([]))).toMatchObject({ 'signature-garbage': 'fail' });
  expect(verdictsOf(await audit(['log_*']))).toMatchObject({ 'signature-garbage': 'pass' });
});
