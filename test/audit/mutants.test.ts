import { describe, it } from 'vitest';
import { startGatewaySim } from '../../src/index.ts';
import { sample } from '../helpers/scope.ts';
import { seedOfTest } from '../helpers/seed.ts';
import { MUTANTS, usePublicKey } from '../merchants/mutants.ts';
import { startShop } from '../merchants/node-shop.ts';

const SECRET = 'sec_sim_kept_by_this_shop_alone_1';

const CHOSEN = sample(MUTANTS, (one) => MUTANTS.find(({ class: kind }) => kind === one.class) === one);

describe('a handler that lacks one check', () => {
  it.concurrent.for(CHOSEN)('$class: $name', async ({ class: kind, case: found, handler }, { expect }) => {
    await using sim = await startGatewaySim({ secretKey: SECRET, seed: seedOfTest() });
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
    const guilty = report.cases.filter(({ verdict }) => verdict === 'fail' || verdict === 'at-risk');
    expect(guilty.map(({ class: convicting }) => convicting)).toContain(kind);
    if (found !== undefined) expect(guilty.map(({ name }) => name)).toContain(found);
  });
});
