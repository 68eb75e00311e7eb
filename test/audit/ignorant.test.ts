import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditOptions } from '../../src/contract/audit-options.ts';
import { startGatewaySim } from '../../src/index.ts';
import { IS_RELEASE } from '../helpers/scope.ts';
import { seedOfTest } from '../helpers/seed.ts';
import { startShop } from '../merchants/node-shop.ts';

const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

/** A shop that places real orders and ignores all other requests. */
async function prepared(listener: RequestListener) {
  const server = createServer((request, response) => {
    request.on('error', () => {}).resume();
    listener(request, response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
  onTestFinished(() => sim.stop());
  const port = () => (server.address() as AddressInfo).port;
  const url = `http://127.0.0.1:${port()}`;
  const shop = await startShop(sim, {
    initiate: (fields) => ({
      ...fields,
      ipn_url: `${url}/ipn?token=${fields['identifier']}${'0'.repeat(16)}`,
    }),
  });
  onTestFinished(() => shop[Symbol.asyncDispose]());
  const audit = (options: Partial<AuditOptions>) => sim.audit({ ipnUrl: `${url}/ipn`, ...options });
  return { shop, audit };
}

/** Some cases of each kind; all in a release. */
const CHOSEN = IS_RELEASE ? undefined : ['A', 'F', 'L', 'once', 'fields-extra', 'amount-too-low'];

/** Cases about initiate say nothing about the handler. */
const passed = ({ cases }: Awaited<ReturnType<Awaited<ReturnType<typeof prepared>>['audit']>>) =>
  cases.filter(({ verdict, group }) => verdict === 'pass' && group !== 'initiate').map(({ name }) => name);

describe('a handler that ignores everything', () => {
  it.each([
    ['200', (_, response) => response.end('OK')],
    ['400', (_, response) => response.writeHead(400).end()],
  ] as [string, RequestListener][])('passes no case with a probe if it answers %s', async (_, listener) => {
    const { shop, audit } = await prepared(listener);
    const report = await audit({
      order: shop.place,
      probe: shop.probe,
      paidWhen: '.status=paid',
      timeoutMs: 500,
    });
    expect(report.cases[0]?.verdict).toBe('fail');
    expect(passed(report)).toEqual([]);
  });

  it('passes no case without a probe', async () => {
    const { shop, audit } = await prepared((_, response) => response.end('OK'));
    const report = await audit({ order: shop.place, only: CHOSEN });
    expect(passed(report)).toEqual([]);
    expect(report.summary.fail).toBe(0);
    expect(report.summary.unproven).toBeGreaterThan(IS_RELEASE ? 80 : 20);
  });

  it('passes no case with invented orders', async () => {
    const { audit } = await prepared((_, response) => response.end('OK'));
    expect(passed(await audit({ only: CHOSEN }))).toEqual([]);
  });
});
