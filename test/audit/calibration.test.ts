import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditOf, prepareAudit } from '../helpers/auditable.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startClient } from '../helpers/library.ts';
import { freePort } from '../helpers/port.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { MUTANTS } from '../merchants/mutants.ts';
import { GOOD, type Handler, SECRET, sign } from '../merchants/node-shop.ts';

const verdicts = ({ cases }: { cases: readonly { name: string; verdict: string }[] }) =>
  Object.fromEntries(cases.map(({ name, verdict }) => [name, verdict]));

describe.concurrent('a side effect', () => {
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
      only: ['A', 'B', 'H', 'name-markup', 'copies-20'],
    }));
    expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
  });

  it('is not assumed if the time changes', async () => {
    const time = (identifier: string) => `${identifier} at ${new Date().toISOString().slice(11, 19)}`;
    const options = { probes: { time }, only: ['signature-missing', 'copies-20'] };
    const { notices, summary } = await auditOf({}, options);
    expect(notices).toEqual([expect.stringContaining('"time" changes without a payment')]);
    expect(summary.fail).toBe(0);
  });

  it.each([
    ['the copy of an IPN', 'a copy pays again', 'replay-at-once'],
    ['a forged IPN', 'an unsigned error marks an order that is paid later', 'failed-forged'],
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
    const report = await auditOf({ pay }, { probes: { mails: sent }, only: ['replay-at-once', 'copies-20'] });
    expect(verdicts(report)).toMatchObject({ 'replay-at-once': 'fail', 'copies-20': 'fail' });
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
    const only = IS_RELEASE
      ? ['A', 'once', 'M']
      : ['signature-missing', 'replay-at-once', 'amount-of-initiate'];
    const { cases, summary } = await audit({ only });
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

it('a crash of the shop is blamed on nothing, and the report says what was running', async () => {
  const { audit } = await prepareCrash();
  // All of their requests are POST requests, so that any may be the first that was running.
  const only = [
    'signature-missing',
    'signature-garbage',
    'signature-other-secret',
    'fields-missing',
    'still-alive',
  ];
  const { cases, missing, mistakes, notices } = await audit({ only });
  expect(mistakes).toEqual([]);
  expect(cases.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
  expect(missing).toMatch(
    /^the audit was cut short, because the shop stopped while [\w, -]+ ran: \d+ of \d+ cases prove nothing$/,
  );
  expect(notices).toEqual([expect.stringMatching(/since these requests were running: POST /)]);
});

it('a request that the shop survived is not said to have been running', async () => {
  const { audit } = await prepareCrash('signature');
  const { cases } = await audit({ only: ['truncated', 'error-bodies'] });
  expect(cases.slice(1).map(({ verdict }) => verdict)).toEqual(['pass', 'unproven']);
  expect(cases[2]?.why).toContain('since these requests were running: POST');
  expect(cases[2]?.why).not.toContain('(truncated)');
});

it('a shop that the audit starts is started again, and only what stops it alone is blamed', async () => {
  const port = await freePort();
  const file = join(await temporaryFolder(), 'shop.mjs');
  await writeFile(file, CRASHING_SHOP);
  const sim = await startClient({ secretKey: SECRET });
  const shop = `http://127.0.0.1:${port}`;
  const { cases, missing } = await sim.audit({
    ipnUrl: `${shop}/ipn`,
    orderUrl: `${shop}/order`,
    probeUrl: `${shop}/orders/{identifier}`,
    paidWhen: '.status=paid',
    shop: `PORT=${port} exec '${process.execPath}' '${file}'`,
    only: [
      'signature-missing',
      'signature-empty',
      'identifier-case',
      'signature-garbage',
      'paid-after-restart',
    ],
  });
  expect(Object.fromEntries(cases.map(({ name, verdict, seen }) => [name, [verdict, seen]]))).toEqual({
    control: ['pass', null],
    // It keeps its orders in memory.
    'paid-after-restart': ['fail', null],
    'signature-missing': ['fail', '2/2'],
    'signature-garbage': ['pass', null],
    'signature-empty': ['pass', null],
    'identifier-case': ['pass', null],
  });
  expect(cases.find(({ name }) => name === 'signature-missing')).toMatchObject({ mistake: 'handler-breaks' });
  expect(missing).toBeNull();
});

it('a shop that the audit cannot start says why', async () => {
  const { audit, shop } = await prepareAudit();
  await expect(audit({ shop: 'true' })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('something is listening at the address of the IPN handler already'),
  });
  await shop[Symbol.asyncDispose]();
  await expect(audit({ shop: 'echo no database >&2; exit 3' })).rejects.toMatchObject({
    code: 'check_failed',
    message: expect.stringMatching(/does not start: it ended with code 3: no database$/),
  });
});

/** A shop whose process ends at an IPN without a signature. */
const CRASHING_SHOP = `
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
const { PORT, GATEWAY_SIM_INITIATE_URL: initiate, GATEWAY_SIM_PUBLIC_KEY: key, GATEWAY_SIM_SECRET_KEY: secret } = process.env;
const orders = new Map();
createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const [, what, id] = request.url.split('/');
  if (what === 'order') {
    const identifier = 'o' + Math.random().toString(36).slice(2, 12) + Date.now().toString(36).slice(-6);
    orders.set(identifier, 'pending');
    const base = 'http://127.0.0.1:' + PORT;
    const form = new URLSearchParams({ public_key: key, identifier, currency: 'USD', amount: '49.90', details: 'x',
      ipn_url: base + '/ipn', success_url: base + '/thanks', cancel_url: base + '/no', site_logo: base + '/l.png',
      customer_name: 'Ann', customer_email: 'ann@example.com' });
    await fetch(initiate, { method: 'POST', body: form });
    return response.end('ok');
  }
  if (what === 'orders') return response.end(JSON.stringify({ status: orders.get(id) ?? 'unknown' }));
  if (what !== 'ipn') return response.writeHead(404).end();
  const form = new URLSearchParams(body);
  if (!form.has('signature')) process.exit(1);
  const text = form.get('data[amount]') + form.get('identifier');
  const isGood = createHmac('sha256', secret).update(text).digest('hex').toUpperCase() === form.get('signature')
    && form.get('data[amount]') === '49.90' && form.get('status') === 'success' && orders.has(form.get('identifier'));
  if (isGood) orders.set(form.get('identifier'), 'paid');
  response.writeHead(isGood ? 200 : 400).end(isGood ? 'ok' : 'rejected');
}).listen(Number(PORT), '127.0.0.1');
`;
