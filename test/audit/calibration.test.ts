import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { auditOf, prepareAudit } from '../helpers/auditable.ts';
import { MUTANTS } from '../merchants/mutants.ts';
import { GOOD, type Handler, sign } from '../merchants/node-shop.ts';

const verdicts = ({ cases }: { cases: readonly { name: string; verdict: string }[] }) =>
  Object.fromEntries(cases.map(({ name, verdict }) => [name, verdict]));

describe.concurrent('a side effect', () => {
  it('is not assumed if other orders change shared stock', async () => {
    let stock = 1_000;
    const pay: Handler['pay'] = (order, form) => {
      if (!order.paid) stock--;
      GOOD.pay(order, form);
    };
    // This probe uses an order's identifier but reports the shared stock.
    const { cases } = await auditOf(
      { pay },
      {
        probes: { stock: (identifier) => `${identifier}: ${stock}` },
        only: ['A', 'replay-at-once', 'copies-2', 'ipn-with-return'],
      },
    );
    expect(cases.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'skipped')).toEqual([]);
  });

  it('is not assumed if other orders change a balance in the probe output of the order', async () => {
    let balance = 0;
    const pay: Handler['pay'] = (order, form) => {
      if (!order.paid) balance += Number(order.total);
      GOOD.pay(order, form);
    };
    const { cases } = await auditOf({ pay }, (shop) => ({
      probe: (identifier) => ({
        ...JSON.parse(shop.probe(identifier)),
        balance: `${balance.toFixed(2)} USD`,
      }),
      only: ['A', 'B', 'H', 'name-markup', 'copies-2'],
    }));
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  });

  it('is not assumed if the time changes', async () => {
    const time = (identifier: string) => `${identifier} at ${new Date().toISOString().slice(11, 19)}`;
    const options = { probes: { time }, only: ['signature-missing', 'copies-2'] };
    const { notices, summary } = await auditOf({}, options);
    expect(notices).toEqual([expect.stringContaining('"time" changes without a payment')]);
    expect(summary.fail).toBe(0);
  });

  it.each([
    ['the copy of an IPN', 'a copy pays again', 'replay-at-once'],
    ['a forged IPN', 'an unsigned error marks an order that is paid later', 'error-unsigned'],
  ])('of %s is detected despite a value that always changes', async (_, name, only) => {
    const handler = MUTANTS.find((one) => one.name === name)?.handler ?? {};
    let looks = 0;
    const lookings = {
      json: (shown: string) => ({ ...JSON.parse(shown), seen: { looks: looks++ } }),
      text: (shown: string) => `${shown.replace(/["{}]/g, '')} look ${looks++}`,
    };
    const audited = async (look: (shown: string) => unknown) => {
      const report = await auditOf(handler, (shop) => ({
        probe: (identifier) => look(shop.probe(identifier)),
        paidWhen: '/status"?:"?paid/',
        only: [only],
      }));
      expect(report.notices).toEqual([expect.stringContaining('the probe output changes without a payment')]);
      return verdicts(report)[only];
    };
    // In a text, numbers that change and numbers that count cannot be told apart.
    const byText = only === 'replay-at-once' ? 'unproven' : 'fail';
    expect([await audited(lookings.json), await audited(lookings.text)]).toEqual(['fail', byText]);
  });

  it('can be a delayed e-mail for each copy', async () => {
    const mails: string[] = [];
    const pay: Handler['pay'] = (order, form) => {
      GOOD.pay(order, form);
      setTimeout(() => mails.push(order.identifier), 150);
    };
    const sent = (identifier: string) => mails.filter((one) => one === identifier).length;
    const report = await auditOf({ pay }, { probes: { mails: sent }, only: ['replay-at-once', 'copies-2'] });
    expect(verdicts(report)).toMatchObject({ 'replay-at-once': 'fail', 'copies-2': 'fail' });
  });
});

it('a case with several requests names the request that succeeded', async () => {
  const signed = (form: URLSearchParams) =>
    sign(form.get('data[amount]') ?? '', form.get('identifier') ?? '', 'changeme');
  const { audit } = await prepareAudit({
    isSigned: (form, secret, request) =>
      form.get('signature') === signed(form) || GOOD.isSigned(form, secret, request),
  });
  const { cases } = await audit({ only: ['secret-of-documentation'] });
  const sent = new URLSearchParams(cases[1]?.sent?.split(': ')[1]);
  expect([cases[1]?.verdict, sent.get('signature')]).toEqual(['fail', signed(sent)]);
});

it('a copy of an IPN has the same bytes as the IPN that the emulator would send', async () => {
  const bodies: string[] = [];
  const { sim, audit } = await prepareAudit({
    isWhole: (form, raw) => {
      bodies.push(raw);
      return GOOD.isWhole(form, raw);
    },
  });
  await sim.clock.freeze(new Date('2040-01-01T00:00:00Z'));
  await audit({ only: ['replay-at-once'] });
  const [ofEmulator = '', first = '', copy] = bodies;
  const timeIn = (body: string) => new URLSearchParams(body).get('data[payment_timestamp]');
  expect([timeIn(ofEmulator), timeIn(first), copy]).toEqual([
    ...['2040-01-01 00:00:00', '2040-01-01 00:00:00', first],
  ]);
});

describe('orders with the same identifier', () => {
  it('prove only that identifiers can be guessed', async () => {
    const { audit } = await prepareAudit({ identifier: () => 'DFU80XZIKS' });
    const { cases, summary } = await audit({ only: ['A', 'once', 'M'] });
    expect(summary.fail).toBe(0);
    expect(cases.find(({ name }) => name === 'signature-missing')).toMatchObject({
      verdict: 'unproven',
      why: expect.stringContaining('several orders share the identifier "DFU80XZIKS"'),
    });
  });

  it.each([
    ['pass', {}],
    ['fail', { isSigned: () => true }],
  ] satisfies [string, Partial<Handler>][])(
    'are attacked like others if the probe uses another value of the order: %s',
    async (verdict, flaw) => {
      const { shop, audit } = await prepareAudit({
        initiate: (fields) => ({ ...fields, identifier: 'DFU80XZIKS' }),
        find: ({ orders }, _, url) =>
          [...orders.values()].find(({ token }) => token === url.searchParams.get('token')),
        ...flaw,
      });
      const order = async () => {
        await shop.place();
        return [...shop.orders.keys()].at(-1);
      };
      const probing = { probe: undefined, probeUrl: `${shop.url}/orders/{order}` };
      const found = verdicts(await audit({ order, ...probing, only: ['signature-garbage'] }));
      expect(found).toMatchObject({ control: 'pass', 'signature-garbage': verdict });
    },
  );
});

/** A shop that crashes when it gets an IPN without this field. */
async function prepareCrash(field = 'status') {
  const crashes = new EventEmitter();
  const crashed = once(crashes, 'crash');
  let crash = () => {};
  const { shop, audit } = await prepareAudit({
    isWhole: (form, raw) => {
      if (!form.has(field)) crash();
      return GOOD.isWhole(form, raw);
    },
  });
  crash = () => {
    void shop[Symbol.asyncDispose]();
    crashes.emit('crash');
  };
  return { shop, audit, crashed };
}

it('a crash of the shop is reported with its probable request', async () => {
  const { audit } = await prepareCrash();
  const { cases } = await audit({ only: ['fields-missing', 'slow-body', 'still-alive'] });
  const found = Object.fromEntries(cases.map((one) => [one.name, one]));
  expect(found['fields-missing']).toMatchObject({
    verdict: 'fail',
    why: expect.stringContaining('probably crashed your shop'),
    sent: expect.not.stringContaining('status='),
  });
  expect(found['slow-body']?.verdict).toBe('unproven');
  expect(found['still-alive']).toMatchObject({
    verdict: 'fail',
    why: expect.stringMatching(
      /has crashed: nothing is listening on .* The probable cause is this request: POST /,
    ),
  });
});

it('a crash of the shop fails one of the cases that were running', async () => {
  const { audit } = await prepareCrash();
  const { cases } = await audit({ only: ['A', 'fields-missing', 'still-alive'] });
  const failed = cases.filter(({ verdict }) => verdict === 'fail').map(({ name }) => name);
  expect(failed).toEqual([expect.any(String), 'still-alive']);
});

it('a crash of the shop fails the case that caused it, even if another one notices it first', async () => {
  const { shop, audit, crashed } = await prepareCrash();
  const probe = async (identifier: string) => {
    // The order of the control is the first.
    if (identifier !== [...shop.orders.keys()][1]) return shop.probe(identifier);
    await crashed;
    throw new Error('the shop is down');
  };
  const { cases } = await audit({ probe, only: ['amount-of-initiate', 'fields-missing'] });
  expect(verdicts({ cases })).toEqual({
    control: 'pass',
    'amount-of-initiate': 'unproven',
    'fields-missing': 'fail',
  });
});

it('a request that the shop survived did not crash it', async () => {
  const { audit } = await prepareCrash('signature');
  const { cases } = await audit({ only: ['truncated', 'error-bodies'] });
  expect(cases.slice(1).map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
  expect(cases[2]).toMatchObject({
    why: expect.stringContaining('This request probably crashed your shop'),
    sent: expect.not.stringContaining('(truncated)'),
  });
});
