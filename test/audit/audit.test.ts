import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AUDIT_GROUPS } from '../../src/audit/vocabulary.ts';
import { namesOf } from '../../src/contract/vocabulary.ts';
import { GatewayError } from '../../src/index.ts';
import { prepareAudit } from '../helpers/auditable.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startClient } from '../helpers/library.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { SECRET, startShop } from '../merchants/node-shop.ts';

describe('an audit', () => {
  it('reports a failure with its request, result, meaning and fix', async () => {
    const { audit } = await prepareAudit({ isAmount: () => true });
    const { cases } = await audit({ only: ['amount-too-low'] });
    expect(cases.at(-1)).toMatchObject({
      ...{ name: 'amount-too-low', class: 'D', group: 'amount', verdict: 'fail' },
      sent: expect.stringContaining('data[amount]=0.49'),
      observed: 'answered 200 “OK”, and the order is paid',
      why: expect.stringContaining('less than the order costs'),
      mistake: 'amount-not-compared',
      fix: expect.stringMatching(/PHP: [\s\S]*Node: [\s\S]*Python: /),
      code: { PHP: expect.any(String), Node: expect.any(String), Python: expect.any(String) },
      unpaid: { amount: '49.90', currency: 'USD' },
      curl: expect.stringContaining('--data-raw'),
    });
  });

  it('settles and marks every payment that it created', async () => {
    const { sim, audit } = await prepareAudit();
    const { orders } = await audit({ only: ['A'] });
    const { data } = await sim.payments.list({ limit: 200 });
    expect(data.length).toBeGreaterThanOrEqual(orders);
    expect(new Set(data.map(({ settledBy }) => settledBy))).toEqual(new Set(['audit']));
  });

  it.each([404, 405])('places orders by GET if the shop answers POST with %i', async (status) => {
    const { shop, audit } = await prepareAudit();
    const { url, requests } = await startReceiver(({ method }) =>
      method === 'POST' ? { status } : { after: shop.place() },
    );
    const order = { order: undefined, orderUrl: `${url}/order` };
    expect((await audit({ ...order, only: ['signature-missing'] })).summary.pass).toBe(2);
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('runs all cases but those that are named with a minus', async () => {
    const { audit } = await prepareAudit();
    const others = namesOf(AUDIT_GROUPS).filter((group) => group !== 'status');
    const { cases } = await audit({ only: others.map((group) => `-${group}`) });
    expect(new Set(cases.map(({ group }) => group))).toEqual(new Set(['control', 'status']));
  });

  it('is complete even if its pending orders cannot be canceled', async () => {
    const { sim, audit } = await prepareAudit();
    sim.payments.cancel = () => Promise.reject(new GatewayError('no_server', 'the emulator has gone'));
    const { summary, notices } = await audit({ only: ['signature-garbage'] });
    expect(summary).toMatchObject({ pass: 2 });
    expect(notices).toEqual(['the audit could not cancel its pending orders: the emulator has gone']);
  });

  it('passes no case if the control fails, and still runs the cases without IPNs', async () => {
    const { audit } = await prepareAudit({
      isSigned: () => false,
      onReturn: (order) => order && Object.assign(order, { paid: true, status: 'paid' }),
    });
    const only = IS_RELEASE ? undefined : ['A', 'D', 'replay-at-once', 'return-unpaid', 'amount-of-initiate'];
    const { cases, summary } = await audit({ only });
    expect(cases[0]).toMatchObject({
      name: 'control',
      verdict: 'fail',
      why: expect.stringContaining('answered 400'),
    });
    expect(summary.pass).toBe(0);
    const tried = cases.slice(1).filter(({ verdict }) => verdict !== 'skipped');
    expect(new Set(tried.map(({ class: kind }) => kind))).toEqual(new Set(['F', 'M']));
    expect(tried.find(({ name }) => name === 'return-unpaid')?.verdict).toBe('fail');
  });

  it('passes no case on a status code alone', async () => {
    const { shop, audit } = await prepareAudit();
    shop.probe = () => 'no JSON';
    const { cases } = await audit({
      probe: undefined,
      paidWhen: undefined,
      only: ['A', 'replay-at-once', 'H'],
    });
    // The signature of a paid order needs one, and there is no token in the addresses.
    const others = cases.filter(
      ({ name }) => !['signature-of-paid-order', 'signature-in-address'].includes(name),
    );
    expect(new Set(others.map(({ verdict }) => verdict))).toEqual(new Set(['unproven']));
    expect(shop.orders.size).toBeGreaterThan(10);
  });

  it('ends although a case needs two orders and only one is left', async () => {
    const { audit } = await prepareAudit();
    const { cases } = await audit({ orders: 2, only: ['other-paid-order'] });
    expect(cases.at(-1)).toMatchObject({ verdict: 'skipped', why: 'no orders are left: raise --orders' });
  });

  it('invents orders if the shop places none', async () => {
    const { shop, audit } = await prepareAudit();
    const options = { order: undefined, probe: undefined, paidWhen: undefined, only: ['A', 'F', 'M'] };
    const { cases } = await audit(options);
    expect(shop.orders.size).toBe(0);
    expect(cases[0]).toMatchObject({
      verdict: 'unproven',
      why: expect.stringContaining('the order is made up'),
    });
    expect(cases.find(({ name }) => name === 'return-unpaid')).toMatchObject({ verdict: 'skipped' });
  });

  it('reuses unchanged orders when the maximum is reached', async () => {
    const { shop, audit } = await prepareAudit();
    const { cases } = await audit({ orders: 2, only: ['A', 'B'] });
    expect(shop.orders.size).toBe(2);
    expect(cases.map(({ verdict }) => verdict)).toEqual(cases.map(() => 'pass'));
  });
});

/** An identifier from an attacker's page. */
const HOSTILE = "\u0007';touch PWNED #";

describe('an audit with commands', () => {
  it.each([
    ['first line\n  order-77 \n', 'order-77'],
    [77, '77'],
  ])('passes the values of an order in variables; its name is the end of %j', async (printed, name) => {
    const { shop, audit } = await prepareAudit();
    const file = join(await temporaryFolder(), 'values');
    const names = ['{identifier}', '{trx}', '{amount}', '{ipn_url}', '{success_url}', '{order}'];
    const order = async () => {
      await shop.place();
      return printed;
    };
    const probes = { values: `echo ${names.join(' ')} >> '${file}'; echo 1` };
    const { summary } = await audit({ order, probes, only: ['control'] });
    expect(summary.pass).toBe(1);
    const [values = ''] = (await readFile(file, 'utf8')).split('\n');
    const [identifier = ''] = shop.orders.keys();
    const { token } = shop.orders.get(identifier) ?? {};
    expect(values).toMatch(/ [A-Z0-9]{12} /);
    expect(values.replace(/ [A-Z0-9]{12} /, ' ')).toBe(
      `${identifier} 49.90 ${shop.ipnUrl}?token=${token} ${shop.url}/paid?order=${identifier} ${name}`,
    );
  });

  it('skips a case whose identifier is withheld from commands, and reports why', async () => {
    let initiated = 0;
    const folder = await temporaryFolder();
    const { audit } = await prepareAudit({
      initiate: (fields) => (initiated++ === 1 ? { ...fields, identifier: HOSTILE } : fields),
      pay: (order) => writeFileSync(join(folder, order.identifier), 'paid'),
    });
    const probeCmd = `cat '${folder}'/{identifier} || echo pending`;
    const only = ['signature-missing'];
    const { cases, summary } = await audit({
      probe: undefined,
      probeCmd,
      paidWhen: '/^paid/',
      orderAmount: undefined,
      only,
    });
    expect([cases.length, summary]).toEqual([2, expect.objectContaining({ pass: 1, skipped: 1 })]);
    expect(cases.find(({ verdict }) => verdict === 'skipped')).toMatchObject({
      sent: null,
      why: expect.stringMatching(/^\{identifier\} was withheld: it contains a control character/),
    });
  });
});

describe('an audit with an emulator that forwards all IPNs', () => {
  it('sends its attacks to the forwarding address, with the query string of each order', async () => {
    const { shop } = await prepareAudit();
    const forwarding = await startClient({ secretKey: SECRET, forwardIpn: shop.ipnUrl });
    await using other = await startShop(forwarding, {
      initiate: (fields) => ({
        ...fields,
        ipn_url: `https://shop.example/ipn?${String(fields['ipn_url']).split('?')[1]}`,
      }),
    });
    // One shop with two addresses that share their orders.
    other.orders = shop.orders;
    const probing = { probe: shop.probe, paidWhen: '.status=paid' };
    const { cases } = await forwarding.audit({
      ...{ ipnUrl: shop.ipnUrl, order: other.place, ...probing },
      only: ['signature-garbage', 'replay-at-once', 'fields-extra'],
    });
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(cases.find(({ name }) => name === 'fields-extra')?.sent).toContain(`${shop.ipnUrl}?token=`);
  });
});

describe('an audit that cannot prove anything', () => {
  it.each([
    ['a probe that fails', { probe: () => Promise.reject(new Error('no database')) }, 'no database'],
    ['a probe that returns nothing', { probe: () => '' }, 'returned nothing'],
  ])('is unproven because of %s', async (_, options, why) => {
    const { audit } = await prepareAudit();
    const { cases } = await audit({ ...options, only: ['A'] });
    expect(new Set(cases.map(({ verdict }) => verdict))).toEqual(new Set(['unproven']));
    expect(cases[0]?.why).toContain(why);
  });

  it('rejects in a test, which would count no failures', async () => {
    const { sim, shop } = await prepareAudit();
    const probing = { probe: shop.probe, paidWhen: '.paid=yes', only: ['A'] };
    await expect(sim.audit({ ipnUrl: shop.ipnUrl, order: shop.place, ...probing })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^nothing is proven: a correct IPN changed the order .*\.paid=yes/),
    });
  });

  it('is unproven if the emulator settles payments automatically', async () => {
    const { audit } = await prepareAudit({
      initiate: (fields) => ({ ...fields, customer_email: 'approve@gateway-sim.test' }),
    });
    const { cases } = await audit({ only: ['A'] });
    expect(cases[0]).toMatchObject({ verdict: 'unproven', why: expect.stringContaining('without --auto') });
  });

  it('fails the control if the receiver is down', async () => {
    const { audit } = await prepareAudit({
      initiate: (fields) => ({ ...fields, ipn_url: 'http://127.0.0.1:9/ipn' }),
    });
    const { cases } = await audit({ only: ['control'] });
    expect(cases[0]).toMatchObject({ verdict: 'fail', why: expect.stringContaining('connection refused') });
  });

  it.each([
    [{ ipnUrl: 'nowhere' }, 'invalid_fields', 'http'],
    [{ only: ['signature-mising'] }, 'usage', 'signature-missing'],
    [{ only: ['-signature-mising'] }, 'usage', 'signature-missing'],
    [{ paidWhen: undefined }, 'usage', 'paid-when'],
    [{ paidWhen: (() => true) as never }, 'usage', 'not a function'],
    [{ paidWhen: '/(/' }, 'usage', 'regular expression'],
    [{ paidWhen: `/${'a'.repeat(1_001)}/` }, 'usage', 'at most 1000 characters (got 1001)'],
    [{ paidWhen: '/a/v' }, 'usage', 'the flag v'],
    [{ paidWhen: 'status=paid' }, 'usage', 'write .status=paid for JSON, or /status=paid/ for text'],
    [{ orderCmd: 'true' }, 'usage', 'one source of orders: --order-cmd or order'],
    [{ order: undefined, orderCmd: 'order {identifier}' }, 'usage', 'not available there: use {ipn_url}'],
    [{ orders: 0 }, 'usage', '1 to 10,000'],
    [{ effects: ['stock.count'] }, 'usage', '--effect stock.count is a column, which requires --db'],
    [{ probe: undefined, probeCmd: 'cat orders' }, 'usage', '{identifier}'],
    [{ probe: undefined, probeUrl: 'cat-orders/{identifier}' }, 'invalid_fields', 'absolute'],
  ] as const)('rejects invalid options: %j', async (options, code, said) => {
    const { audit } = await prepareAudit();
    await expect(audit(options)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(said),
    });
  });
});
