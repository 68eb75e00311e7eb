import { describe, it } from 'vitest';
import { startGatewaySim } from '../../src/index.ts';
import { MUTANTS, usePublicKey } from '../merchants/mutants.ts';
import { startShop } from '../merchants/node-shop.ts';

const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

describe('a handler that lacks one check', () => {
  it.concurrent.for(MUTANTS)('$class: $name', async ({ class: kind, case: found, handler }, { expect }) => {
    await using sim = await startGatewaySim({ secretKey: SECRET });
    usePublicKey(sim.publicKey);
    await using shop = await startShop(sim, handler);
    const report = await sim.audit({
      ipnUrl: shop.ipnUrl,
      order: shop.place,
      probe: shop.probe,
      paidWhen: '.status=paid',
      orderAmount: '.total',
      only: [kind],
    });
    const guilty = report.cases.filter(({ verdict }) => verdict === 'fail' || verdict === 'exposed');
    expect(guilty.map(({ class: convicting }) => convicting)).toContain(kind);
    if (found !== undefined) expect(guilty.map(({ name }) => name)).toContain(found);
  });
});
