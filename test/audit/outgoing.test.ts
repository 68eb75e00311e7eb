import { describe, expect, it } from 'vitest';
import type { AuditOptions } from '../../src/audit/audit-options.ts';
import { Orders } from '../../src/audit/order-source.ts';
import { reconcile } from '../../src/audit/reconcile.ts';
import { Secrets } from '../../src/contract/secrets.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { ExchangeClient } from '../../src/delivery/exchange.ts';
import { egressOf } from '../../src/library/client.ts';
import { measures, readCondition, stablePart, urlProbe } from '../../src/shop/probe.ts';
import { BROKEN, startAnswering } from '../helpers/answering.ts';
import { prepareAudit } from '../helpers/auditable.ts';
import { startClient } from '../helpers/library.ts';
import { startReceiver } from '../helpers/receiver.ts';
import type { Handler } from '../merchants/node-shop.ts';

async function prepared(changed: Partial<Handler> = {}) {
  const { sim, shop, audit: run } = await prepareAudit(changed);
  const byUrl = { orderUrl: `${shop.url}/order`, probeUrl: `${shop.url}/orders/{identifier}` };
  const only = ['signature-missing'];
  const audit = async (options: Partial<AuditOptions>) => {
    const { cases } = await run({
      ...{ order: undefined, probe: undefined, orderAmount: undefined },
      ...{ ...byUrl, timeoutMs: 1_000, only, ...options },
    });
    const [bad, ...more] = cases.filter(({ verdict }) => verdict !== 'pass');
    return { bad: bad && { verdict: bad.verdict, why: bad.why }, more, tried: cases.length };
  };
  return { sim, shop, audit };
}

/** Breaks only the second order, which belongs to the first case after the control. */
function second(seen = new Set<string>()) {
  return (identifier: string) => [...seen.add(identifier)].indexOf(identifier) === 1;
}

describe('an audit', () => {
  it.each([
    ['hangs', BROKEN.hangs, 'timed out after 1 s'],
    ['resets', BROKEN.resets, 'closed the connection'],
    ['sends broken gzip', BROKEN.encodesBadly, 'cannot be decoded'],
    ['does not end', BROKEN.endless, 'is larger than 256 KiB'],
  ] as const)('continues with an unproven case if a probe %s', async (_, breakOff, why) => {
    const { shop, audit } = await prepared();
    const isBroken = second();
    const url = await startAnswering((request, response) => {
      const identifier = request.url?.slice(1) ?? '';
      if (isBroken(identifier)) breakOff(response);
      else response.end(shop.probe(identifier));
    });
    const probeUrl = `${url}/{identifier}`;
    expect(await audit({ probeUrl })).toEqual({
      ...{ more: [], tried: 2 },
      bad: { verdict: 'unproven', why: expect.stringMatching(`failed: .*${why}`) },
    });
  });

  it.each(['hangs', 'encodes'] as const)('accepts an order whose response %s', async (how) => {
    const { shop, audit } = await prepared();
    const orderUrl = await startAnswering((_request, response) => {
      void shop.place().then(() => BROKEN[how](response));
    });
    expect(await audit({ orderUrl })).toEqual({ bad: undefined, more: [], tried: 2 });
  });

  it('continues with an unproven case if an order cannot be placed', async () => {
    const { shop, audit } = await prepared();
    let count = 0;
    const orderUrl = await startAnswering((_, response) => {
      if (++count === 2) response.destroy();
      else void shop.place().then(() => response.end());
    });
    const why = expect.stringMatching(
      /^could not place an order: .* closed the connection without a response, and no initiate request reached /,
    );
    expect(await audit({ orderUrl })).toEqual({ bad: { verdict: 'unproven', why }, more: [], tried: 2 });
  });

  it('does not suggest checking the keys of a shop that is down', async () => {
    const { audit } = await prepared();
    const { bad } = await audit({ orderUrl: 'http://127.0.0.1:9/' });
    expect(bad?.why).toMatch(/connection refused: nothing is listening on 127\.0\.0\.1:9$/);
  });

  it('judges by no part of an output', async () => {
    const { shop, audit } = await prepared();
    const probe = (identifier: string) => ' '.repeat(256 * 1024) + shop.probe(identifier);
    const { bad } = await audit({ probeUrl: undefined, probe, paidWhen: '/"status":"paid"/' });
    const why = 'the output of a probe is larger than 256 KiB';
    expect(bad).toEqual({ verdict: 'unproven', why });
  });

  it('stops matching a condition that takes forever', async () => {
    const { audit } = await prepared();
    const probe = () => `${'a'.repeat(100)}!`;
    const { bad } = await audit({ probeUrl: undefined, probe, paidWhen: '/^(a+)+$/' });
    expect(bad).toEqual({ verdict: 'unproven', why: expect.stringContaining('takes too long to match') });
  });
});

describe('an order, a probe and an attack', () => {
  /** Sends one of each. */
  async function sendAll(url: string, egress: Egress): Promise<void> {
    const gateway = { egress, payments: { list: async () => ({ data: [{ id: 'pay_1' }] }) } };
    const orders = new Orders(gateway as never, { ipnUrl: url, orderUrl: url }, new Set(), '');
    const attack = new ExchangeClient(egress, 10_000).send({ url });
    await Promise.allSettled([orders.take(), urlProbe(url, egress)({}), attack]);
  }

  it('request an unencoded response, except the attack, which has the headers of an IPN', async () => {
    const { url, requests } = await startReceiver();
    await sendAll(url, new Egress([], () => undefined));
    const asked = requests.map(({ headers }) => headers['accept-encoding']);
    expect(asked.toSorted()).toEqual(['identity', 'identity', undefined]);
  });

  it('read at most 256 KiB of a response', async () => {
    const url = await startAnswering((_, response) => BROKEN.endless(response));
    const { body, error } = await new ExchangeClient(new Egress([], () => undefined), 10_000).send({ url });
    expect([body.length, error]).toEqual([256 * 1024, null]);
  });

  it('are checked against the egress rules when they connect', async () => {
    const { url, port, requests } = await startReceiver();
    await sendAll(url, new Egress([], () => port));
    expect(requests).toEqual([]);
  });
});

describe('the output of a shop', () => {
  const nested = (levels: number) => `{"status":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  it('has a stable part if a changing value is null at first', () => {
    const [before, after, paid] = ['{"a":null,"b":1}', '{"a":{"at":2},"b":1}', '{"a":null,"b":2}'];
    const stable = stablePart(before, after);
    expect(stable(after)).toBe(stable(before));
    expect(stable(paid)).not.toBe(stable(before));
  });

  it('is measured up to a limit', () => {
    const slow = JSON.stringify({ ['a'.repeat(17_000)]: Array(3_000).fill(1), status: 'pending', total: 7 });
    expect([...measures(slow)]).toEqual([['.total', 7]]);
    expect([...measures(nested(30)).keys()].at(-1)).toBe(`.status${'.0'.repeat(19)}.length`);
    expect(measures(JSON.stringify({ ['a'.repeat(200)]: 1 })).size).toBe(0);
    expect(measures(JSON.stringify({ ['a'.repeat(199)]: 1 })).size).toBe(1);
    for (const many of [JSON.stringify(Array(100_000).fill(1)), '1 '.repeat(100_000)])
      expect(measures(many).size).toBeLessThanOrEqual(1_001);
  });

  it.each([
    ['', [['lines', 0]]],
    [
      ' paid \n-1.50 USD',
      [
        ['lines', 2],
        ['number 0', -1.5],
      ],
    ],
    [
      '{"a":[7,"8"],"b":{"c":2}}',
      [
        ['.a.length', 2],
        ['.a.0', 7],
        ['.b.c', 2],
      ],
    ],
  ])('is measured in lines, numbers and lengths: %j', (text, found) => {
    expect([...measures(text)]).toEqual(found);
  });

  it.each([
    ['{"a":[1,{"b":2}],"c":3}', '{"a":[1,{"b":9}],"c":3}', '{"a":[1,{"b":null}],"c":3}'],
    ['{"a":[1]}', '{"a":[1,2]}', '{"a":null}'],
    ['paid 5 at 12:01', 'paid 5 at 12:02', 'paid 0 at 0:0'],
    ['paid', 'open', ''],
  ])('has a stable part that does not contain what changed: %s', (one, other, stable) => {
    expect(stablePart(one, other)(one)).toBe(stable);
    expect(stablePart(one, other)(other)).toBe(stable);
  });

  it.each([
    ['.a.b=2', true],
    ['.a.b=', false],
    ['.c=', true],
    ['.a.x.y=1', false],
    ['/"B":2/i', true],
    ['/"B":2/', false],
    ['b":2', true],
  ])('fulfills a condition: %s', (condition, isFulfilled) => {
    expect(readCondition(condition)('{"a":{"b":2},"c":""}')).toBe(isFulfilled);
  });

  it.each([
    ['an object with its own toString', '{"status":{"toString":1,"valueOf":1}}'],
    ['a list in 100,000 lists', nested(100_000)],
  ])('neither pays an order nor crashes the audit if it is %s', async (_, said) => {
    expect(readCondition('.status=paid')(said)).toBe(false);
    const probeUrl = `${await startAnswering((_request, response) => void response.end(said))}/{identifier}`;
    const payment = { identifier: 'a', status: 'succeeded', amount: '1.00' };
    const gateway = {
      ...{ env: {}, egress: new Egress([], () => undefined), mask: new Secrets().mask },
      payments: { list: async () => ({ data: [payment], nextCursor: null }) },
    };
    const options = { probeUrl, paidWhen: '.status=paid', orderAmount: '.status' };
    expect((await reconcile(gateway as never, options)).found).toMatchObject([
      { problem: 'paid-not-fulfilled' },
      { problem: 'amount-differs', detail: 'the customer paid 1.00, and the shop has no amount' },
    ]);
  });

  it('is masked in the report', async () => {
    const { sim, audit } = await prepareAudit({
      refuse: (response, _form, { secretKey }) =>
        response.writeHead(302, { Location: `http://x/?k=${secretKey}` }).end(`not signed with ${secretKey}`),
    });
    const report = await audit({ only: ['error-bodies'] });
    expect(report.cases[1]).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(/to http:\/\/x\/\?k=sec_sim_….*not signed with sec_sim_…/),
    });
    expect(JSON.stringify(report)).not.toContain(sim.secretKey);
  });

  it('is masked in errors', async () => {
    const { sim, audit } = await prepared();
    await expect(audit({ paidWhen: `/${sim.secretKey}(/` })).rejects.toThrow(/\/sec_sim_…/);
  });
});

describe('the egress rules of an audit', () => {
  it.each([
    ['orderUrl', { orderUrl: 'http://8.8.8.8/' }, '8.8.8.8'],
    ['probeUrl', { probeUrl: 'http://169.254.169.254/{identifier}' }, '169.254.169.254'],
    ['ipnUrl', { ipnUrl: 'http://shop.example/' }, 'shop.example'],
    ['the probe stock', { probes: { stock: 'http://8.8.8.8/stock' } }, '8.8.8.8'],
  ])('reject %s at another host, and name the flag that allows it', async (name, options, host) => {
    const { audit } = await prepared();
    await expect(audit(options)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(`^${name} is not allowed: .*--allow-ipn-host ${host}`),
    });
  });

  it('apply to reconcile', async () => {
    const egress = new Egress([], () => undefined);
    const payments = { list: () => Promise.reject(new Error('too late')) };
    const gateway = { env: {}, egress, payments, mask: new Secrets().mask };
    const options = { probeUrl: 'http://8.8.8.8/{identifier}', paidWhen: '/paid/' };
    await expect(reconcile(gateway as never, options)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('--allow-ipn-host 8.8.8.8'),
    });
  });

  it('reject the emulator itself under all of its names', async () => {
    const { sim, audit } = await prepared();
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'sim.localhost']) {
      const orderUrl = `http://${host}:${new URL(sim.url).port}/_sim/shutdown`;
      await expect(audit({ orderUrl })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('is the emulator itself'),
      });
    }
    expect((await fetch(`${sim.url}/_sim/livez`)).status).toBe(200);
  });

  it('never allow a metadata address', async () => {
    const { sim } = await prepared();
    const hosts = ['169.254.169.254', '[fd00:ec2::254]', '203.0.113.1'];
    const answer = { options: { allowIpnHost: hosts.slice(1), forwardIpn: [`http://${hosts[0]}/ipn`] } };
    const server = { url: sim.url, call: async () => answer } as never;
    const egress = await egressOf(server);
    const allowed = hosts.filter((host) => egress.unreachable(`http://${host}/`) === null);
    expect(allowed).toEqual(['203.0.113.1']);
  });

  it('allow the hosts that the emulator allows for IPNs', async () => {
    const { shop } = await prepared();
    const sim = await startClient({ allowIpnHost: ['203.0.113.1'], forwardIpn: 'http://203.0.113.2/ipn' });
    const asked = { ipnUrl: shop.ipnUrl, only: ['control'], paidWhen: '/paid/', probe: () => '' };
    for (const orderUrl of ['http://203.0.113.1/', 'http://203.0.113.2/']) {
      const aborted = AbortSignal.abort(new Error('allowed'));
      const audited = sim.audit({ ...asked, orderUrl, cancelled: aborted });
      await expect(audited).rejects.toThrow('allowed');
    }
  });
});
