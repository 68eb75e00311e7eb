import { describe, expect, it } from 'vitest';
import { audit } from '../../src/audit/audit.ts';
import { startGatewaySim } from '../../src/index.ts';
import { dialect } from '../../src/library/merchant-client.ts';
import { type Handler, startShop } from '../merchants/node-shop.ts';

async function audited(changed: Partial<Handler> = {}, options = {}) {
  const sim = await startGatewaySim();
  const shop = await startShop(sim, changed);
  const report = await audit(sim, await dialect.ipn(), {
    ipnUrl: shop.ipnUrl,
    order: shop.place,
    probe: shop.probe,
    paidWhen: '.status=paid',
    orderAmount: '.total',
    ...options,
  });
  await sim.stop();
  return report;
}

describe('a good handler', () => {
  it('passes everything', async () => {
    const began = performance.now();
    const report = await audited();
    console.log(report.summary, report.orders, report.notices, Math.round(performance.now() - began));
    expect(
      report.cases
        .filter(({ verdict }) => verdict !== 'pass')
        .map(({ name, verdict, why, observed }) => ({ name, verdict, why, observed })),
    ).toEqual([]);
  });
});
