import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditOptions } from '../../src/contract/audit-options.ts';
import { startGatewaySim } from '../../src/index.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { seedOfTest } from '../helpers/seed.ts';
import { type Handler, startShop } from '../merchants/node-shop.ts';

/** A key of its own: with the one that every fresh emulator has, a case is skipped. */
const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

async function prepared(changed: Partial<Handler> = {}) {
  const sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
  onTestFinished(() => sim.stop());
  const shop = await startShop(sim, changed);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const probing = { probe: shop.probe, paidWhen: '.status=paid', orderAmount: '.total' };
  const audit = (options: Partial<AuditOptions> = {}) =>
    sim.audit({ ipnUrl: shop.ipnUrl, order: shop.place, ...probing, ...options });
  return { sim, shop, audit };
}

describe('an audit', () => {
  it('finds nothing wrong with a good handler, in any of a hundred cases', async () => {
    const { sim, audit } = await prepared();
    const seen: string[] = [];
    const report = await audit({ onCase: ({ name }) => seen.push(name) });
    const others = report.cases.filter(({ verdict }) => verdict !== 'pass');
    // It has no address that confirms a payment.
    expect(others.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['confirm-get', 'skipped'],
      ['confirm-post', 'skipped'],
    ]);
    expect(report.cases.length).toBeGreaterThanOrEqual(60);
    expect(report.summary).toEqual({
      pass: report.cases.length - 2,
      fail: 0,
      'at-risk': 0,
      note: 0,
      unproven: 0,
      skipped: 2,
    });
    expect(seen.toSorted()).toEqual(report.cases.map(({ name }) => name).toSorted());
    expect(new Set(seen).size).toBe(seen.length);
    // No payment of the audit stays pending.
    expect((await sim.payments.list({ status: 'pending' })).data).toEqual([]);
  });

  it('says of a fail what was sent, what the shop did, what it means and how to fix it', async () => {
    const { audit } = await prepared({ isAmount: () => true });
    const { cases } = await audit({ only: ['amount-too-low'] });
    expect(cases.at(-1)).toMatchObject({
      ...{ name: 'amount-too-low', class: 'D', group: 'amount', verdict: 'fail' },
      sent: expect.stringContaining('data[amount]=0.49'),
      observed: 'answered 200: OK, and the order is paid',
      why: expect.stringContaining('less than the order costs'),
      mistake: 'amount-not-compared',
      fix: expect.stringMatching(/PHP: [\s\S]*Node: [\s\S]*Python: /),
      unpaid: { amount: '49.90', currency: 'USD' },
      curl: expect.stringContaining('--data-raw'),
    });
  });

  it('calls nothing a pass when the control fails, and tries what needs no IPN', async () => {
    const { audit } = await prepared({
      isSigned: () => false,
      onReturn: (order) => order && Object.assign(order, { paid: true, status: 'paid' }),
    });
    const { cases, summary } = await audit();
    expect(cases[0]).toMatchObject({
      name: 'control',
      verdict: 'fail',
      why: expect.stringContaining('answered 400'),
    });
    expect(summary.pass).toBe(0);
    const tried = cases.slice(1).filter(({ verdict }) => verdict !== 'skipped');
    expect(new Set(tried.map(({ class: kind }) => kind))).toEqual(new Set(['F', 'M']));
    expect(tried.find(({ name }) => name === 'return-get')?.verdict).toBe('fail');
  });

  it('calls nothing a pass that only a status code shows', async () => {
    const { shop, audit } = await prepared();
    const { cases } = await audit({ probe: undefined, paidWhen: undefined, only: ['A', 'once', 'H'] });
    expect(new Set(cases.map(({ verdict }) => verdict))).toEqual(new Set(['unproven']));
    expect(shop.orders.size).toBeGreaterThan(10);
  });

  it('invents orders where the shop places none', async () => {
    const { shop, audit } = await prepared();
    const options = { order: undefined, probe: undefined, paidWhen: undefined, only: ['A', 'F', 'M'] };
    const { cases } = await audit(options);
    expect(shop.orders.size).toBe(0);
    expect(cases[0]).toMatchObject({
      verdict: 'unproven',
      why: expect.stringContaining('the audit invented the order'),
    });
    expect(cases.find(({ name }) => name === 'return-get')).toMatchObject({ verdict: 'skipped' });
  });

  it('uses orders again that nobody harmed where there may be no more', async () => {
    const { shop, audit } = await prepared();
    const { cases } = await audit({ orders: 2, only: ['A', 'B'] });
    expect(shop.orders.size).toBe(2);
    expect(cases.map(({ verdict }) => verdict)).toEqual(cases.map(() => 'pass'));
  });

  it('sees a further effect that a forged IPN has', async () => {
    const mails: string[] = [];
    const { audit } = await prepared({
      refuse: (response, form) => {
        mails.push(`${form.get('identifier')}: a payment failed`);
        response.writeHead(400).end();
      },
    });
    const { cases } = await audit({
      probes: { mails: (identifier) => mails.filter((mail) => mail.startsWith(identifier)).length },
      only: ['signature-garbage'],
    });
    expect(cases[1]).toMatchObject({
      verdict: 'fail',
      why: 'The order is not paid, but this changed: mails.',
    });
  });

  it('says that a probe changes by itself', async () => {
    const { shop, audit } = await prepared();
    let looks = 0;
    const probe = (identifier: string) => ({ ...JSON.parse(shop.probe(identifier)), looks: looks++ });
    const { notices, summary } = await audit({ probe, only: ['A', 'replay-at-once'] });
    expect(notices).toEqual([expect.stringContaining('does it contain the time?')]);
    expect(summary.fail).toBe(0);
  });
});

/** What a page of a stranger would initiate with. */
const HOSTILE = "\u0007';touch PWNED #";

describe('an audit by commands', () => {
  it('tells them of an order in variables', async () => {
    const { shop, audit } = await prepared();
    const file = join(await temporaryFolder(), 'told');
    const names = ['{identifier}', '{trx}', '{amount}', '{ipn_url}', '{success_url}', '{order}'];
    const order = async () => {
      await shop.place();
      return 'first line\n  order-77 \n';
    };
    const probes = { told: `echo ${names.join(' ')} >> '${file}'; echo 1` };
    const { summary } = await audit({ order, probes, only: ['control'] });
    expect(summary.pass).toBe(1);
    const [told = ''] = (await readFile(file, 'utf8')).split('\n');
    const [identifier = ''] = shop.orders.keys();
    const { token } = shop.orders.get(identifier) ?? {};
    expect(told).toMatch(/ [A-Z0-9]{12} /);
    expect(told.replace(/ [A-Z0-9]{12} /, ' ')).toBe(
      `${identifier} 49.90 ${shop.ipnUrl}?token=${token} ${shop.url}/paid?order=${identifier} order-77`,
    );
  });

  it('skips a case whose order has an identifier that is handed to no command, and says why', async () => {
    let initiated = 0;
    const { shop, audit } = await prepared({
      initiate: (fields) => (initiated++ === 1 ? { ...fields, identifier: HOSTILE } : fields),
    });
    const look = 'fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)';
    const probeCmd = `'${process.execPath}' -e '${look}' '${shop.url}/orders/'{identifier}`;
    const only = ['signature-missing', 'signature-garbage', 'signature-empty'];
    const { cases, summary } = await audit({ probe: undefined, probeCmd, only });
    expect([cases.length, summary]).toEqual([4, expect.objectContaining({ pass: 3, skipped: 1 })]);
    expect(cases.find(({ verdict }) => verdict === 'skipped')).toMatchObject({
      sent: null,
      why: expect.stringMatching(/^\{identifier\} was withheld: it contains a control character/),
    });
  });
});

describe('an emulator that forwards all IPNs', () => {
  it('has the attacks go there, with the query of each order', async () => {
    const { shop } = await prepared();
    await using forwarding = await startGatewaySim({
      ...{ secretKey: SECRET, seed: seedOfTest(), forwardIpn: shop.ipnUrl },
    });
    await using other = await startShop(forwarding, {
      initiate: (fields) => ({
        ...fields,
        ipn_url: `https://shop.example/ipn?${String(fields['ipn_url']).split('?')[1]}`,
      }),
    });
    // One shop behind two addresses: what the second one ordered is known to the first.
    other.orders = shop.orders;
    const probing = { probe: shop.probe, paidWhen: '.status=paid' };
    const { cases } = await forwarding.audit({
      ...{ ipnUrl: shop.ipnUrl, order: other.place, ...probing },
      only: ['A', 'once', 'fields-extra'],
    });
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
    expect(cases.find(({ name }) => name === 'fields-extra')?.sent).toContain(`${shop.ipnUrl}?token=`);
  });
});

describe('what cannot be audited', () => {
  it.each([
    ['a probe that fails', { probe: () => Promise.reject(new Error('no database')) }, 'no database'],
    ['a probe that says nothing', { probe: () => '' }, 'returned nothing'],
  ])('is unproven with %s', async (_, options, why) => {
    const { audit } = await prepared();
    const { cases } = await audit({ ...options, only: ['A'] });
    expect(new Set(cases.map(({ verdict }) => verdict))).toEqual(new Set(['unproven']));
    expect(cases[0]?.why).toContain(why);
  });

  it('is a shop whose payments settle themselves', async () => {
    const { audit } = await prepared({
      initiate: (fields) => ({ ...fields, customer_email: 'approve@gateway-sim.test' }),
    });
    const { cases } = await audit({ only: ['A'] });
    expect(cases[0]).toMatchObject({ verdict: 'unproven', why: expect.stringContaining('without --auto') });
  });

  it('is a receiver that is down', async () => {
    const { shop, audit } = await prepared({
      initiate: (fields) => ({ ...fields, ipn_url: 'http://127.0.0.1:9/ipn' }),
    });
    const { cases } = await audit({ ipnUrl: shop.ipnUrl, only: ['A'] });
    expect(cases[0]).toMatchObject({ verdict: 'fail', why: expect.stringContaining('connection refused') });
  });

  it.each([
    ['https://shop.example/ipn', {}, 'forbidden', 'allow-ipn-host'],
    ['nowhere', {}, 'invalid_fields', 'http'],
    [undefined, { only: ['signature-mising'] }, 'usage', 'signature-missing'],
    [undefined, { paidWhen: undefined }, 'usage', 'paid-when'],
    [undefined, { paidWhen: '/(/' }, 'usage', 'regular expression'],
    [undefined, { paidWhen: `/${'a'.repeat(1_001)}/` }, 'usage', 'at most 1000 characters (got 1001)'],
    [undefined, { paidWhen: '/a/v' }, 'usage', 'the flag v'],
    [undefined, { orderCmd: 'true' }, 'usage', 'one source of orders'],
    [undefined, { orders: 0 }, 'usage', '1 to 10,000'],
    [undefined, { probe: undefined, probeCmd: 'cat orders' }, 'usage', '{identifier}'],
    [undefined, { probe: undefined, probeUrl: 'cat-orders/{identifier}' }, 'invalid_fields', 'absolute'],
  ] as const)('is refused: %s %j', async (ipnUrl, options, code, said) => {
    const { audit } = await prepared();
    await expect(audit({ ...(ipnUrl && { ipnUrl }), ...options })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(said),
    });
  });
});
