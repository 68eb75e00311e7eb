import { describe, expect, it, onTestFinished } from 'vitest';
import { isCountOrLog } from '../../src/audit/case.ts';
import type { AuditOptions } from '../../src/contract/audit-options.ts';
import { auditHeadline } from '../../src/contract/audit-summary.ts';
import { startGatewaySim } from '../../src/index.ts';
import { seedOfTest } from '../helpers/seed.ts';
import { GOOD, type Handler, startShop } from '../merchants/node-shop.ts';

const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

async function audited(changed: Partial<Handler>, options: Partial<AuditOptions> = {}) {
  const sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
  onTestFinished(() => sim.stop());
  const shop = await startShop(sim, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const probing = { probe: shop.probe, paidWhen: '.status=paid', orderAmount: '.total' };
  const report = await sim.audit({ ipnUrl: shop.ipnUrl, order: shop.place, ...probing, ...options });
  const verdict = (name: string) => report.cases.find((one) => one.name === name);
  return { shop, report, verdict };
}

const UNSIGNED: Partial<Handler> = { isWhole: () => true, isSigned: () => true };

describe('the attacked address', () => {
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
    const { verdict, shop } = await audited({}, { only: ['sandbox-for-live'] });
    const tokens = [...shop.orders.values()].map(({ token }) => token);
    const sent = verdict('sandbox-for-live')?.sent ?? '';
    expect(verdict('sandbox-for-live')?.verdict).toBe('pass');
    expect(tokens.filter((token) => sent.includes(token))).toHaveLength(1);
    const [identifier = ''] = [...shop.orders].find(([name]) => sent.includes(`identifier=${name}`)) ?? [];
    expect(sent).not.toContain(shop.orders.get(identifier)?.token);
  });

  it("proves nothing if its route differs from the control's and has no handler", async () => {
    let count = 0;
    const { verdict } = await audited(
      {
        initiate: (fields) => (count++ ? { ...fields, ipn_url: 'http://127.0.0.1:9/ipn' } : fields),
      },
      { only: ['signature-missing'] },
    );
    expect(verdict('signature-missing')).toMatchObject({
      verdict: 'unproven',
      why: 'no response from http://127.0.0.1:9/ipn, which has not accepted a genuine IPN',
    });
  });
});

describe('a forged IPN', () => {
  const counting = (change: (order: { charge: string; credited: number }) => unknown): Partial<Handler> => {
    let shopOrders = new Map();
    return {
      find: (shop, form) => {
        shopOrders = shop.orders;
        return GOOD.find(shop, form, null as never);
      },
      isSigned: (form, secret, request) => {
        const held = GOOD.isSigned(form, secret, request);
        const order = shopOrders.get(form.get('identifier') ?? '');
        if (!held && order && !order.paid) change(order);
        return held;
      },
    };
  };
  const only = ['signature-garbage', 'failed-badly-signed'];

  it('is a note if the order counts it', async () => {
    const { verdict, report } = await audited(
      counting((order) => void order.credited++),
      { only },
    );
    // The shop has no orders before the control.
    expect([verdict('signature-garbage')?.verdict, verdict('failed-badly-signed')?.verdict]).toEqual([
      'note',
      'note',
    ]);
    expect(report.mistakes).toEqual([]);
  });

  it('is a failure if it changes the order', async () => {
    const { verdict } = await audited(
      counting((order) => Object.assign(order, { charge: 'payment failed' })),
      { only },
    );
    expect(verdict('signature-garbage')).toMatchObject({
      verdict: 'fail',
      // The shop checks the signature: its mistake is what it does afterwards.
      mistake: 'status-not-checked',
      why: expect.stringContaining('payment failed'),
    });
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

it('a return page without a response proves nothing', async () => {
  const { verdict } = await audited(
    { initiate: (fields) => ({ ...fields, success_url: 'http://127.0.0.1:9/paid' }) },
    { only: ['return-get'] },
  );
  expect(verdict('return-get')).toMatchObject({
    verdict: 'unproven',
    why: 'no response from http://127.0.0.1:9/paid',
  });
});

describe('once', () => {
  it('is unproven without a probe that shows the effects of a payment', async () => {
    const status = (probe: (identifier: string) => string) => (identifier: string) =>
      JSON.stringify({ status: JSON.parse(probe(identifier)).status });
    const sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
    onTestFinished(() => sim.stop());
    const shop = await startShop(sim);
    onTestFinished(() => shop[Symbol.asyncDispose]());
    const looks = {
      probe: status(shop.probe),
      paidWhen: '.status=paid',
      only: ['replay-at-once', 'copies-2'],
    };
    const audit = (more: Partial<AuditOptions>) =>
      sim.audit({ ipnUrl: shop.ipnUrl, order: shop.place, ...looks, ...more });
    const { cases } = await audit({});
    expect(cases.slice(1).map(({ verdict, why }) => [verdict, why])).toEqual([
      ['unproven', expect.stringContaining('--probe mails=')],
      ['unproven', expect.stringContaining('--probe mails=')],
    ]);
    const credited = (identifier: string) => shop.orders.get(identifier)?.credited;
    const named = await audit({ probes: { credited } });
    expect(named.summary).toMatchObject({ pass: 3, unproven: 0 });
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
      { only: ['replay-at-once', 'replay-other-trx', 'copies-2'] },
    );
    expect([verdict('replay-at-once')?.verdict, verdict('replay-other-trx')?.verdict]).toEqual([
      'pass',
      'fail',
    ]);
    expect(verdict('copies-2')?.curl).toMatch(/^curl --parallel --parallel-immediate [\s\S]*--next /);
  });
});

describe('a harmless effect', () => {
  it('is a note if the customer pays more than the order costs', async () => {
    const { verdict, report } = await audited(
      { isAmount: (order, form) => Number(form.get('data[amount]')) >= Number(order.total) },
      { only: ['amount-too-high', 'amount-exponent'] },
    );
    expect([verdict('amount-too-high')?.verdict, verdict('amount-exponent')?.verdict]).toEqual([
      'note',
      'note',
    ]);
    expect(auditHeadline(report.cases)).toMatch(/^No attack worked/);
  });

  it('is a pass if a copy with another charge changes no charge', async () => {
    const { verdict } = await audited(
      {
        pay: (order, form) =>
          void Object.assign(order, {
            paid: true,
            status: 'paid',
            credited: order.credited + 1,
            charge: form.get('data[charge]') ?? '',
          }),
      },
      { only: ['charge-changed'] },
    );
    expect(verdict('charge-changed')?.verdict).toBe('fail');
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

  it('is a pass if every unknown order is answered with 500', async () => {
    const refuse: Handler['refuse'] = (response) => response.writeHead(500).end('no such order');
    const every = await audited({ refuse }, { only: ['identifier-sql', 'identifier-markup'] });
    expect(every.report.summary).toMatchObject({ pass: 3, fail: 0 });
    const some = await audited(
      {
        refuse: (response, form) =>
          (form.get('identifier') ?? '').includes("'")
            ? refuse(response, form, null as never)
            : GOOD.refuse(response, form, null as never),
      },
      { only: ['identifier-sql'] },
    );
    expect(some.verdict('identifier-sql')?.verdict).toBe('fail');
  });
});

describe('a report', () => {
  it('states the value of unpaid goods, and groups cases by mistake', async () => {
    const { report } = await audited(UNSIGNED, { only: ['A', 'I', 'secret-empty', 'failed-unsigned-paid'] });
    const [first] = report.mistakes;
    // A handler that accepts any signature cannot make another mistake with it.
    expect(report.mistakes).toHaveLength(1);
    expect(first).toMatchObject({
      name: 'signature-not-checked',
      cost: expect.stringContaining('without a payment'),
    });
    expect(first?.cases).toEqual(
      expect.arrayContaining(['signature-garbage', 'origin-spoofed', 'secret-empty']),
    );
    expect(report.cases.find(({ name }) => name === 'signature-garbage')?.fix).toBe(first?.fix);
    expect(auditHeadline(report.cases)).toMatch(
      /^Not safe: \d+\.\d0 USD of goods were released unpaid in \d ways? \(\d+ of \d+ attacks, \d mistakes?\)\.$/,
    );
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
    const sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
    onTestFinished(() => sim.stop());
    const shop = await startShop(sim, confirms);
    onTestFinished(() => shop[Symbol.asyncDispose]());
    const { cases } = await sim.audit({
      ...{ ipnUrl: shop.ipnUrl, order: shop.place, probe: shop.probe, paidWhen: '.status=paid' },
      ...{ confirmUrl: `${shop.url}/paid?order={identifier}`, only: ['confirm-get', 'confirm-post'] },
    });
    expect(cases.slice(1)).toMatchObject([
      { name: 'confirm-get', verdict: 'fail' },
      { name: 'confirm-post', verdict: 'fail' },
    ]);
  });

  it('contains a command that repeats a wrong initiate request', async () => {
    const { verdict } = await audited(
      { initiate: (fields) => ({ ...fields, ipn_url: fields['success_url'] ?? '' }) },
      { only: ['ipn-url-is-success-url'] },
    );
    expect(verdict('ipn-url-is-success-url')).toMatchObject({
      verdict: 'fail',
      curl: expect.stringMatching(/^curl .*\/sandbox\/payment\/initiate[\s\S]*public_key=/),
    });
  });

  it('names the address and key for a shop that initiated no payment', async () => {
    const sim = await startGatewaySim({ secretKey: SECRET });
    onTestFinished(() => sim.stop());
    const order = () => Promise.resolve();
    const { cases } = await sim.audit({
      ipnUrl: 'http://127.0.0.1:9/ipn',
      order,
      timeoutMs: 300,
      only: ['control'],
    });
    expect(cases[0]?.why).toContain(
      `no initiate request reached ${sim.url}. Check the gateway address and the public key`,
    );
  });

  it.each([
    [
      'an old key',
      { publicKey: 'pub_of_yesterday' },
      /answered 500 “Invalid api key”: .* rejected the initiate request public_key=pub_of_yesterday.* with .*Invalid api key/,
    ],
    [
      'another address',
      { initiateUrl: 'http://127.0.0.1:9/initiate' },
      /answered 500 “fetch failed”: no initiate request reached http/,
    ],
  ])('describes the failure of an order: a shop with %s', async (_, wrong, why) => {
    const sim = await startGatewaySim({ secretKey: SECRET });
    onTestFinished(() => sim.stop());
    const { initiateUrl, publicKey, secretKey } = sim;
    const shop = await startShop({ initiateUrl, publicKey, secretKey, ...wrong });
    onTestFinished(() => shop[Symbol.asyncDispose]());
    const { cases } = await sim.audit({
      ipnUrl: shop.ipnUrl,
      orderUrl: `${shop.url}/order`,
      only: ['control'],
    });
    expect(cases[0]).toMatchObject({ verdict: 'unproven', why: expect.stringMatching(why) });
  });

  it.each([
    [401, 'Invalid signature', '401 “Invalid signature”', 'hash_hmac'],
    [419, 'CSRF token mismatch', 'CSRF token', 'CSRF protection'],
    [400, 'amount is missing', '400 “amount is missing”', 'does not show the cause'],
  ])('bases its advice on the response to a correct IPN: %i %s', async (status, body, why, fix) => {
    const refuse: Handler['refuse'] = (response) => response.writeHead(status).end(body);
    const { verdict } = await audited({ isSigned: () => false, refuse }, { only: ['control'] });
    expect(verdict('control')).toMatchObject({
      verdict: 'fail',
      why: expect.stringContaining(why),
      fix: expect.stringContaining(fix),
    });
  });

  it('is delayed until the shop listens, up to a time limit', async () => {
    const sim = await startGatewaySim({ secretKey: SECRET });
    onTestFinished(() => sim.stop());
    const ipnUrl = 'http://127.0.0.1:9/ipn';
    await expect(sim.audit({ ipnUrl, waitMs: 200 })).rejects.toMatchObject({
      code: 'timed_out',
      message: 'nothing listens at 127.0.0.1:9 after 0.2 s',
    });
  });
});
