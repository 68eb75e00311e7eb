import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reconcile } from '../../src/audit/reconcile.ts';
import type { AuditOptions } from '../../src/contract/audit.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { BROKEN, startAnswering } from '../helpers/answering.ts';
import { startLibrary } from '../helpers/library.ts';
import { startShop } from '../merchants/node-shop.ts';

async function prepared() {
  const sim = await startLibrary({ secretKey: 'sec_sim_kept_by_this_shop_alone_1' });
  const shop = await startShop(sim);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const audit = async (options: Partial<AuditOptions>) => {
    const { cases } = await sim.audit({
      ...{ ipnUrl: shop.ipnUrl, orderUrl: `${shop.url}/order`, probeUrl: `${shop.url}/orders/{identifier}` },
      ...{ paidWhen: '.status=paid', timeoutMs: 1_000, only: ['signature-missing', 'signature-garbage'] },
      ...options,
    });
    const [bad, ...more] = cases.filter(({ verdict }) => verdict !== 'pass');
    return { bad: bad && { verdict: bad.verdict, why: bad.why }, more, tried: cases.length };
  };
  return { sim, shop, audit };
}

/** What breaks the second of all orders only: that of one of the two cases behind the control. */
function second(seen = new Set<string>()) {
  return (identifier: string) => [...seen.add(identifier)].indexOf(identifier) === 1;
}

const closes = (response: ServerResponse): void => void response.destroy();

describe('an audit', () => {
  it.each([
    ['hangs', BROKEN.hangs, 'no complete answer from'],
    ['resets', BROKEN.resets, 'closed the connection'],
    ['sends gzip', BROKEN.encodes, 'is encoded'],
    ['sends bad gzip', BROKEN.encodesBadly, 'is encoded'],
    ['does not end', BROKEN.endless, 'has more than 256 KiB'],
    ['closes', closes, 'closed the connection'],
  ] as const)('proves nothing by a probe that %s, and goes on', async (_, breakOff, why) => {
    const { shop, audit } = await prepared();
    const isBroken = second();
    const url = await startAnswering((request, response) => {
      const identifier = request.url?.slice(1) ?? '';
      if (isBroken(identifier)) breakOff(response);
      else response.end(shop.probe(identifier));
    });
    const probeUrl = `${url}/{identifier}`;
    expect(await audit({ probeUrl })).toEqual({
      ...{ more: [], tried: 3 },
      bad: { verdict: 'unproven', why: expect.stringMatching(`told nothing: .*${why}`) },
    });
  });

  it.each(Object.entries(BROKEN))(
    'does not mind an order whose answer %s when it is placed',
    async (_, breakOff) => {
      const { shop, audit } = await prepared();
      const orderUrl = await startAnswering((_request, response) => {
        void shop.place().then(() => breakOff(response));
      });
      expect(await audit({ orderUrl })).toEqual({ bad: undefined, more: [], tried: 3 });
    },
  );

  it('proves nothing where an order cannot be placed, and goes on', async () => {
    const { shop, audit } = await prepared();
    let count = 0;
    const orderUrl = await startAnswering((_, response) => {
      if (++count === 2) response.destroy();
      else void shop.place().then(() => response.end());
    });
    const why = expect.stringMatching(
      /^no order could be placed: .* closed the connection without an answer$/,
    );
    expect(await audit({ orderUrl })).toEqual({ bad: { verdict: 'unproven', why }, more: [], tried: 3 });
  });

  it('gives a condition up that takes forever', async () => {
    const { audit } = await prepared();
    const probe = () => `${'a'.repeat(100)}!`;
    const { bad } = await audit({ probeUrl: undefined, probe, paidWhen: '/^(a+)+$/' });
    expect(bad).toEqual({ verdict: 'unproven', why: expect.stringContaining('takes too long to match') });
  });
});

describe('where an audit may send', () => {
  it.each([
    ['orderUrl', 'http://8.8.8.8/'],
    ['probeUrl', 'http://169.254.169.254/{identifier}'],
    ['ipnUrl', 'http://shop.example/'],
  ])('%s %s is refused, with the flag that allows it', async (name, url) => {
    const { audit } = await prepared();
    const { hostname } = new URL(url);
    await expect(audit({ [name]: url })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(`^${name} may not be reached: .*--allow-ipn-host ${hostname}`),
    });
  });

  it('a further probe is asked about, too', async () => {
    const { audit } = await prepared();
    await expect(audit({ probes: { stock: 'http://8.8.8.8/stock' } })).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringMatching(/^the probe stock may not be reached: /),
    });
  });

  it('what reconcile asks is asked about, too', async () => {
    const egress = new Egress([], () => undefined);
    const gateway = { env: {}, egress, payments: { list: () => Promise.reject(new Error('too late')) } };
    const options = { probeUrl: 'http://8.8.8.8/{identifier}', paidWhen: '/paid/' };
    await expect(reconcile(gateway as never, options)).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('--allow-ipn-host 8.8.8.8'),
    });
  });

  it('the emulator itself is not, under any of its names', async () => {
    const { sim, audit } = await prepared();
    for (const host of ['127.0.0.1', 'localhost', '[::1]', 'sim.localhost']) {
      const orderUrl = `http://${host}:${sim.port}/_sim/shutdown`;
      await expect(audit({ orderUrl })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringContaining('is the emulator itself'),
      });
    }
    expect((await fetch(`${sim.url}/_sim/livez`)).status).toBe(200);
  });

  it('a host is that the user allows, or the emulator for its IPNs', async () => {
    const { shop } = await prepared();
    const sim = await startLibrary({ allowIpnHost: ['203.0.113.1'], forwardIpn: 'http://203.0.113.2/ipn' });
    const asked = { ipnUrl: shop.ipnUrl, only: ['control'], paidWhen: '/paid/', probe: () => '' };
    for (const [orderUrl, allowIpnHosts] of [
      ['http://203.0.113.1/', []],
      ['http://203.0.113.2/', []],
      ['http://203.0.113.3/', ['203.0.113.3']],
    ] as const) {
      const aborted = AbortSignal.abort(new Error('allowed'));
      const audited = sim.audit({ ...asked, orderUrl, allowIpnHosts, signal: aborted });
      await expect(audited).rejects.toThrow('allowed');
    }
  });
});
