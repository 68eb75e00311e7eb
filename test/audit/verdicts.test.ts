import { describe, expect, it } from 'vitest';
import { auditCases } from '../../src/audit/audit.ts';
import { auditHeadline } from '../../src/audit/summary.ts';
import { AUDIT_CLASSES, AUDIT_GROUPS } from '../../src/audit/vocabulary.ts';
import { isCountOrLog } from '../../src/shop/probe.ts';
import { auditOf } from '../helpers/auditable.ts';
import { GOOD, type Handler, type Order, SECRET, type Shop } from '../merchants/node-shop.ts';

async function audited(changed: Partial<Handler>, options: Parameters<typeof auditOf>[1]) {
  const report = await auditOf(changed, options);
  const verdict = (name: string) => report.cases.find((one) => one.name === name);
  return { report, verdict };
}

const UNSIGNED: Partial<Handler> = { isWhole: () => true, isSigned: () => true };

describe.concurrent('the attacked address', () => {
  const withoutToken = { isToken: () => true, identifier: (count: number) => `S-${count}` };

  it('is the ipn_url of the order, and not the argument', async () => {
    const { verdict, report } = await audited(
      {
        ...withoutToken,
        initiate: (fields) => ({ ...fields, ipn_url: `${fields['ipn_url']}&cart_id=7118` }),
      },
      { ipnUrl: 'http://127.0.0.1:9/typo', only: ['sandbox-for-live', 'splice'] },
    );
    expect(verdict('control')?.verdict).toBe('pass');
    expect(report.notices).toEqual([
      expect.stringContaining('the audit attacks it instead of http://127.0.0.1:9/typo'),
    ]);
    for (const name of ['sandbox-for-live', 'splice']) {
      expect(verdict(name)).toMatchObject({
        verdict: 'at-risk',
        sent: expect.stringContaining('cart_id=7118'),
      });
    }
  });

  it("has the token of the attacker's order instead of the unguessable one", async () => {
    const { verdict, report } = await audited({}, { only: ['sandbox-for-live'] });
    const { orders } = report.shop;
    const tokens = [...orders.values()].map(({ token }) => token);
    const sent = verdict('sandbox-for-live')?.sent ?? '';
    expect(verdict('sandbox-for-live')?.verdict).toBe('pass');
    expect(tokens.filter((token) => sent.includes(token))).toHaveLength(1);
    const [identifier = ''] = [...orders].find(([name]) => sent.includes(`identifier=${name}`)) ?? [];
    expect(sent).not.toContain(orders.get(identifier)?.token);
  });

  it("proves nothing if its route differs from the control's and has no handler", async () => {
    let count = 0;
    const { verdict } = await audited(
      {
        refuse: (response) => response.writeHead(404).end(),
        initiate: (fields) =>
          count++ ? { ...fields, ipn_url: `${fields['ipn_url']}`.replace('/ipn', '/nowhere') } : fields,
      },
      { only: ['signature-missing'] },
    );
    expect(verdict('signature-missing')).toMatchObject({
      verdict: 'unproven',
      why: expect.stringMatching(
        /^status 404 from http:\S+\/nowhere\S*, which has not accepted a genuine IPN$/,
      ),
    });
  });
});

describe.concurrent('a forged IPN', () => {
  const counting = (change: (order: Order) => unknown): Partial<Handler> => ({
    isSigned: () => true,
    find: (shop, form) => {
      const order = shop.orders.get(form.get('identifier') ?? '');
      if (GOOD.isSigned(form, SECRET, null as never)) return order;
      if (order && !order.paid) change(order);
      return undefined;
    },
  });
  const only = ['signature-garbage', 'failed-forged'];

  it('is a failure if the order counts it, unless that is said to be a record', async () => {
    const change = counting((order) => void order.credited++);
    const { verdict } = await audited(change, { only });
    expect(verdict('signature-garbage')).toMatchObject({
      verdict: 'fail',
      why: expect.stringContaining('say so with --log .credited.'),
    });
    const { verdict: named, report } = await audited(change, { only, log: ['.credited'] });
    expect([named('signature-garbage')?.verdict, named('failed-forged')?.verdict]).toEqual(['pass', 'pass']);
    expect(report.mistakes).toEqual([]);
  });

  it('is a failure if it changes the order', async () => {
    const { verdict } = await audited(
      counting((order) => Object.assign(order, { charge: 'payment failed' })),
      { only: ['signature-literal', ...only] },
    );
    expect(verdict('signature-garbage')).toMatchObject({
      verdict: 'fail',
      // The shop checks the signature: its mistake is what it does afterwards.
      mistake: 'effects-before-checks',
      why: expect.stringContaining('payment failed'),
    });
    // One request proves the effect for all that are forged.
    expect(verdict('signature-literal')).toMatchObject({
      verdict: 'skipped',
      why: 'not tried twice: signature-garbage proves the same effect',
    });
  });
});

it.concurrent('a canceled IPN that fulfills a paid order again is a failure', async () => {
  const { verdict } = await audited(
    {
      isSuccess: () => true,
      pay: (order) => void Object.assign(order, { paid: true, status: 'paid', credited: order.credited + 1 }),
    },
    { only: ['canceled-after-success'] },
  );
  expect(verdict('canceled-after-success')).toMatchObject({
    verdict: 'fail',
    mistake: 'status-not-checked',
    why: expect.stringContaining('like a second payment'),
  });
});

const DAY_MS = 86_400_000;
const timeIn = (ms: number) => new Date(Date.now() + ms).toISOString();

it.each([
  ['a count', { count: 1 }, { count: 2 }, true],
  ['a longer list', { log: [] }, { log: ['a forged IPN'] }, true],
  ['a later time', { at: timeIn(-2_000) }, { at: timeIn(0).replace('T', ' ') }, true],
  ['a first time', { failedAt: null }, { failedAt: timeIn(0) }, false],
  ['a longer access', { until: timeIn(30 * DAY_MS) }, { until: timeIn(60 * DAY_MS) }, false],
  ['a word', { status: 'pending' }, { status: 'failed' }, false],
  ['an amount as text', { total: '49.90' }, { total: '0.49' }, false],
])('a count or log line is harmless, a change of the order is not: %s', (_, before, after, isHarmless) => {
  expect(isCountOrLog(JSON.stringify(before), JSON.stringify(after))).toBe(isHarmless);
});

it.concurrent('a return page without a response proves nothing', async () => {
  const { verdict } = await audited(
    { initiate: (fields) => ({ ...fields, success_url: 'http://127.0.0.1:9/paid' }) },
    { only: ['return-unpaid'] },
  );
  expect(verdict('return-unpaid')).toMatchObject({
    verdict: 'unproven',
    why: 'no response from http://127.0.0.1:9/paid',
  });
});

describe.concurrent('a case of class once', () => {
  it('is unproven without a probe that shows the effects of a payment', async () => {
    const looks = ({ probe }: Shop) => ({
      probe: (identifier: string) => JSON.stringify({ status: JSON.parse(probe(identifier)).status }),
      orderAmount: undefined,
      only: ['replay-at-once', 'copies-20'],
    });
    const { report } = await audited({}, looks);
    expect(report.cases.slice(1).map(({ verdict, why }) => [verdict, why])).toEqual([
      ['unproven', expect.stringContaining('--effect mails=')],
      ['unproven', expect.stringContaining('--effect mails=')],
    ]);
    const named = await audited({}, (shop) => ({
      ...looks(shop),
      probes: { credited: (identifier) => shop.orders.get(identifier)?.credited },
    }));
    expect(named.report.summary).toMatchObject({ pass: 3, unproven: 0 });
  });

  it('fails for a copy with another transaction id, and curl can repeat simultaneous copies', async () => {
    const seen = new Set<string | null>();
    const { verdict } = await audited(
      {
        pay: (order, form) => {
          const trx = form.get('data[payment_trx]');
          if (seen.has(trx)) return;
          seen.add(trx);
          Object.assign(order, { paid: true, status: 'paid', credited: order.credited + 1 });
        },
      },
      { only: ['replay-at-once', 'replay-other-trx', 'copies-20'] },
    );
    expect([verdict('replay-at-once')?.verdict, verdict('replay-other-trx')?.verdict]).toEqual([
      'pass',
      'fail',
    ]);
    expect(verdict('copies-20')?.curl).toMatch(
      /^# Before it: .*\ncurl --parallel --parallel-immediate [\s\S]*--next /,
    );
  });
});

describe.concurrent('a harmless effect', () => {
  it('is a note if the customer pays more than the order costs', async () => {
    const { verdict, report } = await audited(
      { isAmount: (order, form) => Number(form.get('data[amount]')) >= Number(order.total) },
      { only: ['amount-too-high', 'amount-exponent'] },
    );
    expect([verdict('amount-too-high')?.verdict, verdict('amount-exponent')?.verdict]).toEqual([
      'note',
      'note',
    ]);
    expect(auditHeadline(report)).toMatch(/^No attack worked/);
  });

  it('passes if a copy with another charge changes no charge', async () => {
    const replayed = await audited(
      {
        pay: (order) =>
          void Object.assign(order, { paid: true, status: 'paid', credited: order.credited + 1 }),
      },
      { only: ['charge-changed', 'replay-at-once'] },
    );
    expect(replayed.verdict('charge-changed')?.verdict).toBe('pass');
    expect(replayed.verdict('replay-at-once')?.verdict).toBe('fail');
  });

  it('passes if the shop answers 500 to every unknown order', async () => {
    const refuse: Handler['refuse'] = (response) => response.writeHead(500).end('no such order');
    const { report } = await audited({ refuse }, { only: ['identifier-sql', 'identifier-markup'] });
    expect(report.summary).toMatchObject({ pass: 3, fail: 0 });
  });
});

describe('every case', () => {
  const cases = auditCases();

  it('has a name of its own, a known group and class, and a description', () => {
    const names = cases.map(({ name }) => name);
    expect(names).toHaveLength(new Set(names).size);
    for (const { name, group, class: kind, about } of cases) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect([name, group in AUDIT_GROUPS, kind in AUDIT_CLASSES]).toEqual([name, true, true]);
      expect([name, about]).toEqual([name, expect.stringMatching(/^[A-Z0-9].*\.$/)]);
    }
  });
});

describe.concurrent('an answered IPN that leaves its order unpaid', () => {
  const only = ['signature-missing'];

  it.each([
    ['an address without a page', { probeUrl: '/nowhere/{identifier}' }, /^the probe answered 405, even/],
    [
      'the address of another order',
      { probeUrl: '/orders/x{identifier}' },
      /^the probe does not know the order, .*unknown/,
    ],
    [
      'a path that the probe does not return',
      { paidWhen: '.state=paid' },
      /needs \.state, and the probe's output has .*status/,
    ],
    [
      'text instead of JSON',
      { probe: () => 'order 1: paid' },
      /needs \.status, and the probe's output is not a JSON/,
    ],
    [
      'a number instead of a word',
      { paidWhen: '.credited=yes' },
      /credited from 0 to 1.*\.credited=yes still does not match$/,
    ],
    [
      'another word for paid',
      { paidWhen: '.status=PAID' },
      /status from "pending" to "paid".*\.status=PAID still does not match$/,
    ],
    [
      'a pattern that never matches',
      { paidWhen: '/Paid/' },
      /status from "pending" to "paid".*\/Paid\/ still does not match$/,
    ],
  ] as const)('proves nothing because of %s', async (_, given, why) => {
    const { report, verdict } = await audited({}, ({ url, probe }) => {
      const { probeUrl, ...more } = { probeUrl: undefined, probe, ...given };
      return probeUrl === undefined
        ? { ...more, only }
        : { probe: undefined, probeUrl: url + probeUrl, paidWhen: '/paid/', orderAmount: undefined, only };
    });
    expect(report.cases.map(({ verdict }) => verdict)).toEqual(['unproven', 'unproven']);
    expect(verdict('control')?.why).toMatch(why);
    expect(report.missing).toBe(`nothing is proven: ${verdict('control')?.why}`);
  });

  it.each([
    ['ignores it', () => {}],
    ['counts it', (order: Order) => void order.credited++],
    ['stores a failure', (order: Order) => void Object.assign(order, { status: 'failed' })],
  ])('is a failure of a handler that %s', async (_, pay) => {
    const { report, verdict } = await audited({ pay }, { only });
    expect([verdict('control')?.verdict, report.missing]).toEqual(['fail', null]);
  });
});

describe.concurrent('a report', () => {
  it('states the value of unpaid goods, and groups cases by mistake', async () => {
    const { report } = await audited(UNSIGNED, { only: ['A', 'I', 'secret-empty', 'forged-for-paid'] });
    const [first] = report.mistakes;
    // A handler that accepts any signature cannot make another mistake with it.
    expect(report.mistakes).toHaveLength(1);
    expect(first).toMatchObject({
      name: 'signature-not-checked',
      cost: expect.stringMatching(/without a payment\..* Released unpaid: \d+\.\d0 USD\.$/),
    });
    expect(first?.cases).toEqual(
      expect.arrayContaining(['signature-garbage', 'origin-spoofed', 'secret-empty']),
    );
    expect(report.cases.find(({ name }) => name === 'signature-garbage')?.fix).toBe(first?.fix);
    expect(auditHeadline(report)).toMatch(
      /^Not safe: \d+ of \d+ attacks got (an order|orders) worth \d+\.\d0 USD without paying for (it|them)\.$/,
    );
  });

  it('counts an order that a cancellation paid as released goods', async () => {
    const { verdict } = await audited({ isSuccess: () => true }, { only: ['canceled-before-success'] });
    expect(verdict('canceled-before-success')).toMatchObject({
      verdict: 'fail',
      unpaid: { amount: expect.stringMatching(/^\d+\.\d\d$/), currency: 'USD' },
    });
  });

  it('shows the fix in the language of the shop', async () => {
    const { verdict } = await audited(
      {
        ...UNSIGNED,
        accept: (response) => response.writeHead(200, { 'X-Powered-By': 'PHP/8.2' }).end('OK'),
      },
      { only: ['signature-garbage'] },
    );
    expect(verdict('signature-garbage')?.fix).toMatch(/\nPHP: /);
    expect(verdict('signature-garbage')?.fix).not.toMatch(/Node: |Python: /);
    expect(verdict('signature-garbage')?.code).toEqual({ PHP: expect.any(String) });
  });

  it('includes attacks on the confirmation URL', async () => {
    const confirms: Partial<Handler> = {
      onReturn: (order, url) => {
        if (order && url.searchParams.get('status') === 'success')
          Object.assign(order, { paid: true, status: 'paid' });
      },
    };
    const { report } = await audited(confirms, ({ url }) => ({
      confirmUrl: `${url}/paid?order={identifier}`,
      only: ['confirm-unpaid'],
    }));
    expect(report.cases.slice(1)).toMatchObject([{ name: 'confirm-unpaid', verdict: 'fail' }]);
  });

  it('contains a command that repeats a wrong initiate request', async () => {
    const { verdict } = await audited(
      { initiate: (fields) => ({ ...fields, ipn_url: fields['success_url'] ?? '' }) },
      // A probe would wait for the order to be paid, which it never is.
      { probe: undefined, paidWhen: undefined, only: ['ipn-url-is-success-url'] },
    );
    expect(verdict('ipn-url-is-success-url')).toMatchObject({
      verdict: 'fail',
      curl: expect.stringMatching(/^curl .*\/sandbox\/payment\/initiate[\s\S]*public_key=/),
    });
  });

  it('names the address and key for a shop that initiated no payment', async () => {
    const { report, verdict } = await audited(
      {},
      { order: async () => {}, timeoutMs: 300, only: ['control'] },
    );
    expect(verdict('control')?.why).toContain(
      `no initiate request reached ${report.sim.url}. Check how the order is placed, and which gateway address and public key`,
    );
  });

  it('describes the failure of an order from a shop with an old key', async () => {
    const { verdict } = await audited(
      { initiate: (fields) => ({ ...fields, public_key: 'pub_of_yesterday' }) },
      ({ url }) => ({ order: undefined, orderUrl: `${url}/order`, only: ['control'] }),
    );
    const why =
      /answered 500 “Invalid api key”, and .* rejected the initiate request public_key=pub_of_yesterday.* with .*Invalid api key/;
    expect(verdict('control')).toMatchObject({ verdict: 'unproven', why: expect.stringMatching(why) });
  });

  it.each([
    [401, 'Invalid signature', '401 “Invalid signature”', 'hash_hmac'],
    [419, 'CSRF token mismatch', 'CSRF token', 'CSRF protection'],
    [400, 'amount is missing', '400 “amount is missing”', 'does not show the cause'],
  ])('bases its fix on the response to a correct IPN: %i %s', async (status, body, why, fix) => {
    const refuse: Handler['refuse'] = (response) => response.writeHead(status).end(body);
    const { verdict } = await audited({ isSigned: () => false, refuse }, { only: ['control'] });
    expect(verdict('control')).toMatchObject({
      verdict: 'fail',
      why: expect.stringContaining(why),
      fix: expect.stringContaining(fix),
    });
  });
});
